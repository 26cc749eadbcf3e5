"""From measured numbers to verdicts, of findings and of all that a record has measured: nothing is measured again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.reproduce.record import Entry
from experiments.reproduce.registry import all_findings
from experiments.statements.estimates import Estimate, mean_of
from experiments.statements.finding import Finding, Measured, Missing, Numbers, Statement
from experiments.statements.rule import FAILS, HOLDS, OPEN, ControlNumbers, Controls, LearnedRule, Rule
from probes.evidence.leads import independent_difference
from reports.statements.finding_record import DIFFERS, NOT_REPRODUCED, REPRODUCED, UNMEASURED, UNTESTABLE, WEAKER

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
    """The verdict on a finding on one model."""

    verdict: str
    "One of `reports.statements.finding_record.VERDICTS`."
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
    of them below the paper's own bar, or the finding says in `weaker` what it leaves out. not reproduced: all
    with a number significantly do not, or so many that `enough` cannot be reached. not
    measured: it hangs on numbers of untrained weights that are not known, or most of its statements do and the others
    leave it at "differs". differs: everything between. A statement holds by its rule and, with `original`, where its
    value lies within its tolerance of the published one. `controls` has what untrained weights have, by statement;
    None where it is untrained weights that are judged, for which a LearnedRule is a Rule.
    """
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
        reasons = dict.fromkeys(one.measured.why for one in judged if isinstance(one.measured, Missing))
        return Judgement(UNTESTABLE, "; ".join(reasons), judged)
    return Judgement(verdict_of(said, finding.enough, weaker=bool(finding.weaker)), _why(judged), judged)


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
    return Judgement(UNTESTABLE, why, [Judged(one, Missing(why), NO_NUMBER) for one in finding.statements])


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


def with_verdicts(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record, as `record.today` makes it, in which every result is judged from the numbers in it."""
    findings = all_findings()
    return {**record, "results": [_result(findings[one["finding"]], one, record) for one in record["results"]]}


def _result(finding: Finding, result: Mapping[str, Any], record: Mapping[str, Any]) -> Entry:
    """Return a result with its verdict."""
    model = next(one for one in record["models"] if one["model"] == result["model"])
    if result["untestable"] or finding.missing:
        found = untestable(finding, finding.missing or result["untestable"])
    elif model["control"]:
        return _untrained(finding, result)
    else:
        controls = {one.name: _controls(finding, one.name, one.number, model, record) for one in finding.statements}
        original = model["known_as"] in finding.original
        found = judge(finding, numbers_of(finding, result["statements"]), controls=controls, original=original)
    verdict = found.verdict
    if model.get("own_run") and verdict == UNTESTABLE and not finding.missing:
        verdict = UNMEASURED  # what a finished run lacks is not measured, whether or not another run can
    statements = [_entry(one) for one in found.statements]
    return {**result, "verdict": verdict, "why": found.why, "statements": statements}


def _untrained(finding: Finding, result: Mapping[str, Any]) -> Entry:
    """Return the result of untrained weights: the verdict that all seeds share, and the mean of their numbers."""
    by_seed = {seed: judge(finding, numbers_of(finding, told)) for seed, told in result["seeds"].items()}
    verdicts = {one.verdict for one in by_seed.values()}
    first = next(iter(by_seed.values()))
    why = "; ".join(f"seed {seed}: {one.verdict}" for seed, one in by_seed.items())
    if len(verdicts) == 1:
        why = first.why
    verdict = first.verdict if len(verdicts) == 1 else DIFFERS
    columns = zip(*(one.statements for one in by_seed.values()), strict=True)
    statements = [_pooled(list(of_seeds)) for of_seeds in columns]
    seen = {"verdict": verdict, "why": why, "by_seed": [one.verdict for one in by_seed.values()]}
    return {**result, **seen, "statements": statements}


def _pooled(seeds: Sequence[Judged]) -> Entry:
    """Return one statement over all seeds."""
    found = [one.measured for one in seeds if isinstance(one.measured, Measured)]
    if len(seeds) == 1 or not found:
        return _entry(seeds[0])
    ours = [one.ours.value for one in found if one.ours is not None]
    note = ", ".join(f"{one.decides.value:.3g}" for one in found)
    baselines = [one.baseline for one in found if one.baseline is not None]
    whole = Measured(
        mean_of([one.decides.value for one in found]),
        mean_of(ours) if ours else None,
        sum(baselines) / len(baselines) if baselines else None,
        note=f"{len(seeds)} seeds: {note}",
    )
    said = {one.verdict for one in seeds}
    return _entry(Judged(seeds[0].statement, whole, said.pop() if len(said) == 1 else OPEN))


def numbers_of(finding: Finding, entries: Sequence[Mapping[str, Any]]) -> Numbers:
    """Return what a record has measured for the statements of a finding; CHANGED where it is another number now."""
    by_name = {one["name"]: one for one in entries}
    return {one.name: _number(by_name.get(one.name), one.number) for one in finding.statements}


def _number(told: Mapping[str, Any] | None, number: str) -> Measured | Missing:
    return Missing(CHANGED) if told is None or told["number"] != number else Measured.of(told)


def _controls(
    finding: Finding, name: str, number: str, model: Mapping[str, Any], record: Mapping[str, Any]
) -> Controls:
    """Return what random and permuted weights of a model's shape have in the place of its number."""
    kinds = {one["model"]: one["source"] for one in record["models"] if one["control"] and one["of"] == model["model"]}
    found = {}
    for result in record["results"]:
        if result["finding"] == finding.id and result["model"] in kinds and not result["untestable"]:
            seeds = result["seeds"].values()
            told = [_number(next((one for one in of if one["name"] == name), None), number) for of in seeds]
            current = [one for one in told if not (isinstance(one, Missing) and one.why == CHANGED)]
            values = [one.decides for one in current if isinstance(one, Measured)]
            known = tuple(one for one in values if not math.isnan(one.value))
            absent = sum(isinstance(one, Missing) and one.absent for one in current)
            found[kinds[result["model"]]] = ControlNumbers(known, len(current), absent)
    return {kind: one for kind, one in found.items() if one.seeds}


def _entry(one: Judged) -> Entry:
    about: Entry = {"name": one.statement.name, "number": one.statement.number, "verdict": one.verdict}
    minus = {kind: number.recorded() | {"seeds": seeds} for kind, (number, seeds) in one.minus.items()}
    return about | {"near": one.near, "note": "", "minus": minus} | one.measured.recorded()
