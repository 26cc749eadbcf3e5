"""Tables of runs with planted numbers, for the tests of findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.reproduce.registry import all_findings
from experiments.statements.finding import Finding
from experiments.statements.paper_sentence import AGREEMENT, InClaim
from experiments.statements.rule import Rule
from reports import Run
from reports.run.record import RunRecord
from reports.statements.claim_record import ClaimMeasure, ClaimRecord, ConditionMean
from reports.statements.statement import JudgedStatement, Number
from reports.tables.scores import BEHAVIOUR, SCORES

Row = Mapping[str, Any]


def scored(probe: str, label: str, **values: Any) -> dict[str, Any]:
    """Return one row of scores of head 1-1, chosen, on the report split: all but what is said is filled in.

    Where `margin` alone is said, accuracy and its interval follow from a baseline of 0.4 and a width of 0.02.
    """
    row: dict[str, Any] = {"probe": probe, "label": label, "variant": "dependent->head", "layer": 0, "head": 0}
    row |= {"split": "report", "n": 500, "clusters": 100, "selected": True, "baseline": "offset", "mass": 0.1}
    row |= {"baseline_accuracy": 0.4, "margin": 0.2, "holds": 1.0} | values
    row.setdefault("accuracy", min(1.0, row["baseline_accuracy"] + row["margin"]))
    for value, low, high in (
        ("accuracy", "ci_low", "ci_high"),
        ("margin", "margin_low", "margin_high"),
        ("mass", "mass_low", "mass_high"),
    ):
        row.setdefault(low, row[value] - 0.02)
        row.setdefault(high, row[value] + 0.02)
    return row


def shaped(kind: str, measure: str, layer: int, head: int, value: float, **values: Any) -> dict[str, Any]:
    """Return one row of shapes, on the report split, with an interval of 0.02 in width."""
    row = {"kind": kind, "measure": measure, "layer": layer, "head": head, "name": f"{layer + 1}-{head + 1}"}
    row |= {"scope": "sentence", "split": "report", "n": 500, "clusters": 100, "value": value}
    return row | {"ci_low": value - 0.01, "ci_high": value + 0.01} | values


def decided(corpus: str, accuracy: float, level: str = "corpus", **values: Any) -> dict[str, Any]:
    """Return one row of behaviour: of a whole corpus of minimal pairs, or of a group in it."""
    row = {"corpus": corpus, "level": level, "n": 500, "clusters": 100, "accuracy": accuracy}
    return row | {"ci_low": accuracy - 0.02, "ci_high": accuracy + 0.02} | values


def planted_run(
    scores: Sequence[Row] = (),
    *,
    behaviour: Sequence[Row] = (),
    **studies: Sequence[Row],
) -> Run:
    """Return a run that holds these rows; columns that no row has are filled with missing values."""
    frame = _filled(scores, SCORES.dtypes) if scores else ROWLESS.copy()
    frame["name"] = (frame.layer + 1).astype("str") + "-" + (frame["head"] + 1).astype("str")
    return Run(
        folder=Path("planted"),
        scores=frame,
        examples=pd.DataFrame(),
        record=RunRecord(name="planted"),
        config="",
        tables={name: pd.DataFrame(rows) for name, rows in studies.items()}
        | ({"behaviour": _filled(behaviour, BEHAVIOUR.dtypes)} if behaviour else {}),
    )


def all_arcs(margin: float) -> dict[str, Run]:
    """Return a run whose head has that margin over all arcs."""
    return {"trees": planted_run([scored("dependency", "all", margin=margin)])}


def _filled(rows: Sequence[Row], columns: Mapping[str, str]) -> pd.DataFrame:
    """Return rows with all columns in their dtypes; what is missing is NaN, or empty text, or False."""
    missing = {"str": "", "bool": False, "int64": 0}
    rows = [{"model": "planted", "corpus": "planted"} | row for row in rows]
    values = {name: [row.get(name, missing.get(dtype)) for row in rows] for name, dtype in columns.items()}
    return pd.DataFrame({name: pd.Series(values[name], dtype=dtype) for name, dtype in columns.items()})


ROWLESS = _filled((), SCORES.dtypes)


def in_claims(finding: Finding, *, holds: bool) -> dict[str, ClaimRecord]:
    """Return records of claims with a number for every statement of a finding: within its rule, or outside of it."""
    statements: dict[str, list[JudgedStatement]] = {}
    cells: dict[str, dict[str, list[ConditionMean]]] = {}
    for one in finding.statements:
        assert isinstance(one.measure, InClaim)
        asked, value = one.measure, _decided(one.rule if holds else one.weaker or one.rule, inside=holds)
        number = Number(value, value - 1e-4, value + 1e-4, 5, "")
        of_claim = cells.setdefault(asked.claim, {})
        if asked.at is None:
            text = f"{asked.opening} {asked.ending}"
            told = JudgedStatement(text, "what is measured", "", "", number)
            statements.setdefault(asked.claim, []).append(told)
        else:
            of_claim.setdefault(asked.opening, []).append(ConditionMean("", asked.at, number))
        learned = ConditionMean(asked.learned, 1e6, Number(0.9, 0.8, 1.0, 5, ""))
        of_claim.setdefault(AGREEMENT, []).append(learned)
    return {
        f"claim-{claim}": ClaimRecord(
            [ClaimMeasure(name, "", "seed", "", tuple(means), ()) for name, means in measures.items()],
            statements.get(claim, ()),
            record={"claim": claim},
        )
        for claim, measures in cells.items()
    }


def _decided(rule: Rule, *, inside: bool) -> float:
    """Return a number in the middle of the range of a rule, or a tenth above or below it."""
    if rule.above is not None and rule.below is not None:
        return (rule.above + rule.below) / 2 if inside else rule.below + 0.1
    if rule.above is not None:
        return rule.above + (0.1 if inside else -0.1)
    assert rule.below is not None
    return rule.below - (0.1 if inside else -0.1)


def rules_in(claim: str) -> Mapping[str, str]:
    """Return the openings of the statements of a claim that findings stand on, with the words of their rules."""
    every = [one for finding in all_findings().values() for one in finding.statements]
    return {
        one.measure.opening: one.rule.words()
        for one in every
        if isinstance(one.measure, InClaim) and one.measure.claim == claim
    }
