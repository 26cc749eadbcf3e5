import pytest
import torch

from mha import align, collate
from mha.causal.interventions import Ablate, intervene
from mha.models.masked_prediction import MaskedLM
from mha.planted.agreement import agreeing_model

MARKS = {"ship": -1.0, "ships": 1.0, "the": 0.0, "near": 0.0, "port": 0.0}
TEXTS = [["the", "ships", "near", "the", "port", "[MASK]"], ["near", "the", "ship", "the", "port", "[MASK]"]]


def preferred(lm: MaskedLM, *off: tuple[int, int]) -> list[float]:
    """Return log p(sink) - log p(sinks) at the end of each text, with heads switched off."""
    batch = collate(align(lm.model.tokenizer, TEXTS))
    place = torch.tensor([6, 6])
    with intervene(lm.module, *(Ablate(*head) for head in off)):
        found = lm.log_probabilities(batch.ids, batch.mask, place)
    one, other = (lm.model.tokenizer.token_to_id(form) for form in ("sink", "sinks"))
    return (found[:, one] - found[:, other]).tolist()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_answer_is_that_of_the_head_that_is_read_and_of_no_other(norm: str) -> None:
    lm = agreeing_model(MARKS, ("sink", "sinks"), [(0, 1), (1, 0)], (1, 0), norm=norm)
    plural, singular = preferred(lm)
    assert plural > 1
    assert singular < -1
    assert max(map(abs, preferred(lm, (1, 0)))) < 1e-5
    for other in ((0, 0), (0, 1), (1, 1)):
        for before, after in zip((plural, singular), preferred(lm, other), strict=True):
            assert after == pytest.approx(before, rel=0.15)


def test_where_no_head_is_read_both_forms_are_always_equal() -> None:
    lm = agreeing_model(MARKS, ("sink", "sinks"), [(1, 0)], None)
    assert preferred(lm) == [0.0, 0.0]
