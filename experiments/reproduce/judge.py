"""From measured numbers to verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.statements.estimates import Estimate
from experiments.statements.finding import Finding, FindingError, Measured, Missing, Numbers, Statement
from experiments.statements.rule import FAILS, HOLDS, OPEN

REPRODUCED, NOT_REPRODUCED, DIFFERS, UNTESTABLE = "reproduced", "not reproduced", "differs", "not testable here"

VERDICTS = (REPRODUCED, DIFFERS, NOT_REPRODUCED, UNTESTABLE)

NO_NUMBER = "no number"


@dataclass(frozen=True)
class Judged:
    """A statement with its number and its verdict."""

    statement: Statement
    measured: Measured | Missing
    verdict: str
    "Of `experiments.statements.rule`, or NO_NUMBER."
    near: str = ""
    "On the paper's own model: how far our value is from the published one."


@dataclass(frozen=True)
class Judgement:
    """A finding with its verdict on one model."""

    finding: Finding
    verdict: str
    "One of VERDICTS."
    why: str
    "What differs or is missing, in words; empty where there is nothing to say."
    statements: Sequence[Judged] = ()


def judge(finding: Finding, numbers: Numbers, *, original: bool = False) -> Judgement:
    """Return the verdict on a finding by the rules that stand in it.

    reproduced: all statements with a number hold, or as many as `finding.enough`. not reproduced: none holds and one at
    least surely does not, or so many surely do not that `enough` cannot be reached. differs: everything between. A
    statement holds by its rule and, with `original`, where its value lies within its tolerance of the published one.
    """
    known = {one.name for one in finding.statements}
    if strange := set(numbers) - known:
        raise FindingError(f"{finding.id}: measured {sorted(strange)}, which no statement is about")
    judged = [
        _judged(one, numbers.get(one.name, Missing("nothing was measured")), original) for one in finding.statements
    ]
    by_verdict = {said: [one for one in judged if one.verdict == said] for said in (HOLDS, FAILS, OPEN, NO_NUMBER)}
    if len(by_verdict[NO_NUMBER]) == len(judged):
        return Judgement(finding, UNTESTABLE, _missing(judged), judged)
    with_number = len(judged) - len(by_verdict[NO_NUMBER])
    enough = with_number if finding.enough is None else min(finding.enough, with_number)
    if len(by_verdict[HOLDS]) >= enough:
        verdict = REPRODUCED
    elif len(by_verdict[FAILS]) == with_number or (
        finding.enough is not None and with_number - len(by_verdict[FAILS]) < enough
    ):
        verdict = NOT_REPRODUCED
    else:
        verdict = DIFFERS
    return Judgement(finding, verdict, _why(by_verdict, len(judged)), judged)


def untestable(finding: Finding, why: str) -> Judgement:
    """Return the verdict on a finding that nothing was measured for."""
    return Judgement(finding, UNTESTABLE, why, [Judged(one, Missing(why), NO_NUMBER) for one in finding.statements])


def _judged(statement: Statement, found: Measured | Missing, original: bool) -> Judged:
    if isinstance(found, Missing):
        return Judged(statement, found, NO_NUMBER)
    if math.isnan(found.decides.value):
        return Judged(statement, Missing("no item of it in the corpus"), NO_NUMBER)
    verdict, published = statement.rule.verdict(found.decides), statement.published.value
    if not original or statement.tolerance is None or published is None:
        return Judged(statement, found, verdict)
    distance = abs((found.ours or found.decides).value - published)
    close = distance <= statement.tolerance
    scale, unit = (100, " points") if statement.shown in ("%", "points") else (1, f" {statement.shown}")
    near = f"{scale * distance:.3g}{unit} from the published value, {scale * statement.tolerance:g} allowed"
    return Judged(statement, found, verdict if close else FAILS, near)


def _missing(judged: Sequence[Judged]) -> str:
    reasons = dict.fromkeys(one.measured.why for one in judged if isinstance(one.measured, Missing))
    return "; ".join(reasons)


def _why(by_verdict: dict[str, list[Judged]], total: int) -> str:
    """Say how many statements hold where not all do, and name the others."""
    if len(by_verdict[HOLDS]) == total:
        return ""
    said = {HOLDS: "hold" if len(by_verdict[HOLDS]) != 1 else "holds", FAILS: "not", OPEN: "not decided"}
    said[NO_NUMBER] = "without a number"
    parts = [f"{len(by_verdict[HOLDS])} of {total} {said[HOLDS]}"]
    for verdict in (FAILS, OPEN, NO_NUMBER):
        if by_verdict[verdict] and total > 1:
            parts.append(f"{said[verdict]}: {', '.join(one.statement.name for one in by_verdict[verdict])}")
        elif by_verdict[verdict]:
            parts = [{FAILS: "it does not hold", OPEN: "not decided: the interval reaches over the edge"}[verdict]]
    return "; ".join(parts)


def plain(estimate: Estimate) -> dict[str, float | int | None]:
    """Return an estimate as JSON has it: what is missing is null."""
    ends = {name: getattr(estimate, name) for name in ("value", "low", "high")}
    return {name: None if math.isnan(one) else one for name, one in ends.items()} | {"n": estimate.n}
