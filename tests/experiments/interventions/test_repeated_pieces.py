import pytest
import torch
from torch import Tensor

from experiments.interventions.repeated_pieces import DUPLICATE, INDUCTION, PREVIOUS, RepeatedPieces
from mha import Attend, Encoder, EncoderConfig, intervene
from mha.training.vocabulary import Vocabulary, VocabularySettings, train_tokenizer

LENGTH = 48
WORDS = [first + second + third for first in "bdfgklm" for second in "aeiou" for third in "nrst"]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary(train_tokenizer([" ".join(WORDS)] * 4, VocabularySettings(200)))


@pytest.fixture(scope="module")
def texts(vocabulary: Vocabulary) -> RepeatedPieces:
    return RepeatedPieces.draw(vocabulary, 40, LENGTH, 3)


@pytest.fixture
def decoder(vocabulary: Vocabulary) -> Encoder:
    shape = EncoderConfig(
        vocab=vocabulary.size, layers=2, heads=2, model=16, feed_forward=16, positions=LENGTH, causal=True
    )
    torch.manual_seed(0)
    encoder = Encoder(shape, lm_head=True).eval()
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return encoder


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
    pattern = torch.zeros(len(texts.ids), LENGTH, LENGTH)
    pattern[texts.row, texts.second, texts.gold[role]] = 0.75
    pattern[texts.row, texts.second, 0] = 0.25
    return pattern


@pytest.mark.parametrize("role", [INDUCTION, PREVIOUS, DUPLICATE])
def test_a_planted_head_is_found_and_has_no_other_role(role: str, texts: RepeatedPieces, decoder: Encoder) -> None:
    with intervene(decoder, Attend(1, {0: planted(texts, role)})):
        found = texts.patterns(decoder)
    assert {name: float(shares[1, 0]) for name, shares in found.strongest.items()} == {
        name: float(name == role) for name in found.strongest
    }
    assert found.attention[role][1, 0] == pytest.approx(0.75)
    assert found.strongest[role][1, 1] < 0.5


def test_copying_is_the_share_of_second_times_whose_next_piece_is_the_likeliest(
    texts: RepeatedPieces, decoder: Encoder
) -> None:
    assert decoder.lm_head is not None
    with torch.inference_mode():
        guesses = decoder.lm_head(decoder(texts.ids)).argmax(-1)
    rows = zip(texts.row.tolist(), texts.second.tolist(), strict=True)
    right = [bool(guesses[row, place] == texts.ids[row, place + 1]) for row, place in rows]
    assert texts.copied(decoder) == pytest.approx(sum(right) / len(right))
