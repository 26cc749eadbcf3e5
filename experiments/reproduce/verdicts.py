"""Verdicts on all that a record has measured, by the rules of today: nothing is measured again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.reproduce.judge import (
    CHANGED,
    DIFFERS,
    Judged,
    Judgement,
    judge,
    plain,
    untestable,
)
from experiments.reproduce.record import Entry, missing_entry
from experiments.reproduce.registry import all_findings
from experiments.statements.estimates import Estimate, mean_of
from experiments.statements.finding import Finding, Measured, Missing, Numbers
from experiments.statements.rule import OPEN, ControlNumbers, Controls


def with_verdicts(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record, as `record.today` makes it, in which every result is judged from the numbers in it."""
    findings = all_findings()
    return {**record, "results": [_result(findings[one["finding"]], one, record) for one in record["results"]]}


def _result(finding: Finding, result: Mapping[str, Any], record: Mapping[str, Any]) -> Entry:
    """Return a result with its verdict."""
    model = next(one for one in record["models"] if one["model"] == result["model"])
    if result["untestable"] or finding.missing:
        found = untestable(finding, finding.missing or result["untestable"])
        return _told(found, result) | {"statements": [_judged(one) for one in found.statements]}
    if model["control"]:
        return _untrained(finding, result)
    controls = {one.name: _controls(finding, one.name, one.number, model, record) for one in finding.statements}
    original = model["known_as"] in finding.original
    found = judge(finding, numbers_of(finding, result["statements"]), controls=controls, original=original)
    return _told(found, result) | {"statements": [_judged(one) for one in found.statements]}


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
    if len(seeds) == 1:
        return _judged(seeds[0])
    found = [one.measured for one in seeds if isinstance(one.measured, Measured)]
    if not found:
        return _judged(seeds[0])
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
    return _judged(Judged(seeds[0].statement, whole, said.pop() if len(said) == 1 else OPEN))


def numbers_of(finding: Finding, entries: Sequence[Mapping[str, Any]]) -> Numbers:
    """Return what a record has measured for the statements of a finding; CHANGED where it is another number now."""
    by_name = {one["name"]: one for one in entries}
    return {one.name: _number(by_name.get(one.name), one.number) for one in finding.statements}


def _number(told: Mapping[str, Any] | None, number: str) -> Measured | Missing:
    if told is None or told["number"] != number:
        return Missing(CHANGED)
    if "decides" not in told:
        return Missing(str(told["missing"]), bool(told.get("absent")))
    ours = estimate(told["ours"]) if told["ours"] else None
    return Measured(estimate(told["decides"]), ours, told["baseline"], told["heads"], told["note"])


def estimate(entry: Mapping[str, Any]) -> Estimate:
    """Return an estimate from JSON: null is NaN."""
    value, low, high = (math.nan if entry[name] is None else float(entry[name]) for name in ("value", "low", "high"))
    return Estimate(value, low, high, int(entry["n"]))


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


def _told(found: Judgement, result: Mapping[str, Any]) -> Entry:
    return {**result, "verdict": found.verdict, "why": found.why}


def _judged(one: Judged) -> Entry:
    about: Entry = {"name": one.statement.name, "number": one.statement.number, "verdict": one.verdict}
    about |= {"near": one.near, "note": "", "minus": {}}
    if isinstance(one.measured, Missing):
        return about | missing_entry(one.measured)
    found = one.measured
    ours = plain(found.ours) if found.ours else None
    about |= {"decides": plain(found.decides), "ours": ours, "baseline": found.baseline}
    minus = {kind: plain(number) | {"seeds": seeds} for kind, (number, seeds) in one.minus.items()}
    return about | {"heads": found.heads, "note": found.note, "minus": minus}
