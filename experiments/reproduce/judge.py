"""From measured numbers to verdicts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from experiments.statements.estimates import Estimate
from experiments.statements.finding import Finding, FindingError, Measured, Missing, Numbers, Statement
from experiments.statements.rule import FAILS, HOLDS, OPEN, UNMEASURED, Controls, LearnedRule, Rule
from probes.evidence.leads import independent_difference

REPRODUCED, NOT_REPRODUCED, DIFFERS, UNTESTABLE = "reproduced", "not reproduced", "differs", "not testable here"

WEAKER = "weaker version holds"
"Of a statement below the paper's own bar, and of a finding that stands on such statements or says what it leaves out."

VERDICTS = (REPRODUCED, WEAKER, DIFFERS, NOT_REPRODUCED, UNMEASURED, UNTESTABLE)

NO_NUMBER = "no number"

CHANGED = "the number that decides is another one since this was measured"
"Why a statement that was measured by another rule is not measured."


@dataclass(frozen=True)
class Judged:
    """A statement with its number and its verdict."""

    statement: Statement
    measured: Measured | Missing
    verdict: str
    "Of `experiments.statements.rule`, or WEAKER, UNMEASURED or NO_NUMBER."
    near: str = ""
    "On the paper's own model: how far our value is from the published one."
    minus: Mapping[str, tuple[Estimate, int]] = field(default_factory=dict)
    "Kind of untrained weights -> the number minus theirs, and with how many seeds they were run."


@dataclass(frozen=True)
class Judgement:
    """A finding with its verdict on one model."""

    finding: Finding
    verdict: str
    "One of VERDICTS."
    why: str
    "What differs or is missing, in words; empty where there is nothing to say."
    statements: Sequence[Judged] = ()


def judge(
    finding: Finding,
    numbers: Numbers,
    *,
    controls: Mapping[str, Controls] | None = None,
    original: bool = False,
) -> Judgement:
    """Return the verdict on a finding by the rules that stand in it.

    reproduced: all statements with a number hold, or as many as `finding.enough`. weaker version holds: they do, some
    of them below the paper's own bar, or the finding says in `weaker` what it leaves out. not reproduced: none holds
    and one at least significantly does not, or so many significantly do not that `enough` cannot be reached. not
    measured: it hangs on numbers of untrained weights that are not known, or most of its statements do and the others
    leave it at "differs". differs: everything between. A statement holds by its rule and, with `original`, where its
    value lies within its tolerance of the published one. `controls` has what untrained weights have, by statement;
    None where it is untrained weights that are judged, for which a LearnedRule is a Rule.
    """
    known = {one.name for one in finding.statements}
    if strange := set(numbers) - known:
        raise FindingError(f"{finding.id}: measured {sorted(strange)}, which no statement is about")
    judged = [
        _judged(
            one,
            numbers.get(one.name, Missing("nothing was measured")),
            None if controls is None else controls.get(one.name, {}),
            original,
        )
        for one in finding.statements
    ]
    said = Counter(one.verdict for one in judged)
    if said[NO_NUMBER] == len(judged):
        return Judgement(finding, UNTESTABLE, _missing(judged), judged)
    return Judgement(finding, verdict_of(said, finding.enough, weaker=bool(finding.weaker)), _why(judged), judged)


def verdict_of(verdicts: Counter[str], enough: int | None = None, *, weaker: bool = False) -> str:
    """Return the verdict on a finding from the verdicts on its statements, counted; one at least has a number."""
    with_number = verdicts.total() - verdicts[NO_NUMBER]
    needed = with_number if enough is None else min(enough, with_number)
    if verdicts[HOLDS] >= needed:
        return WEAKER if weaker else REPRODUCED
    if verdicts[HOLDS] + verdicts[WEAKER] >= needed:
        return WEAKER
    if verdicts[UNMEASURED]:
        rest = verdicts - Counter({UNMEASURED: verdicts[UNMEASURED]})
        may_be = {
            verdict_of(rest + Counter({one: verdicts[UNMEASURED]}), enough, weaker=weaker) for one in (HOLDS, FAILS)
        }
        mostly = 2 * verdicts[UNMEASURED] > with_number
        return UNMEASURED if len(may_be) > 1 or (mostly and DIFFERS in may_be) else may_be.pop()
    if verdicts[FAILS] == with_number or (enough is not None and with_number - verdicts[FAILS] < needed):
        return NOT_REPRODUCED
    return DIFFERS


def untestable(finding: Finding, why: str) -> Judgement:
    """Return the verdict on a finding that nothing was measured for."""
    return Judgement(finding, UNTESTABLE, why, [Judged(one, Missing(why), NO_NUMBER) for one in finding.statements])


def _judged(statement: Statement, found: Measured | Missing, controls: Controls | None, original: bool) -> Judged:
    if isinstance(found, Missing):
        return Judged(statement, found, UNMEASURED if found.why == CHANGED else NO_NUMBER)
    if math.isnan(found.decides.value):
        return Judged(statement, Missing("no item of it in the corpus"), NO_NUMBER)
    verdict = _by_rule(statement.rule, found.decides, controls)
    if verdict in (FAILS, OPEN) and statement.weaker is not None:
        less = _by_rule(statement.weaker, found.decides, controls)
        verdict = WEAKER if less == HOLDS else less
    near, close = _nearness(statement, found) if original else ("", True)
    return Judged(statement, found, verdict if close else FAILS, near, _minus(found.decides, controls or {}))


def _by_rule(rule: Rule, number: Estimate, controls: Controls | None) -> str:
    if isinstance(rule, LearnedRule) and controls is not None:
        return rule.verdict_beside(number, controls)
    return rule.verdict(number)


def _minus(number: Estimate, controls: Controls) -> dict[str, tuple[Estimate, int]]:
    """Return the number minus that of each kind of untrained weights which has one."""
    means = {kind: (one.mean(), one.seeds) for kind, one in controls.items()}
    return {
        kind: (independent_difference(mean, number)[0], seeds)
        for kind, (mean, seeds) in means.items()
        if mean is not None
    }


def _nearness(statement: Statement, found: Measured) -> tuple[str, bool]:
    """Say how far our value is from the published one, and whether that is within the tolerance."""
    published = statement.published.value
    if statement.tolerance is None or published is None:
        return "", True
    distance = abs((found.ours or found.decides).value - published)
    scale, unit = (100, " points") if statement.shown in ("%", "points") else (1, f" {statement.shown}")
    near = f"{scale * distance:.3g}{unit} from the published value, {scale * statement.tolerance:g} allowed"
    return near, distance <= statement.tolerance


def _missing(judged: Sequence[Judged]) -> str:
    reasons = dict.fromkeys(one.measured.why for one in judged if isinstance(one.measured, Missing))
    return "; ".join(reasons)


ALONE = {
    WEAKER: "it holds below the paper's own bar",
    FAILS: "it does not hold",
    OPEN: "not decided: the interval reaches over the edge",
    UNMEASURED: "not measured: randomly initialised and permuted weights, three seeds each",
}
"What is said of the only statement of a finding, by its verdict."

NAMED = {WEAKER: "weaker version", FAILS: "not", OPEN: OPEN, UNMEASURED: UNMEASURED, NO_NUMBER: "without a number"}
"What is said before the names of statements, by their verdict."


def _why(judged: Sequence[Judged]) -> str:
    """Say how many statements hold where not all do, and name the others."""
    by_verdict = {said: [one for one in judged if one.verdict == said] for said in (HOLDS, *NAMED)}
    holds = len(by_verdict[HOLDS])
    if holds == len(judged):
        return ""
    if len(judged) == 1:
        (only,) = judged
        return CHANGED if isinstance(only.measured, Missing) else ALONE[only.verdict]
    parts = [f"{holds} of {len(judged)} {'holds' if holds == 1 else 'hold'}"]
    parts += [
        f"{said}: {', '.join(one.statement.name for one in by_verdict[verdict])}"
        for verdict, said in NAMED.items()
        if by_verdict[verdict]
    ]
    return "; ".join(parts)


def plain(estimate: Estimate) -> dict[str, float | int | None]:
    """Return an estimate as JSON has it: what is missing is null."""
    ends = {name: getattr(estimate, name) for name in ("value", "low", "high")}
    return {name: None if math.isnan(one) else one for name, one in ends.items()} | {"n": estimate.n}
