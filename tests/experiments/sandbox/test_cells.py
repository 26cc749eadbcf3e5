"""What is counted of simulated runs, and that none is lost."""

from typing import Any

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from experiments.sandbox.cells import (
    RunCounts,
    SandboxCell,
    count_coverage,
    count_equivalence,
    count_false,
    count_power,
    simulate_all,
)
from experiments.sandbox.nulls import real_null
from probes.evidence.question import GRADED
from probes.evidence.results import Split
from probes.evidence.simulation import Pool, SimulatedQuestion, Truth
from probes.evidence.statistics import VerdictRule
from probes.scoring.tally import Question, Sums

A: Question = ("dependency", "v", "a")
B: Question = ("dependency", "v", "b")
C: Question = ("dependency", "v", "c")
D: Question = ("position", "v", "d")


def counted(*values: float) -> dict[str, float]:
    counts = RunCounts()
    for value in values:
        counts.add(("key",), value)
    return counts.rate(("key",))


@pytest.mark.parametrize(("found", "runs"), [(0, 10), (3, 10), (10, 10), (1, 1), (47, 1000)])
def test_a_share_of_runs_has_the_interval_of_wilson_as_statsmodels_has_it(found: int, runs: int) -> None:
    rate = counted(*[1.0] * found, *[0.0] * (runs - found))
    low, high = proportion_confint(found, runs, method="wilson")
    assert (rate["rate"], rate["low"], rate["high"]) == pytest.approx((found / runs, low, high), abs=1e-12)


def test_a_mean_of_shares_has_a_normal_interval_inside_0_and_1() -> None:
    values = [0.0, 0.5, 0.25, 0.25]
    error = 1.96 * np.std(values, ddof=1) / 2
    rate = counted(*values)
    assert (rate["rate"], rate["low"], rate["high"]) == pytest.approx((0.25, 0.25 - error, 0.25 + error))
    assert counted(0.01, 0.0, 0.9)["low"] == 0
    assert np.isnan(counted(0.5)["low"])


def judged(p: list[float], p_label: list[list[float]], grade: list[int], verdict: str = "yes") -> SimulatedQuestion:
    """One question of a run in which all heads have the interval from 0.4 to 0.6, of accuracy, mass and margin."""
    corrected = np.full((3, len(p)), np.nan)
    corrected[: len(p_label)] = p_label
    scores: dict[str, Any] = {
        "n": 30,
        "accuracy": np.full(len(p), 0.5),
        "margin": np.full(len(p), 0.5),
        "excluded": 0.1,
    }
    scores |= {f"{name}_low": np.full(len(p), 0.4) for name in ("ci", "mass", "margin")}
    scores |= {f"{name}_high": np.full(len(p), 0.6) for name in ("ci", "mass", "margin")}
    scores |= {"p": np.array(p), **dict(zip(GRADED, corrected, strict=True))}
    return SimulatedQuestion(scores, Split({}, {}), corrected, np.array(grade), verdict)


def truth(*leads: list[float], accuracy: list[float] | None = None) -> Truth:
    """True leads for as many grades as there are lists."""
    values, rows = np.array(accuracy or [0.5] * len(leads[0])), np.full((3, len(leads[0])), np.nan)
    rows[: len(leads)] = leads
    return Truth(values, values, rows)


CELL = SandboxCell(Pool(0, {}, {}, {}, {}), 5, {})


def test_false_finds_are_those_of_heads_whose_true_lead_is_no_more_than_the_margin() -> None:
    """A: of three null heads the first has a grade, by the border exactly; D has none.

    B: its true head has the second grade by right, its two null heads have none. C has no null head of the first grade,
    and all of the second.
    """
    run = {
        A: judged([0.01, 0.04, 0.5, 0.01], [[0.02, 0.06, 0.5, 0.02]], [1, 0, 0, 1]),
        B: judged([0.06, 0.5, 0.001, 0.7], [[0.2, 0.5, 0.001, 0.7], [0.9, 0.9, 0.01, 0.9]], [0, 0, 2, 0]),
        C: judged([0.01] * 4, [[0.01] * 4, [0.04, 0.2, 0.2, 0.2]], [2, 1, 1, 1]),
        D: judged([0.5] * 4, [[0.5] * 4], [0] * 4),
    }
    truths = {
        A: truth([0.05, -0.1, -0.3, 0.2]),
        B: truth([-0.2, 0.05, 0.1, 0.3], [-0.2, 0, 0.1, 0.06]),
        C: truth([0.1] * 4, [0.05] * 4),
        D: truth([0] * 4),
    }
    counts = RunCounts()
    count_false(CELL, truths, run, counts)
    assert counts.values == {
        ("family-wise within a label, grade 1",): [1 / 3],
        ("any false find in a run, grade 1",): [1],
        ("labels with a false find, of labels with a find, grade 1",): [1 / 3],
        ("family-wise within a label, grade 2",): [1 / 2],
        ("any false find in a run, grade 2",): [1],
        ("labels with a false find, of labels with a find, grade 2",): [1 / 2],
        ("per head, uncorrected",): [2 / 9],
    }


def test_no_is_wrong_where_some_head_has_the_lead_the_border_included() -> None:
    run = {
        A: judged([0.5], [[0.5]], [0], "no"),
        B: judged([0.5], [[0.5]], [0], "undecided"),
        C: judged([0.5], [[0.5]], [0], "no"),
        D: judged([0.5], [[0.5]], [0], ""),
    }
    truths = {A: truth([0.05]), B: truth([0.3]), C: truth([0.049]), D: truth([0.3])}
    counts = RunCounts()
    count_equivalence(CELL, truths, run, counts)
    assert counts.values == {("no, where a head has the lead",): [1 / 2], ("no, where no head has the lead",): [1]}


def test_coverage_is_the_share_of_heads_whose_margin_interval_holds() -> None:
    counts = RunCounts()
    run = {A: judged([0.5] * 4, [[0.5] * 4], [0] * 4), B: judged([0.5], [[0.5]], [0])}
    count_coverage(CELL, {A: truth([0.39, 0.4, 0.6, 0.61]), B: truth([0.5])}, run, counts)
    assert counts.values == {("margin",): [0.75]}


def test_power_and_coverage_are_those_of_planted_heads() -> None:
    """Their intervals go from 0.4 to 0.6; a true accuracy of 1 cannot be missed and does not count, a margin does."""
    run = {A: judged([0.01] * 2, [[0.01] * 2], [0, 2])}
    truths = {A: truth([-0.1, 0.5], accuracy=[0.7, 1.0]), B: truth([0.1, 0.1])}
    planted = {"one": (A, 0), "two": (A, 1), "not asked": (B, 0)}
    counts, higher = RunCounts(), RunCounts()
    count_power(SandboxCell(CELL.pool, 5, planted), truths, run, counts)
    assert counts.values == {
        ("graded", "one"): [0],
        ("items", "one"): [30],
        ("estimate", "one"): [0.5],
        ("accuracy", "one"): [0],
        ("mass", "one"): [0],
        ("margin", "one"): [0],
        ("graded", "two"): [1],
        ("items", "two"): [30],
        ("estimate", "two"): [0.5],
        ("margin", "two"): [1],
        ("graded", "not asked"): [0],
        ("items", "not asked"): [0],
    }
    count_power(SandboxCell(CELL.pool, 5, planted, grade=3), truths, run, higher)
    assert higher.values["graded", "two"] == [0], "the second grade is not the third"


def test_cells_are_simulated_in_parts_of_which_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five runs in tasks of two, for two cells that differ in size."""
    random = np.random.default_rng(0)
    n, hits = np.full(9, 10.0), random.integers(0, 10, (9, 2)).astype(float)
    sums, offset = (Sums.of_hits(tuple(range(9)), n, part, mass=part) for part in (hits, hits[:, :1]))
    pool = Pool(9, {A: sums}, {"offset": {A: offset}}, {}, {})
    cells = {size: SandboxCell(pool, size, {"one": (A, 1)}) for size in (4, 7)}
    seen: list[tuple[int, int]] = []

    def simulated(chunk: int) -> dict[Any, RunCounts]:
        monkeypatch.setattr("experiments.sandbox.cells.CHUNK", chunk)
        progress = lambda done, of: seen.append((done, of))  # noqa: E731
        return simulate_all(cells, 5, VerdictRule(), (0,), (count_power,), workers=1, progress=progress)

    parts, whole = simulated(2), simulated(5)
    assert seen == [(number, 6) for number in range(1, 7)] + [(1, 2), (2, 2)]
    for size in cells:
        assert parts[size].values == whole[size].values
        assert whole[size].values["items", "one"] == [10 * size] * 5
        assert len(whole[size].values["mass", "one"]) == 5
    assert whole[4].values["estimate", "one"] != whole[7].values["estimate", "one"]


def test_in_the_null_of_a_real_run_all_heads_are_at_the_margin_in_labels_that_enough_documents_ask() -> None:
    random = np.random.default_rng(0)

    def drawn(documents: int, rates: list[float]) -> Sums:
        n = np.full(documents, 10.0)
        return Sums.of_hits(tuple(range(documents)), n, random.binomial(10, rates, (documents, len(rates))) * 1.0)

    heads = {A: drawn(30, [0.2, 0.9]), B: drawn(19, [0.2, 0.9]), C: drawn(30, [0.2, 0.9])}
    split = Split(heads, {"offset": {A: drawn(30, [0.5]), B: drawn(19, [0.5])}})
    pool = real_null(split)
    assert (pool.documents, pool.sampled, [*pool.heads]) == (30, 30, [A]), "B is asked too rarely, C has no rival"
    np.testing.assert_allclose(pool.truth(A).margin, 0.05)
