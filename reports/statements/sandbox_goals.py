"""What the sandbox says first: the statements of the statistics, with how many exceptions each has, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import scipy

from reports.formats import count, percent, points
from reports.statements.sandbox_record import (
    ANY,
    FDR,
    LABEL,
    WRONG_NO,
    Record,
    Row,
    alpha,
    coverage_rows,
    held,
    in_percent,
    kind,
    mixed_rows,
    power_rows,
    tested_margin,
)
from reports.statements.statement import HOLDS, JudgedStatement, Number, Rule
from reports.tables.estimate import Estimate

GRADES: Final = {1: "beyond position and controls", 2: "beyond words", 3: "beyond grammar rules"}
"What a head of each grade surely is."

COVERAGE_GOAL: Final = (0.93, 0.97)
"Within which the share of 95 % intervals that hold the true value should lie."

PROMISED: Final = ("per head, uncorrected", LABEL, FDR)
"Rates, whatever the grade, that are to stay at the nominal level also beside real finds."

PROMISED_ALONE: Final = (ANY, WRONG_NO)
"Rates that are to stay there under a null hypothesis."

ROUGH: Final = 500
"Runs a cell below which rates are rough."

NONE: Final = Rule(below=1, unit="exceptions")
"What decides: numbers of exceptions."


def allowed(level: float, runs: int) -> float:
    """Return the highest rate that does not speak against the level: with a Monte-Carlo error of so many runs."""
    return level + 1.96 * math.sqrt(level * (1 - level) / max(runs, 1))


def _stated(text: str, number: str, exceptions: int, of: int, unit: str) -> JudgedStatement:
    """Return a statement that holds where nothing speaks against it; `number` says what is farthest from it."""
    estimate = Number(exceptions, exceptions, exceptions, 1, f"of {count(of)} {unit}")
    return JudgedStatement(text, number, "Holds if there is none.", NONE.verdict(estimate), estimate)


def goals(record: Record) -> list[JudgedStatement]:
    """Return the statements that the record says something about; every row of the record is in them."""
    nulls, level = record.get("false", ()), alpha(record)
    return [
        *(
            one
            for grade, name in GRADES.items()
            for one in _rates(f"Runs with a head falsely specialised {name}", nulls, [f"{ANY}, grade {grade}"], level)
        ),
        *_rates("Verdicts no where a head is specialised", nulls, [WRONG_NO], level),
        *_rates("Other false positives where no head is specialised", nulls, PROMISED, level),
        *_rates("False positives beside specialised heads", mixed_rows(record), PROMISED, level),
        *_coverage(coverage_rows(power_rows(record))),
        *_null_coverage(nulls),
        *_models(record),
        *_shortcut(record),
    ]


def answer(made: Sequence[JudgedStatement], record: Record) -> list[str]:
    """Return the first paragraph, in sentences: how many statements hold, how rough rates are, what power there is."""
    held = sum(one.verdict == HOLDS for one in made)
    first = f"Where the truth is known, {held} of {len(made)} statements about the statistics of headscope hold."
    runs = min((int(row["runs"]) for row in record.get("power", ())), default=ROUGH)
    return [*[first] * bool(made), *_rough(runs, record.get("scale", {}).get("runs", 0)), *power_sentences(record)]


def _rough(power_runs: int, null_runs: int) -> list[str]:
    """Say which rates are rough: those of power and coverage, or all, by the runs of a cell of either kind."""
    if power_runs >= ROUGH:
        return []
    if null_runs < ROUGH:
        return [f"Rates are of only {power_runs} runs: all are rough, and this page is a preview, not evidence."]
    error = 196 * math.sqrt(0.25 / power_runs)
    return [f"Rates of planted heads are of {power_runs} runs, with an error of up to {error:.0f} points."]


def power_sentences(record: Record) -> list[str]:
    """Say from how many scored words on heads are found, for every margin above that of the rule."""
    rows = [row for row in record.get("needed", ()) if row["margin"] > tested_margin(record) + 1e-9]
    sentences = []
    for wanted in sorted({float(row["power"]) for row in rows})[:1]:
        parts = [f"{points(row['margin'])}: {needed_text(row)}" for row in rows if row["power"] == wanted]
        sentences.append(
            f"Scored words needed to find a head in {percent(wanted)} % of runs, by its points above the strongest "
            f"baseline: {'; '.join(parts)}."
        )
    return sentences


def needed_text(row: Record) -> str:
    """Write how many scored words are needed, where anybody knows."""
    if row["items"] is None:
        return "not reached"
    return f"{'at most ' if row.get('at_most') else ''}{count(int(row['items']))}"


def _rates(name: str, rows: Sequence[Row], wanted: Sequence[str], level: float) -> Iterator[JudgedStatement]:
    """Judge every rate of these names or kinds: none may be above the level by more than a Monte-Carlo error."""
    rates = [
        (rate, row)
        for row in rows
        for key, rate in row["rates"].items()
        if rate.known and (key in wanted or kind(key) in wanted)
    ]
    if not rates:
        return
    above = [found for found in rates if found[0].value > allowed(level, found[1]["runs"])]
    number = f"largest {in_percent(max((rate for rate, _ in rates), key=lambda rate: rate.value))} %"
    if above:
        number += f"; above it: {'; '.join(dict.fromkeys(row['null'] for _, row in above))}"
    yield _stated(f"{name} stay at {percent(level)} %", number, len(above), len(rates), "rates")


def _null_coverage(nulls: Sequence[Row]) -> Iterator[JudgedStatement]:
    """Judge the coverage of margins under every null hypothesis, at every size."""
    rows, (low, high) = [row for row in nulls if held(row).known], COVERAGE_GOAL
    if not rows:
        return
    outside = sum(not low <= held(row).value <= high for row in rows)
    ends = (pick(rows, key=lambda row: held(row).value) for pick in (min, max))
    number = " to ".join(f"{in_percent(held(row))} % ({row['null']}, {row['documents']} documents)" for row in ends)
    text = f"Intervals hold the true value in {percent(low)} to {percent(high)} % of cases where no head is specialised"
    yield _stated(text, number, outside, len(rows), "rows")


def _coverage(coverage: Sequence[Row]) -> Iterator[JudgedStatement]:
    """Judge the coverage over all cells of a size, and that of every cell."""
    if not coverage:
        return
    (low, high), pooled = COVERAGE_GOAL, [row["pooled"].value for row in coverage]
    goal = f"in {percent(low)} to {percent(high)} % of runs"
    number = f"{percent(min(pooled))} to {percent(max(pooled))} %"
    outside = sum(not low <= value <= high for value in pooled)
    yield _stated(
        f"Intervals of all planted heads together hold the true value {goal}", number, outside, len(pooled), "sizes"
    )
    cells = [(row["quantity"], *cell) for row in coverage for cell in row["cells"]]
    missed = sum(rate.high < low or rate.low > high for _, _, rate in cells)
    quantity, worst, rate = min(cells, key=lambda cell: cell[2].value)
    number = f"lowest {in_percent(rate)} % ({quantity} of “{worst['role']}”, {worst['documents']} documents)"
    yield _stated(
        f"Intervals of each planted head and size hold the true value {goal}", number, missed, len(cells), "cells"
    )


def _models(record: Record) -> Iterator[JudgedStatement]:
    """Judge what is found in models without knowledge, and of heads that are planted by weights."""
    runs, weights = record.get("null_runs", ()), record.get("weights", ())
    if runs:
        declared = sum(bool(run["graded"]) for run in runs)
        rate = in_percent(Estimate.share(declared / len(runs), len(runs)))
        corpora = ", ".join(dict.fromkeys(run["corpus"] for run in runs))
        yield _stated(
            "No head is specialised in models without knowledge",
            f"{rate} % of runs ({corpora})",
            declared,
            len(runs),
            "runs",
        )
    if weights:
        lost = sum(row["planted"] != row["selected"] or not row["graded"] for row in weights)
        yield _stated(
            "Heads planted by weights are found", "not selected, or not specialised", lost, len(weights), "heads"
        )


def _shortcut(record: Record) -> Iterator[JudgedStatement]:
    """Judge whether whole runs differ from simulated ones, every p corrected for all comparisons."""
    found = (row[name] for row in comparisons(record) for name in ("p_share", "p_mean", "p_sd"))
    if ps := [p for p in found if not math.isnan(p)]:
        number = f"smallest p {min(ps):.3f}, {min(1.0, min(ps) * len(ps)):.3f} corrected for their number"
        apart = sum(p * len(ps) <= 0.05 for p in ps)
        yield _stated("Simulated runs agree with whole runs", number, apart, len(ps), "comparisons")


def comparisons(record: Record) -> list[dict[str, Any]]:
    """Return whole runs beside simulated ones, a row a role: shares, means and deviations, each with its p.

    `difference` is the mean accuracy of whole minus simulated runs with its 95 % interval; `p_share` is of Fisher's
    exact test, `p_mean` of Student's t, `p_sd` of an F test of both variances. What a single run has not is NaN.
    """
    simulated_runs = int(record.get("scale", {}).get("power_runs", 0))
    population = int(record.get("population", {}).get("documents", 0))
    return [_comparison(row, simulated_runs, population) for row in record.get("whole", ())]


def _comparison(row: Mapping[str, Any], simulated_runs: int, population: int) -> dict[str, Any]:
    whole, simulated, runs = row["accuracy"], row["simulated"]["accuracy"], int(row["runs"])
    sd, simulated_sd = (_sample_sd(one["sd"], n) for one, n in ((whole, runs), (simulated, simulated_runs)))
    share, simulated_share = row["graded"], row["simulated"]["graded"]
    error = _error(simulated_sd, runs, simulated_runs, int(row["documents"]), population)
    difference, p_mean = _difference(whole["mean"] - simulated["mean"], error, simulated_runs)
    found = {name: row[name] for name in ("role", "margin", "documents", "runs")}
    found |= {"simulated_runs": simulated_runs, "graded": share, "simulated": simulated_share}
    found |= {"mean": whole["mean"], "simulated_mean": simulated["mean"], "sd": sd, "simulated_sd": simulated_sd}
    found |= {"difference": difference, "p_mean": p_mean, "p_sd": _p_of_sds(sd, runs, simulated_sd, simulated_runs)}
    return found | {"p_share": _p_of_shares(share, runs, simulated_share, simulated_runs)}


def _sample_sd(sd: float, count: int) -> float:
    """Return the standard deviation over count - 1, of one over count; NaN for fewer than two."""
    return float(sd) * math.sqrt(count / (count - 1)) if count > 1 else math.nan


def _error(sd: float, runs: int, simulated_runs: int, documents: int, population: int) -> float:
    """Return how far both means lie apart by chance, if a run varies as the simulated ones do.

    Simulated runs gather around the mean of their population, which is itself a sample of the grammar: it is as far
    from the truth as the mean of population / documents runs.
    """
    if not (runs and simulated_runs and population):
        return math.nan
    return sd * math.sqrt(1 / runs + 1 / simulated_runs + documents / population)


def _difference(difference: float, error: float, simulated_runs: int) -> tuple[tuple[float, float, float], float]:
    """Return a difference with its interval, and its p by Student's t; NaN where the error is."""
    if not error:
        return (difference, difference, difference), float(difference == 0)
    far = float(scipy.stats.t.ppf(0.975, simulated_runs - 1)) * error
    p = 2 * float(scipy.stats.t.sf(abs(difference) / error, simulated_runs - 1))
    return (difference, difference - far, difference + far), p


def _p_of_shares(one: Estimate, runs: int, other: Estimate, other_runs: int) -> float:
    if not (runs and other_runs and one.known and other.known):
        return math.nan
    found = round(one.value * runs), round(other.value * other_runs)
    table = np.array([[found[0], runs - found[0]], [found[1], other_runs - found[1]]])
    return float(scipy.stats.fisher_exact(table).pvalue)


def _p_of_sds(sd: float, runs: int, other: float, other_runs: int) -> float:
    if math.isnan(sd) or math.isnan(other) or not other:
        return math.nan
    ratio = scipy.stats.f(runs - 1, other_runs - 1)
    return min(1.0, 2 * float(min(ratio.cdf((sd / other) ** 2), ratio.sf((sd / other) ** 2))))
