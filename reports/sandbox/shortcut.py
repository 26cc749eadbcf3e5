"""Whole runs held beside simulated ones, to see whether both find the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import stats

from reports.sandbox.record import Rate, Record


def comparisons(record: Record) -> list[dict[str, Any]]:
    """Return whole runs beside simulated ones, a row a role: shares, means and deviations, each with its p.

    `difference` is the mean accuracy of whole minus simulated runs with its 95 % interval; `p_share` is of Fisher's
    exact test, `p_mean` of Student's t, `p_sd` of an F test of both variances. What a single run has not is NaN.
    """
    simulated_runs = int(record.get("scale", {}).get("power_runs", 0))
    population = int(record.get("population", {}).get("documents", 0))
    return [_comparison(row, simulated_runs, population) for row in record.get("whole", ())]


def ps_of(rows: Iterable[Mapping[str, Any]]) -> list[float]:
    """Return the p-values of comparisons that could be computed."""
    found = (row[name] for row in rows for name in ("p_share", "p_mean", "p_sd"))
    return [p for p in found if not math.isnan(p)]


def _comparison(row: Mapping[str, Any], simulated_runs: int, population: int) -> dict[str, Any]:
    whole, simulated, runs = row["accuracy"], row["simulated"]["accuracy"], int(row["runs"])
    sd, simulated_sd = (_sample_sd(one["sd"], n) for one, n in ((whole, runs), (simulated, simulated_runs)))
    share, simulated_share = Rate.of(row["graded"]), Rate.of(row["simulated"]["graded"])
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
    """Return a difference with its interval, and its p by Student's t."""
    if math.isnan(error):
        return (difference, math.nan, math.nan), math.nan
    if not error:
        return (difference, difference, difference), float(difference == 0)
    far = float(stats.t.ppf(0.975, simulated_runs - 1)) * error
    p = 2 * float(stats.t.sf(abs(difference) / error, simulated_runs - 1))
    return (difference, difference - far, difference + far), p


def _p_of_shares(one: Rate, runs: int, other: Rate, other_runs: int) -> float:
    if not (runs and other_runs and one.known and other.known):
        return math.nan
    found = round(one.value * runs), round(other.value * other_runs)
    table = np.array([[found[0], runs - found[0]], [found[1], other_runs - found[1]]])
    return float(stats.fisher_exact(table).pvalue)


def _p_of_sds(sd: float, runs: int, other: float, other_runs: int) -> float:
    if math.isnan(sd) or math.isnan(other) or not other:
        return math.nan
    ratio = stats.f(runs - 1, other_runs - 1)
    return min(1.0, 2 * float(min(ratio.cdf((sd / other) ** 2), ratio.sf((sd / other) ** 2))))
