from pathlib import Path

import pytest
import torch
from torch import Tensor

from experiments.config.train_config import TextsSection
from experiments.interventions.induction_measures import (
    DUPLICATE,
    INDUCTION,
    PREVIOUS,
    RepeatedPieces,
    early_and_late,
    score_batches,
    sink_share,
)
from mha import Attend, Encoder, EncoderConfig, intervene, record
from mha.encoder.masked_lm import MaskedBatch
from mha.training.vocabulary import SPECIAL, Vocabulary, VocabularySettings, train_tokenizer

LENGTH, WHOLE = 16, 8


def drawn(std: float, **shape: int) -> Encoder:
    """Return a decoder whose weights are drawn with that spread."""
    torch.manual_seed(0)
    encoder = Encoder(EncoderConfig(**{"heads": 2, "causal": True, **shape}), lm_head=True).eval()
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter, std=std)
    return encoder


@pytest.fixture
def decoder() -> Encoder:
    return drawn(0.5, vocab=20, layers=1, model=8, feed_forward=8, positions=LENGTH)


def batch(blocks: list[int]) -> MaskedBatch:
    pieces = torch.randint(5, 20, (1, LENGTH), generator=torch.Generator().manual_seed(1))
    places = torch.tensor([[blocks[:at].count(one) for at, one in enumerate(blocks)]])
    masked = torch.tensor([at for at in range(LENGTH - 1) if blocks[at] == blocks[at + 1]])
    return MaskedBatch(pieces, places, torch.tensor([blocks]), masked, pieces[0, masked + 1])


def late_minus_early(logits: Tensor, pieces: Tensor) -> float:
    log = logits.double().log_softmax(-1)
    loss = [-float(log[at, pieces[at + 1]]) for at in range(LENGTH - 1)]
    return sum(loss[12:15]) / 3 - sum(loss[2:4]) / 2


@torch.inference_mode()
def test_the_score_is_the_loss_late_minus_the_loss_early(decoder: Encoder) -> None:
    one = batch([0] * LENGTH)
    assert decoder.lm_head is not None
    expected = late_minus_early(decoder.lm_head(decoder(one.pieces))[0], one.pieces[0])
    assert early_and_late(decoder, [one]).score == pytest.approx(expected, abs=1e-5)


@torch.inference_mode()
def test_without_a_head_its_output_is_its_mean(decoder: Encoder) -> None:
    one = batch([0] * LENGTH)
    layer = decoder.layers[0]
    with record(decoder, ["head_output"]) as seen:
        decoder(one.pieces)
    heads = seen["head_output"][0].clone()  # [batch, head, query, head_dim]
    heads[:, 1] = heads[:, 1].mean((0, 1))
    mixed = layer.attention.output(heads.transpose(1, 2).flatten(2))
    x = layer.attention_norm(decoder.embed(one.pieces, decoder.packing(one.pieces, None), None) + mixed[0])
    x = layer.feed_forward_norm(x + layer.feed_forward(x))
    assert decoder.lm_head is not None
    expected = late_minus_early(decoder.lm_head(x), one.pieces[0])
    assert early_and_late(decoder, [one], [(0, 1)]).score == pytest.approx(expected, abs=1e-4)
    assert abs(early_and_late(decoder, [one]).score - expected) > 1e-3


def test_no_special_piece_is_predicted_and_short_texts_are_left_out(tmp_path: Path) -> None:
    text = " ".join(f"{first}{second}" for first in "bdfg" for second in ("ane", "oli", "ura"))
    (tmp_path / "a.txt").write_text(f"{text} {text} {text}\n{text[:12]}\n", encoding="utf-8")
    tokenizer = train_tokenizer([text] * 5, VocabularySettings(60))
    batches = score_batches(TextsSection(path=(tmp_path / "a.txt",)), Vocabulary(tokenizer), 16)
    special = [tokenizer.token_to_id(name) for name in SPECIAL]
    rows = torch.cat([part.blocks for part in batches])
    assert len(rows) >= 2
    assert ((rows == 0).sum(1) >= 14).all()
    for part in batches:
        assert not torch.isin(part.gold, torch.tensor(special)).any()
        assert torch.equal(part.gold, part.pieces.flatten()[part.masked + 1])
        first = part.masked[part.masked % 16 == 0]
        assert len(first) == len(part.pieces)  # what follows [CLS] is predicted


def rows(*blocks: list[int]) -> MaskedBatch:
    pieces = torch.randint(5, 20, (len(blocks), WHOLE), generator=torch.Generator().manual_seed(1))
    nothing = torch.zeros(0, dtype=torch.int64)
    return MaskedBatch(pieces, pieces, torch.tensor(blocks), nothing, nothing)


def to_first(*weights: float) -> Tensor:
    pattern = torch.zeros(len(weights), WHOLE, WHOLE)
    for text, weight in enumerate(weights):
        pattern[text, :, 0], pattern[text, :, 1] = weight, 1 - weight
    return pattern


def test_a_head_has_a_sink_in_the_texts_in_which_it_attends_to_the_first_token() -> None:
    whole = rows([0] * WHOLE, [0] * WHOLE)
    two_layers = drawn(0.3, vocab=20, layers=2, model=8, feed_forward=8, positions=WHOLE)
    planted = [
        Attend(0, {0: to_first(0.31, 0.29), 1: to_first(0.9, 0.9)}),
        Attend(1, {0: to_first(0.0, 0.0), 1: to_first(0.1, 0.2)}),
    ]
    with intervene(two_layers, *planted):
        assert sink_share(two_layers, [whole]) == pytest.approx(3 / 8)


PLACES = 48
WORDS = [first + second + third for first in "bdfgklm" for second in "aeiou" for third in "nrst"]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary(train_tokenizer([" ".join(WORDS)] * 4, VocabularySettings(200)))


@pytest.fixture(scope="module")
def texts(vocabulary: Vocabulary) -> RepeatedPieces:
    return RepeatedPieces.draw(vocabulary, 40, PLACES, 3)


@pytest.fixture
def two_layer_decoder(vocabulary: Vocabulary) -> Encoder:
    return drawn(0.3, vocab=vocabulary.size, layers=2, model=16, feed_forward=16, positions=PLACES)


def test_every_query_stands_twice_and_what_followed_it_follows_again(
    texts: RepeatedPieces, vocabulary: Vocabulary
) -> None:
    at = (texts.row, texts.second)
    assert torch.equal(texts.ids[at], texts.ids[texts.row, texts.first])
    after = texts.gold[INDUCTION]
    assert torch.equal(texts.ids[texts.row, after], texts.ids[texts.row, texts.second + 1])
    assert torch.equal(texts.gold[PREVIOUS], texts.second - 1)
    assert torch.equal(texts.gold[DUPLICATE], texts.first)
    assert (after < texts.second).all()
    assert not torch.isin(texts.ids[:, 1:], torch.tensor([*vocabulary.special.values()])).any()
    counts = [torch.unique(row, return_counts=True)[1] for row in texts.ids]
    asked = torch.bincount(texts.row).tolist()
    assert [int((count == 2).sum()) for count in counts] == [n + 1 for n in asked]
    assert all(int(count.max()) == 2 for count in counts)


def planted(texts: RepeatedPieces, role: str) -> Tensor:
    pattern = torch.zeros(len(texts.ids), PLACES, PLACES)
    pattern[texts.row, texts.second, texts.gold[role]] = 0.75
    pattern[texts.row, texts.second, 0] = 0.25
    return pattern


@pytest.mark.parametrize("role", [INDUCTION, PREVIOUS, DUPLICATE])
def test_a_planted_head_is_found_and_has_no_other_role(
    role: str, texts: RepeatedPieces, two_layer_decoder: Encoder
) -> None:
    with intervene(two_layer_decoder, Attend(1, {0: planted(texts, role)})):
        found = texts.patterns(two_layer_decoder)
    assert {name: float(shares[1, 0]) for name, shares in found.strongest.items()} == {
        name: float(name == role) for name in found.strongest
    }
    assert found.attention[role][1, 0] == pytest.approx(0.75)
    assert found.strongest[role][1, 1] < 0.5


def test_copying_is_the_share_of_second_times_whose_next_piece_is_the_likeliest(
    texts: RepeatedPieces, two_layer_decoder: Encoder
) -> None:
    assert two_layer_decoder.lm_head is not None
    with torch.inference_mode():
        guesses = two_layer_decoder.lm_head(two_layer_decoder(texts.ids)).argmax(-1)
    rows = zip(texts.row.tolist(), texts.second.tolist(), strict=True)
    right = [bool(guesses[row, place] == texts.ids[row, place + 1]) for row, place in rows]
    assert texts.copied(two_layer_decoder) == pytest.approx(sum(right) / len(right))
