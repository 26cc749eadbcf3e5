"""What an answer rests on, held against the model asked word by word, and against gradients of its own embedding."""

import numpy as np
import pytest
import torch

from mha import MaskedLM
from mha.pieces import CLS, SEP, Pieces, align
from probes.causal import attribution
from probes.causal.attribution import blank_out, input_gradients, number_prompts
from probes.causal.behaviours import Prompt

FORMS = ("is", "are")
QUESTION = ("are", "the", "harbours", "saw", "she")
"The second word behind the answer is three pieces."


@pytest.fixture
def asked(lm: MaskedLM) -> Prompt:
    (found,) = number_prompts(lm, [QUESTION], FORMS)
    return found


def pieces_of(lm: MaskedLM, text: str) -> list[int]:
    return lm.model.tokenizer.encode(text).ids


def log_odds(lm: MaskedLM, ids: list[int]) -> float:
    """The first word masked; "are" is right."""
    found = lm.log_probabilities(torch.tensor([ids]), None, torch.tensor([1])).double()[0]
    return float(found[lm.model.tokenizer.token_to_id("are")] - found[lm.model.tokenizer.token_to_id("is")])


def test_the_answer_is_masked_and_asked_against_the_other(lm: MaskedLM, asked: Prompt) -> None:
    is_, are = (lm.model.tokenizer.token_to_id(form) for form in FORMS)
    assert asked.text.ids.tolist() == [pieces_of(lm, "x")[0], lm.mask, *pieces_of(lm, " ".join(QUESTION))[2:]]
    assert (asked.places, asked.wanted, asked.weights) == ((1, 1), (are, is_), (1.0, -1.0))
    (other,) = number_prompts(lm, [("is", "old")], FORMS)
    assert other.wanted == (is_, are)


def test_what_is_no_question_is_refused(lm: MaskedLM) -> None:
    with pytest.raises(ValueError, match=r"'the dog' does not begin with 'is' or 'are'"):
        list(number_prompts(lm, [("is", "old"), ("the", "dog")], FORMS))
    with pytest.raises(ValueError, match="makes 3 pieces of 'unsinkable', expected one"):
        list(number_prompts(lm, [("is", "old")], ("is", "unsinkable")))


def test_a_word_counts_by_what_changes_when_all_its_pieces_are_unknown(lm: MaskedLM, asked: Prompt) -> None:
    whole = asked.text.ids.tolist()
    found = blank_out(lm, asked)
    assert np.isnan(found[0])
    places = {1: [2], 2: [3, 4, 5], 3: [6], 4: [7]}
    assert len(whole) == 9
    for word, blanked in places.items():
        ids = [lm.unknown if place in blanked else piece for place, piece in enumerate(whole)]
        assert found[word] == pytest.approx(abs(log_odds(lm, ids) - log_odds(lm, whole)), abs=1e-5)
    assert np.ptp(found[1:]) > 1e-3


def test_a_gradient_is_that_of_the_embedding_of_the_word(lm: MaskedLM, asked: Prompt) -> None:
    """Of pieces that come once and are no answer, the rows of the (tied) embedding have no other gradient."""
    weight = lm.module.pieces.weight
    logits = lm.read(torch.from_numpy(asked.text.ids.astype(np.int64))[None], None, torch.tensor([1]))[0]
    right, wrong = asked.wanted
    slopes = torch.autograd.grad(logits[right] - logits[wrong], weight)[0].norm(dim=1).double()
    found = input_gradients(lm, asked)
    assert np.isnan(found[0])
    text = align(lm.model.tokenizer, [QUESTION])[0]
    for word in range(1, 5):
        assert found[word] == pytest.approx(float(slopes[text.ids[text.word == word]].sum()), rel=1e-4)
    assert np.ptp(found[1:]) > 1e-3


def planted(
    monkeypatch: pytest.MonkeyPatch, lm: MaskedLM, rows: list[list[float]], words: list[float]
) -> dict[int, float]:
    """Return rho by layer where the answer's rows of maps are `rows`, and words change the answer by `words`."""
    text = Pieces(np.arange(6, dtype=np.int32), np.array([CLS, 0, 1, 2, 3, SEP], np.int32), 4)
    maps = np.zeros((len(rows), 4, 6))
    maps[:, 1:] = 9.0
    maps[:, 0] = [[0.7, *row, 0.9, 0.8] for row in rows]
    monkeypatch.setattr(attribution, "flow_maps", lambda model, batch: {"flow": maps})
    for name in ("blank_out", "input_gradients"):
        monkeypatch.setattr(attribution, name, lambda lm, asked: np.array([np.nan, *words]))
    found = attribution.correlations(lm, Prompt(text, 0, (1, 1), (3, 4), (1.0, -1.0)))
    assert {*found.against} == {*attribution.AGAINST}
    first = found[found.against == attribution.AGAINST[0]]
    return dict(zip(first.layer, first.rho, strict=True))


def test_rho_is_over_the_words_but_the_answer(monkeypatch: pytest.MonkeyPatch, lm: MaskedLM) -> None:
    rows = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.1, 0.3], [0.1, 0.1, 0.3], [0.2, 0.2, 0.2]]
    found = planted(monkeypatch, lm, rows, [1.0, 2.0, 5.0])
    # ranks 1 2 3 against 1 2 3, 3 2 1, 2 1 3 and 1.5 1.5 3; nothing can be said of a row without differences
    assert found == pytest.approx({0: 1.0, 1: -1.0, 2: 0.5, 3: np.sqrt(0.75), 4: np.nan}, nan_ok=True)
