"""What the sandbox says first: the statements of the statistics, with how many exceptions each has, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Final

import numpy as np
import pandas as pd
import scipy

from reports.formats import count, percent, points
from reports.statements.sandbox_record import (
    ANY,
    FDR,
    LABEL,
    QUANTITIES,
    WHOLE,
    WRONG_NO,
    SandboxRecord,
    in_percent,
    kind,
)
from reports.statements.statement import HOLDS, JudgedStatement, Number, Rule
from reports.tables.estimate import Estimate
from reports.tables.shared_columns import difference, ends, p_column

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


COMPARED: Final = replace(
    WHOLE,
    columns=(
        *WHOLE.columns,
        difference("difference", "Mean accuracy of whole runs minus that of simulated ones.", "difference"),
        *ends("difference", "the difference"),
        p_column("p_share", "Of the shares with a grade, by Fisher’s exact test."),
        p_column("p_mean", "Of the difference of means, by Student’s t; missing without several runs."),
        p_column("p_sd", "Of the standard deviations, by an F test; missing without several runs."),
    ),
)
"Whole runs beside simulated ones, with the p of each comparison."


def allowed(level: float, runs: int) -> float:
    """Return the highest rate that does not speak against the level: with a Monte-Carlo error of so many runs."""
    return level + 1.96 * math.sqrt(level * (1 - level) / max(runs, 1))


def _stated(text: str, number: str, exceptions: int, of: int, unit: str) -> JudgedStatement:
    """Return a statement that holds where nothing speaks against it; `number` says what is farthest from it."""
    estimate = Number(exceptions, exceptions, exceptions, 1, f"of {count(of)} {unit}")
    return JudgedStatement(text, number, "Holds if there is none.", NONE.verdict(estimate), estimate)


def goals(study: SandboxRecord) -> list[JudgedStatement]:
    """Return the statements that the record says something about; every row of the record is in them."""
    nulls, level = study.null_rates, study.alpha
    return [
        *(
            one
            for grade, name in GRADES.items()
            for one in _rates(f"Runs with a head falsely specialised {name}", nulls, [f"{ANY}, grade {grade}"], level)
        ),
        *_rates("Verdicts no where a head is specialised", nulls, [WRONG_NO], level),
        *_rates("Other false positives where no head is specialised", nulls, PROMISED, level),
        *_rates("False positives beside specialised heads", study.mixed_rates, PROMISED, level),
        *_coverage(study),
        *_null_coverage(study),
        *_models(study),
        *_shortcut(study),
    ]


def answer(made: Sequence[JudgedStatement], study: SandboxRecord) -> list[str]:
    """Return the first paragraph, in sentences: how many statements hold, how rough rates are, what power there is."""
    held = sum(one.verdict == HOLDS for one in made)
    first = f"Where the truth is known, {held} of {len(made)} statements about the statistics of headscope hold."
    runs = min(study.tables["power"]["runs"], default=ROUGH)
    null_runs = study.record.get("scale", {}).get("runs", 0)
    return [*[first] * bool(made), *_rough(runs, null_runs), *power_sentences(study)]


def _rough(power_runs: int, null_runs: int) -> list[str]:
    """Say which rates are rough: those of power and coverage, or all, by the runs of a cell of either kind."""
    if power_runs >= ROUGH:
        return []
    if null_runs < ROUGH:
        return [f"Rates are of only {power_runs} runs: all are rough, and this page is a preview, not evidence."]
    error = 196 * math.sqrt(0.25 / power_runs)
    return [f"Rates of planted heads are of {power_runs} runs, with an error of up to {error:.0f} points."]


def power_sentences(study: SandboxRecord) -> list[str]:
    """Say from how many scored words on heads are found, for every margin above that of the rule."""
    needed = study.tables["needed"]
    needed = needed[(needed["margin"] > study.margin + 1e-9) & (needed["power"] == needed["power"].min())]
    if needed.empty:
        return []
    parts = [f"{points(row.margin)}: {_needed(row)}" for row in needed.itertuples()]
    return [
        f"Scored words needed to find a head in {percent(needed['power'].iloc[0])} % of runs, by its points above the "
        f"strongest baseline: {'; '.join(parts)}."
    ]


def _needed(row: Any) -> str:
    """Write how many scored words are needed, where anybody knows."""
    return "not reached" if math.isnan(row.items) else f"{'at most ' * row.at_most}{count(int(row.items))}"


def _rates(name: str, rates: pd.DataFrame, wanted: Sequence[str], level: float) -> Iterator[JudgedStatement]:
    """Judge every rate of these names or kinds: none may be above the level by more than a Monte-Carlo error."""
    known = rates.dropna(subset="share").to_dict("records")
    asked = [row for row in known if row["rate"] in wanted or kind(row["rate"]) in wanted]
    if not asked:
        return
    above = [row for row in asked if row["share"] > allowed(level, row["runs"])]
    number = f"largest {_rate(max(asked, key=itemgetter('share')), 'share')} %"
    if above:
        number += f"; above it: {'; '.join(dict.fromkeys(row['null'] for row in above))}"
    yield _stated(f"{name} stay at {percent(level)} %", number, len(above), len(asked), "rates")


def _rate(row: Mapping[Any, Any], name: str) -> str:
    return in_percent(row[name], row[f"{name}_low"], row[f"{name}_high"])


def _null_coverage(study: SandboxRecord) -> Iterator[JudgedStatement]:
    """Judge the coverage of margins under every null hypothesis, at every size."""
    known, (low, high) = study.tables["false-coverage"].dropna(subset="held").to_dict("records"), COVERAGE_GOAL
    rows = [row for row in known if row["quantity"] == "margin"]
    if not rows:
        return
    outside = sum(not low <= row["held"] <= high for row in rows)
    ends = (pick(rows, key=itemgetter("held")) for pick in (min, max))
    number = " to ".join(f"{_rate(row, 'held')} % ({row['null']}, {row['documents']} documents)" for row in ends)
    text = f"Intervals hold the true value in {percent(low)} to {percent(high)} % of cases where no head is specialised"
    yield _stated(text, number, outside, len(rows), "rows")


@dataclass(frozen=True)
class PooledCoverage:
    """How often the intervals of a quantity hold the true value at one size, over all planted heads."""

    quantity: str
    documents: int
    pooled: Number
    "The interval of the mean is that of the runs, for the heads of one run are not independent."
    cells: Sequence[Mapping[Any, Any]]
    "From the lowest rate to the highest."


def pooled_coverage(study: SandboxRecord) -> list[PooledCoverage]:
    """Return the coverage of every quantity at every size."""
    found, every = [], study.coverage
    for quantity in QUANTITIES:
        of = every[every["quantity"] == quantity]
        for documents in sorted(of["documents"].unique()):
            rows = of[of["documents"] == documents]
            runs = int(rows.drop_duplicates(["grade", "margin"])["runs"].sum())  # roles share them
            pooled = replace(Number.share(float(rows["held"].mean()), runs), unit="%")
            cells = rows.sort_values("held", kind="stable").to_dict("records")
            found.append(PooledCoverage(quantity, int(documents), pooled, cells))
    return found


def _coverage(study: SandboxRecord) -> Iterator[JudgedStatement]:
    """Judge the coverage over all cells of a size, and that of every cell."""
    coverage = pooled_coverage(study)
    if not coverage:
        return
    (low, high), pooled = COVERAGE_GOAL, [one.pooled.value for one in coverage]
    goal = f"in {percent(low)} to {percent(high)} % of runs"
    number = f"{percent(min(pooled))} to {percent(max(pooled))} %"
    outside = sum(not low <= value <= high for value in pooled)
    yield _stated(
        f"Intervals of all planted heads together hold the true value {goal}", number, outside, len(pooled), "sizes"
    )
    cells = [cell for one in coverage for cell in one.cells]
    missed = sum(cell["held_high"] < low or cell["held_low"] > high for cell in cells)
    worst = min(cells, key=itemgetter("held"))
    number = (
        f"lowest {_rate(worst, 'held')} % ({worst['quantity']} of “{worst['role']}”, {worst['documents']} documents)"
    )
    yield _stated(
        f"Intervals of each planted head and size hold the true value {goal}", number, missed, len(cells), "cells"
    )


def _models(study: SandboxRecord) -> Iterator[JudgedStatement]:
    """Judge what is found in models without knowledge, and of heads that are planted by weights."""
    runs, weights = study.tables["null_runs"], study.tables["weights"]
    if len(runs):
        declared = int((runs["graded"] > 0).sum())
        rate = Estimate.share(declared / len(runs), len(runs))
        corpora = ", ".join(runs["corpus"].unique())
        yield _stated(
            "No head is specialised in models without knowledge",
            f"{in_percent(rate.value, rate.low, rate.high)} % of runs ({corpora})",
            declared,
            len(runs),
            "runs",
        )
    if len(weights):
        lost = int(((weights["planted"] != weights["selected"]) | ~weights["graded"]).sum())
        yield _stated(
            "Heads planted by weights are found", "not selected, or not specialised", lost, len(weights), "heads"
        )


def _shortcut(study: SandboxRecord) -> Iterator[JudgedStatement]:
    """Judge whether whole runs differ from simulated ones, every p corrected for all comparisons."""
    found = comparisons(study)[["p_share", "p_mean", "p_sd"]].to_numpy(np.float64)
    if len(ps := found[~np.isnan(found)]):
        number = f"smallest p {min(ps):.3f}, {min(1.0, min(ps) * len(ps)):.3f} corrected for their number"
        apart = int((ps * len(ps) <= 0.05).sum())
        yield _stated("Simulated runs agree with whole runs", number, apart, len(ps), "comparisons")


def comparisons(study: SandboxRecord) -> pd.DataFrame:
    """Return whole runs beside simulated ones, a row a role, as COMPARED."""
    simulated_runs = int(study.record.get("scale", {}).get("power_runs", 0))
    population = int(study.record.get("population", {}).get("documents", 0))
    whole = study.tables["whole"]
    rows = [row | _comparison(row, simulated_runs, population) for row in whole.to_dict("records")]
    return pd.DataFrame(rows, columns=[*COMPARED.names])


def _comparison(row: Any, simulated_runs: int, population: int) -> dict[str, float]:
    runs = int(row["runs"])
    sd, simulated_sd = (
        _sample_sd(row[f"{name}accuracy_sd"], n) for name, n in (("", runs), ("simulated_", simulated_runs))
    )
    error = _error(simulated_sd, runs, simulated_runs, int(row["documents"]), population)
    apart = row["accuracy_mean"] - row["simulated_accuracy_mean"]
    low, high, p_mean = _test_of_means(apart, error, simulated_runs)
    p_share = _p_of_shares(row["graded"], runs, row["simulated_graded"], simulated_runs)
    found = {"difference": apart, "difference_low": low, "difference_high": high}
    return found | {"p_share": p_share, "p_mean": p_mean, "p_sd": _p_of_sds(sd, runs, simulated_sd, simulated_runs)}


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


def _test_of_means(apart: float, error: float, simulated_runs: int) -> tuple[float, float, float]:
    """Return the interval of a difference and its p by Student's t; NaN where the error is."""
    if not error:
        return apart, apart, float(apart == 0)
    far = float(scipy.stats.t.ppf(0.975, simulated_runs - 1)) * error
    p = 2 * float(scipy.stats.t.sf(abs(apart) / error, simulated_runs - 1))
    return apart - far, apart + far, p


def _p_of_shares(one: float, runs: int, other: float, other_runs: int) -> float:
    if not (runs and other_runs) or math.isnan(one) or math.isnan(other):
        return math.nan
    found = round(one * runs), round(other * other_runs)
    table = np.array([[found[0], runs - found[0]], [found[1], other_runs - found[1]]])
    return float(scipy.stats.fisher_exact(table).pvalue)


def _p_of_sds(sd: float, runs: int, other: float, other_runs: int) -> float:
    if math.isnan(sd) or math.isnan(other) or not other:
        return math.nan
    ratio = scipy.stats.f(runs - 1, other_runs - 1)
    return min(1.0, 2 * float(min(ratio.cdf((sd / other) ** 2), ratio.sf((sd / other) ** 2))))
