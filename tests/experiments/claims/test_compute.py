from collections.abc import Callable

import pytest
import torch

from experiments.claims import compute
from experiments.claims.claim import Work
from mha import MultiHeadAttention

TINY = {"claim": "compute", "model": 16, "heads": 4, "lengths": (4, 8), "tokens": 16, "rounds": 4, "more_heads": (2,)}


@pytest.mark.parametrize("heads", [1, 4])
def test_products_are_counted_as_by_hand(heads: int) -> None:
    batch, length, model = 3, 5, 16
    tokens = batch * length
    projections = 2 * tokens * model * (3 * model + model)
    attention = 2 * 2 * batch * length * length * model  # scores and mixing: heads x (model / heads) = model
    forward = projections + attention
    found = compute.products(MultiHeadAttention(model, heads), torch.randn(batch, length, model))
    assert found == 3 * forward  # the gradients of both factors of each product


def times(ratio: float) -> Callable[[str, int], float]:
    return lambda name, number: (ratio if name.startswith("4 ") else 1.0) * (1 + 0.01 * (number % 2))


@pytest.mark.parametrize(("ratio", "verdict"), [(1.1, "holds"), (1.3, "does not hold"), (0.7, "does not hold")])
def test_similar_is_what_the_config_says(
    ratio: float, verdict: str, work: Work, set_times: Callable[..., None]
) -> None:
    set_times(compute, times(ratio))
    found = compute.measure(compute.ComputeSection(**TINY), work)
    same, *similar = found.statements
    assert (same.verdict, same.estimate.value) == ("holds", 1.0)
    assert [one.verdict for one in similar] == [verdict] * 2
    assert similar[0].estimate.value == pytest.approx(ratio)
    assert [one.text[-14:] for one in similar] == ["sequences of 4", "sequences of 8"]


def test_entries_of_the_softmax_grow_with_heads_and_products_do_not(work: Work, set_times: Callable[..., None]) -> None:
    set_times(compute, times(1.0))
    found = compute.measure(compute.ComputeSection(**TINY), work)
    products, entries = (
        {(cell["condition"], cell["at"]): cell["value"] for cell in one.cells()} for one in found.measures[:2]
    )
    assert products["1 head", 8] == products["2 heads", 8] == products["4 heads", 8] > products["1 head", 4]
    assert [entries[name, 8] for name in ("1 head", "2 heads", "4 heads")] == [8, 16, 32]
    assert found.noticed[0].startswith("The softmax has 4 times as many entries with 4 heads")
    ratios = found.measures[-1].cells()
    assert {cell["condition"] for cell in ratios} == {"2 heads / 1 head", "4 heads / 1 head"}
