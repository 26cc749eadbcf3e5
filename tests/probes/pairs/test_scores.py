from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import BertForMaskedLM

from mha import Encoder, EncoderConfig, MaskedLM, export_encoder, load_model
from mha.training.vocabulary import save_tokenizer
from probes.minimal_pairs import Kind, LeftOut, MinimalPair
from probes.pairs.scores import Decision, Decisions, decide
from tests.small_words import randomise_weights, word_pieces

PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = ("the", "a", "old", "ship", "ships", "sink", "sinks", "near", "port", "ports", "##ed", "un", "##sink", "##able")
IDS = {piece: i for i, piece in enumerate((*PIECES, *WORDS))}
LONGEST = 12


@pytest.fixture
def built(tmp_path: Path) -> Callable[[Callable[[Encoder], None]], MaskedLM]:
    """Return the function that makes a masked LM of 2 layers, writes it to `tmp_path` and loads it from there."""

    def build(fill: Callable[[Encoder], None]) -> MaskedLM:
        shape = EncoderConfig(vocab=len(IDS), layers=2, heads=2, model=16, feed_forward=16, positions=LONGEST)
        encoder = Encoder(shape, lm_head=True).eval()
        with torch.no_grad():
            fill(encoder)
        export_encoder(encoder, tmp_path)
        save_tokenizer(word_pieces(IDS), tmp_path, 512)
        return MaskedLM.of(load_model(str(tmp_path)))

    return build


def spread(encoder: Encoder) -> None:
    """Weights so large that every word changes what is predicted elsewhere."""
    randomise_weights(encoder, std=0.4)


KIND = Kind("p", attractors=2)


def pair(good: str, bad: str, source: str = "s") -> MinimalPair:
    return MinimalPair(source, KIND, tuple(good.split()), tuple(bad.split()))


ONE_PIECE = pair("the ship near the ports sinks", "the ship near the ports sink")
INSERTED = pair("the ship sinks", "the ship the sinks")
PARTED = pair("an unsinkable ship".replace("an ", "a "), "a ship unsinkable")


TURNED = MinimalPair("s", KIND, ("ships", "near", "old", "port"), ("port", "near", "old", "ships"), shared=1)


def only(decisions: Decisions) -> Decision:
    assert not decisions.left_out
    (made,) = decisions.made
    return made


def oracle(model: BertForMaskedLM, ids: list[int]) -> list[torch.Tensor]:
    """Log-probabilities at each place but the ends while that piece is masked, one text at a time."""
    rows = []
    for place in range(1, len(ids) - 1):
        masked = torch.tensor([[*ids[:place], IDS["[MASK]"], *ids[place + 1 :]]])
        with torch.no_grad():
            rows.append(model(input_ids=masked).logits[0, place].log_softmax(-1))
    return rows


@pytest.mark.parametrize(("batch_pieces", "chunk"), [(1, 256), (30, 2), (4096, 256)])
def test_both_methods_agree_with_an_unbatched_loop_over_berts_masked_lm(
    built: Callable[..., MaskedLM], tmp_path: Path, batch_pieces: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probes.pairs.scores.CHUNK", chunk)
    lm = built(spread)
    bert = BertForMaskedLM.from_pretrained(tmp_path).eval()
    made = decide(lm, [ONE_PIECE, INSERTED, PARTED], batch_pieces=batch_pieces).made
    assert [one.method for one in made] == ["masked", "pll", "pll"]
    ids = [lm.model.tokenizer.encode(" ".join(ONE_PIECE.good)).ids, *[[]] * 2]
    verb = oracle(bert, ids[0])[-1]
    assert made[0].good == pytest.approx(verb[IDS["sinks"]].item(), abs=1e-5)
    assert made[0].bad == pytest.approx(verb[IDS["sink"]].item(), abs=1e-5)
    for found, asked in zip(made[1:], (INSERTED, PARTED), strict=True):
        for said, words in ((found.good, asked.good), (found.bad, asked.bad)):
            pieces = lm.model.tokenizer.encode(" ".join(words)).ids
            each = [row[piece].item() for row, piece in zip(oracle(bert, pieces), pieces[1:-1], strict=True)]
            assert said == pytest.approx(sum(each), abs=1e-5)
    assert len(lm.model.tokenizer.encode("unsinkable").ids) == 5, "a word of three pieces is among them"


def test_a_method_that_is_asked_for_is_taken_and_what_it_cannot_do_is_left_out(built: Callable[..., MaskedLM]) -> None:
    lm = built(spread)
    assert [one.method for one in decide(lm, [ONE_PIECE, INSERTED], method="pll").made] == ["pll", "pll"]
    masked = decide(lm, [ONE_PIECE, INSERTED], method="masked")
    assert [one.method for one in masked.made] == ["masked"]
    assert [one.reason for one in masked.left_out] == ["not different in exactly one piece"]
    with pytest.raises(ValueError, match="unknown method 'mask'; expected one of auto, masked, pll"):
        decide(lm, [], method="mask")


@pytest.mark.parametrize(
    ("good", "bad", "reason"),
    [
        ("the ship " * 6, "the ships " + "the ship " * 5, f"longer than the model ({LONGEST} pieces)"),
        ("the ship whistles", "the ship sinks", "told apart by a word that the vocabulary lacks"),
        ("the ship", "the ship whistles", "told apart by a word that the vocabulary lacks"),
        ("the ship whistles", "the ship whistle", "the same pieces in both sentences"),
        ("The ship sinks", "the ship sinks", "the same pieces in both sentences"),
    ],
)
def test_what_a_model_cannot_be_asked_is_left_out_with_the_reason(
    good: str, bad: str, reason: str, built: Callable[..., MaskedLM]
) -> None:
    found = decide(built(spread), [pair(good, bad, "here")])
    assert not found.made
    assert found.left_out == [LeftOut("here", KIND, reason)]


@pytest.mark.parametrize("method", ["auto", "masked", "pll"])
def test_a_shared_word_that_is_asked_for_is_masked_and_compared_between_the_sentences(
    built: Callable[..., MaskedLM], tmp_path: Path, method: str
) -> None:
    lm = built(spread)
    bert = BertForMaskedLM.from_pretrained(tmp_path).eval()
    found = only(decide(lm, [TURNED], method=method))
    assert found.method == "cloze"
    for said, words in ((found.good, TURNED.good), (found.bad, TURNED.bad)):
        pieces = lm.model.tokenizer.encode(" ".join(words)).ids
        assert said == pytest.approx(oracle(bert, pieces)[1][IDS["near"]].item(), abs=1e-5)
    assert found.good != found.bad


def test_a_pair_is_written_as_before_since_samples_are_drawn_by_that() -> None:
    """`[ablation] items` and the like take pairs by a hash of their `repr`: a new field must not change whose it is."""
    pair = MinimalPair("s", Kind("agreement", "simple", 1), ("it", "is"), ("it", "are"))
    written = "MinimalPair(source='s', kind=Kind(paradigm='agreement', condition='simple', attractors=1, "
    assert repr(pair).startswith(written)
    assert repr(pair).endswith(" good=('it', 'is'), bad=('it', 'are'))")
    assert repr(replace(pair, shared=0)) == repr(pair)
