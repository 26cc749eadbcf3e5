from typing import Any

import pytest
import torch
from pydantic import ValidationError

from experiments.claims import averaging
from experiments.claims.averaging import EQUAL, ONE, TWO, AveragingSection
from experiments.claims.claim import Work
from experiments.claims.two_keys import (
    FIRST,
    PLAIN,
    SECOND,
    TwoKeys,
    ceiling,
    draw,
    equal_weights,
    every_pair,
    random_table,
)

SECTION = AveragingSection(
    claim="averaging", symbols=2, places=3, model=8, feed_forward=32, steps=400, batch=32, learning_rate=0.01, each=4,
    seeds=(0, 1),
)  # fmt: skip


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_ceiling_is_the_best_guess_without_the_order() -> None:
    table = random_table(6, generator(3))
    right = 0
    for one in range(6):
        for other in range(one, 6):
            answers = [int(table[one, other]), int(table[other, one])] if one != other else [int(table[one, one])]
            right += max(answers.count(answer) for answer in answers)
    assert ceiling(table) == pytest.approx(right / 36)


def test_examples_have_one_first_and_one_second_key_and_the_answer_of_the_table() -> None:
    table = random_table(5, generator())
    for symbols, marks, answers in (draw(table, 4, 50, generator(1)), every_pair(table, 4, 2, generator(1))):
        assert ((marks == FIRST).sum(1) == 1).all()
        assert ((marks == SECOND).sum(1) == 1).all()
        assert ((marks == PLAIN).sum(1) == 2).all()
        assert torch.equal(answers, table[symbols[marks == FIRST], symbols[marks == SECOND]])
        assert len(marks.unique(dim=0)) > 6  # keys are not always at the same places
    pairs = torch.stack([symbols[marks == FIRST], symbols[marks == SECOND]], 1)
    assert pairs.unique(dim=0, return_counts=True)[1].tolist() == [2] * 25


def test_a_head_with_equal_weights_cannot_tell_the_order() -> None:
    torch.manual_seed(0)
    model = TwoKeys(4, 8, 1, 16)
    symbols, marks = torch.tensor([[1, 3, 0], [3, 1, 0]]), torch.tensor([[FIRST, SECOND, PLAIN]] * 2)
    with equal_weights(model, marks):
        held = model(symbols, marks)
    torch.testing.assert_close(held[0], held[1])
    with torch.no_grad():
        model.attention.project.weight[:16] *= 100
    free = model(symbols, marks)
    assert (free[0] - free[1]).abs().max() > 1e-3


def test_models_with_one_head_and_with_two_are_equally_large() -> None:
    sizes = {heads: sum(p.numel() for p in TwoKeys(4, 8, heads, 16).parameters()) for heads in (1, 2)}
    assert sizes[1] == sizes[2]


@pytest.mark.slow
def test_trained_models_find_the_table_or_stay_at_the_ceiling() -> None:
    table = torch.tensor([[0, 1], [0, 1]])  # the second symbol: an equal average knows it where both are the same
    scores = {}
    for name, heads in ((ONE, 1), (TWO, 2), (EQUAL, 1)):
        model = averaging.train(SECTION, table, heads, 0, held=name == EQUAL)
        scores[name], weights = averaging.examine(model, every_pair(table, 3, 8, generator()), held=name == EQUAL)
        assert len(weights) == heads
    assert scores == {ONE: 1.0, TWO: 1.0, EQUAL: 0.75}
    assert weights == [[0.5, 0.5]]
    assert ceiling(table) == 0.75


def planted(one: float, two: float, weights: tuple[float, float]) -> Any:
    def examine(section: AveragingSection, seed: int) -> dict[str, Any]:
        shift = 0.01 * seed
        accuracy = {ONE: one + shift, TWO: two + 2 * shift, EQUAL: 0.6}
        return {"ceiling": 0.6, "accuracy": accuracy, "weights": {ONE: [list(weights)], TWO: [[0.1, 0.9], [0.8, 0.1]]}}

    return examine


@pytest.mark.parametrize(
    ("one", "two", "weights", "verdicts", "uneven"),
    [
        (0.5, 0.99, (0.5, 0.5), ["holds", "holds"], "In 0 of 4 seeds"),
        (0.9, 0.8, (0.6, 0.3), ["does not hold", "does not hold"], "In 4 of 4 seeds"),
    ],
)
def test_the_verdicts_follow_the_accuracies(
    one: float, two: float, weights: tuple[float, float], verdicts: list[str], uneven: str, work: Work,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(averaging, "examine_seed", planted(one, two, weights))
    section = SECTION.model_copy(update={"seeds": (0, 1, 2, 3)})
    found = averaging.measure(section, work)
    assert [statement.verdict for statement in found.statements] == verdicts
    assert found.statements[0].estimate.value == pytest.approx(one + 0.015 - 0.6)
    assert found.noticed[0].startswith(uneven)
    cells = {cell["condition"]: cell["value"] for cell in found.measures[1].cells()}
    assert (cells["two heads, one: first key"], cells["two heads, the other: second key"]) == (0.8, 0.9)


def test_a_size_that_two_heads_do_not_divide_is_refused() -> None:
    with pytest.raises(ValidationError, match="expected an even size"):
        AveragingSection(claim="averaging", model=7)
