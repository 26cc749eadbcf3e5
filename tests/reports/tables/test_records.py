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


RECORDS = {
    "claim": (claim, write_claim, lambda path: read_claim(path).recorded()),
    "sandbox": (
        small_record,
        lambda record, path: write_sandbox(record, path.parent, lambda *step: None),
        lambda path: read_record(path.parent, lambda study: study.record),
    ),
}
"What makes, writes and reads one."


@pytest.mark.parametrize(
    ("kind", "change", "complaint"),
    [
        ("claim", lambda one: one["statements"][0].update(low=2.0), "statements: `low` lies above `high`"),
        ("claim", lambda one: one["measures"][0]["cells"][0].update(n=-1), "measures.cells: `n` is negative"),
        ("claim", lambda one: one["measures"][0]["rows"][0].update(repeat=1), "measures.rows: two rows have the same"),
        ("sandbox", lambda one: one["power"][0].update(margin=15), "power: `margin` lies outside [-1, 1]"),
        (
            "sandbox",
            lambda one: one["power"][0]["coverage"].update(n={"rate": 1, "low": 1, "high": 1}),
            "power.coverage: `quanti",
        ),
        (
            "sandbox",
            lambda one: one["false"][0]["rates"]["any false find in a run, grade 1"].update(rate=-1),
            "false.rates: `share` lies",
        ),
        ("sandbox", lambda one: one["weights"].append(one["weights"][0]), "weights: two rows have the same place"),
        (
            "sandbox",
            lambda one: one["whole"][0]["simulated"]["accuracy"].pop("sd"),
            "whole: simulated_accuracy_sd miss",
        ),
    ],
)
def test_a_record_with_a_wrong_row_is_refused(kind: str, change: Change, complaint: str, tmp_path: Path) -> None:
    make, write, read = RECORDS[kind]
    record, path = make(), tmp_path / f"{kind}.json"
    path.write_text(json.dumps(record), "utf-8")
    assert json.dumps(read(path)) == json.dumps(record), "NaN is not equal to itself"
    change(record)
    with pytest.raises(ValueError, match=rf"{kind}\.json: ") as written:
        write(record, path)
    assert str(written.value).startswith(f"{path}: {complaint}")
    path.write_text(json.dumps(record), "utf-8")
    with pytest.raises(
        ValueError, match=rf"{kind}\.json: not the record of .* make it again with 'headscope"
    ) as raised:
        read(path)
    assert complaint in str(raised.value)
