"""Records of claims and of the sandbox: a wrong row is refused where it is written and where it is read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.claims.study import _write as write_claim
from experiments.sandbox.study import _write as write_sandbox
from experiments.statements.claim import claim_measure
from experiments.statements.estimates import mean_of
from experiments.statements.rule import Rule
from reports.statements.claim_record import ClaimRecord, Row, read_claim
from reports.statements.sandbox_record import read_record
from reports.statements.statement import judged
from tests.reports.sandboxes import small_record

Change = Callable[[dict[str, Any]], object]


def claim() -> dict[str, Any]:
    rows = (Row("one head", None, 0, 1.0), Row("one head", None, 1, float("nan")))
    statement = judged("it is so", "a number", mean_of([0.5, 0.7]), Rule(above=0.1, unit="%"))
    return ClaimRecord([claim_measure("accuracy", "%", rows)], [statement]).recorded()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda one: one["statements"][0].update(low=2.0), "statements: `low` lies above `high`"),
        (lambda one: one["statements"][0].pop("rule"), "statements: rule missing in a row"),
        (lambda one: one["measures"][0]["cells"][0].update(n=-1), "measures.cells: `n` is negative"),
        (lambda one: one["measures"][0]["rows"][0].update(repeat=1), "measures.rows: two rows have the same measure"),
    ],
)
def test_a_claim_with_a_wrong_row_is_refused(change: Change, complaint: str, tmp_path: Path) -> None:
    record, path = claim(), tmp_path / "claim.json"
    write_claim(record, path)
    assert read_claim(path).measures[0].name == "accuracy"
    change(record)
    with pytest.raises(ValueError, match=r"claim\.json: ") as raised:
        write_claim(record, path)
    assert str(raised.value).startswith(f"{path}: {complaint}")
    path.write_text(json.dumps(record), "utf-8")
    with pytest.raises(ValueError, match=r"claim\.json: not the record of a claim") as raised:
        read_claim(path)
    assert complaint in str(raised.value)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda one: one["power"][0].update(margin=15), "power: `margin` lies outside [-1, 1]"),
        (lambda one: one["power"][0]["coverage"].update(n={"rate": 1, "low": 1, "high": 1}), "power.coverage: `quanti"),
        (
            lambda one: one["false"][0]["rates"]["any false find in a run, grade 1"].update(rate=-1),
            "false.rates: `share` lies",
        ),
        (lambda one: one["weights"].append(one["weights"][0]), "weights: two rows have the same place"),
        (lambda one: one["whole"][0]["simulated"]["accuracy"].pop("sd"), "whole: simulated_accuracy_sd missing in a"),
    ],
)
def test_a_sandbox_with_a_wrong_row_is_refused(change: Change, complaint: str, tmp_path: Path) -> None:
    record, path = small_record(), tmp_path / "sandbox" / "sandbox.json"
    path.parent.mkdir()
    path.write_text(json.dumps(record), "utf-8")
    assert json.dumps(read_record(path.parent, dict)) == json.dumps(record)  # NaN is not equal to itself
    change(record)
    path.write_text(json.dumps(record), "utf-8")
    for refuse in (
        lambda: read_record(path.parent, dict),
        lambda: write_sandbox(record, path.parent, lambda *step: None),
    ):
        with pytest.raises(ValueError, match=r"sandbox\.json: ") as raised:
            refuse()
        assert complaint in str(raised.value)
