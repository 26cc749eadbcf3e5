from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from experiments.claims.claim import Work
from experiments.config.train_config import ArcsSection
from experiments.interventions import syntax
from experiments.interventions.syntax import (
    ACROSS,
    AGREEMENT,
    ATTACHMENT,
    ATTENTION,
    CONTROL,
    EARLY,
    LATE,
    LOSS,
    NONE,
    PUNISHED,
    REWARDED,
    SyntaxSection,
)

GIVEN: dict[str, Any] = {
    "claim": "syntax",
    "train": {"data": {"name": "grammar"}, "steps": 20, "seeds": (0, 1, 2)},
    "early": 5,
    "late": 11,
    "select": {"name": "grammar", "documents": 6},
    "report": {"name": "grammar", "documents": 6, "seed": 1},
}
SECTION = SyntaxSection.model_validate(GIVEN)


def test_cells_differ_in_sign_and_steps_alone() -> None:
    assert SECTION.cells == {
        NONE: None,
        REWARDED: ArcsSection(weight=1.0),
        PUNISHED: ArcsSection(weight=-1.0),
        EARLY: ArcsSection(weight=-1.0, last_step=5),
        LATE: ArcsSection(weight=-1.0, first_step=11),
        CONTROL: ArcsSection(weight=-1.0, control=True),
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"early": 20}, "steps of a training of 20 steps"),
        ({"late": 21}, "steps of a training of 20 steps"),
        ({"train": {**GIVEN["train"], "arcs": {"weight": 1.0}}}, "train.arcs is set by the cells"),
        ({"weight": 0.0}, "greater than 0"),
    ],
)
def test_a_schedule_that_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        SyntaxSection.model_validate(GIVEN | change)


def planted(agreement: Mapping[str, float], loss: Mapping[str, float], across: float) -> dict[str, Any]:
    """Return courses of three seeds whose ends are those of `agreement` and `loss`, and hardly differ by seed."""
    return {
        cell: {
            seed: {
                "steps": [0, 20],
                AGREEMENT: [0.5, agreement.get(cell, 0.8) + 0.001 * seed * (cell != NONE)],
                LOSS: [7.0, loss.get(cell, 2.0) + 0.001 * seed * (cell != NONE)],
                ACROSS: [0.5, (across if cell == PUNISHED else 0.9) + 0.001 * seed],
                ATTENTION: [0.1, {PUNISHED: 0.01, REWARDED: 0.6}.get(cell, 0.2) + 0.001 * seed * (cell != NONE)],
                ATTACHMENT: [0.2, None],
            }
            for seed in range(3)
        }
        for cell in SECTION.cells
    }


def verdicts(found: Mapping[str, Any], work: Work, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    def train(section: SyntaxSection, work: Work, label: str, *, train: Mapping[str, Any]) -> dict[int, Path]:
        cell = label.replace("-", " ")
        assert train["arcs"] == section.cells[cell]
        return {seed: Path(cell) / str(seed) for seed in section.train.seeds}

    monkeypatch.setattr(syntax, "trainings", train)
    monkeypatch.setattr(syntax, "held_out_arcs", lambda *_: [])
    monkeypatch.setattr(syntax, "follow", lambda _, folder: found[folder.parent.name][int(folder.name)])
    result = syntax.measure(SECTION, work)
    assert {row.condition for row in result.measures[0].rows} == set(SECTION.cells)
    assert [len(measure.rows) for measure in result.measures] == [36, 36, 36, 36, 18]  # what is missing is left out
    return [one.verdict for one in result.statements]


def test_all_hold_where_syntax_is_needed_and_a_short_lack_of_it_helps(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    agreement = {PUNISHED: 0.6, EARLY: 0.9, LATE: 0.7, REWARDED: 0.75}
    found = planted(agreement, {PUNISHED: 2.5, EARLY: 1.9, REWARDED: 2.2}, across=0.5)
    assert verdicts(found, work, monkeypatch) == ["holds"] * 10


def test_none_holds_where_it_is_the_other_way_round(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    agreement = {PUNISHED: 0.9, EARLY: 0.7, LATE: 0.85, REWARDED: 0.9}
    found = planted(agreement, {PUNISHED: 1.5, EARLY: 2.1, REWARDED: 1.8}, across=0.9)
    assert verdicts(found, work, monkeypatch) == ["holds", *["does not hold"] * 9]


@pytest.mark.slow
def test_small_trainings_are_followed_and_taken_up(work: Work) -> None:
    small = {
        "data": {"name": "grammar", "documents": 60, "seed": 3},
        "tokenizer": {"size": 300},
        "encoder": {"layers": 1, "heads": 2, "model": 16, "dropout": 0.0, "attention_dropout": 0.0},
        "length": 48, "rows": 8, "steps": 20, "warmup": 2, "held_out_share": 0.1, "seeds": (0, 1),
        "learning_rate": 0.01, "checkpoints": {"per_doubling": 0, "every": 10, "safety": 0},
    }  # fmt: skip
    section = SyntaxSection.model_validate({**GIVEN, "train": small, "pairs": 30, "batches": 1, "weight": 20.0})
    result = syntax.measure(section, work)
    ends = {
        measure.name: {(row.condition, row.repeat): row.value for row in measure.rows if row.at == 20}
        for measure in result.measures
    }
    on_arcs = ends["attention on arcs"]
    assert all(on_arcs[PUNISHED, seed] < on_arcs[NONE, seed] < on_arcs[REWARDED, seed] for seed in (0, 1))
    assert all(0 <= value <= 1 for name in ends if name != "evaluation loss" for value in ends[name].values())
    again = syntax.measure(section, replace(work, resume=True))
    assert again.recorded() == result.recorded()
