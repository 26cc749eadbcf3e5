"""What is counted of simulated runs, and that none is lost."""

from typing import Any

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from experiments.sandbox.cells import RunCounts, SandboxCell, count_false, count_power, simulate_all
from probes.evidence.question import Effort, Evidence
from probes.evidence.simulation import Pool, SimulatedQuestion, Truth
from probes.evidence.statistics import VerdictRule
from probes.scoring.tally import Question, Sums

A: Question = ("dependency", "v", "a")
B: Question = ("dependency", "v", "b")
C: Question = ("dependency", "v", "c")


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


def test_what_was_never_counted_has_no_rate() -> None:
    assert np.isnan([*RunCounts().rate(("nothing",)).values()]).all()


def test_counts_of_parts_add_up() -> None:
    one, other = RunCounts(), RunCounts()
    one.add(("key",), 1)
    other.add(("key",), False)
    one.update(other)
    assert one.rate(("key",)) == counted(1, 0)


def judged(p: list[float], p_label: list[float], p_adjusted: list[float], specialised: list[bool]) -> SimulatedQuestion:
    """One question of a run in which all heads have the interval from 0.4 to 0.6, of accuracy, mass and margin."""
    heads, interval = np.full(len(p), 0.5), np.repeat([[0.4], [0.6]], len(p), axis=1)
    evidence = Evidence(
        n=30,
        clusters=5,
        accuracy=heads,
        accuracy_interval=interval,
        mass=heads,
        mass_interval=interval,
        coverage=heads,
        near_ties=heads,
        stability=heads,
        baseline="offset",
        baseline_accuracy=0.3,
        margin=heads,
        margin_interval=interval,
        lexical_accuracy=np.nan,
        lexical_interval=interval,
        rule="",
        rule_accuracy=np.nan,
        rule_interval=interval,
        p=np.array(p),
        p_label=np.array(p_label),
    )
    return SimulatedQuestion(evidence, np.array(p_adjusted), np.array(specialised))


def truth(margin: list[float], accuracy: list[float] | None = None) -> Truth:
    values = np.array(accuracy or [0.5] * len(margin))
    return Truth(values, values, np.array(margin))


CELL = SandboxCell(Pool(0, {}, {}, {}, {}), 5, {})


def test_false_finds_are_those_of_heads_without_a_true_margin() -> None:
    """Question A: of its three null heads two are called by themselves, one after correction, and is specialised.

    B: its true head is found, its two null heads are not. C has no null head.
    """
    run = {
        A: judged([0.01, 0.04, 0.5, 0.01], [0.02, 0.06, 0.5, 0.02], [0.03, 0.1, 0.5, 0.03], [True, False, False, True]),
        B: judged([0.06, 0.5, 0.001, 0.7], [0.2, 0.5, 0.001, 0.7], [0.3, 0.5, 0.01, 0.7], [False, False, False, False]),
        C: judged([0.01] * 4, [0.01] * 4, [0.04] * 4, [True] * 4),
    }
    truths = {A: truth([0, -0.1, -0.3, 0.2]), B: truth([-0.2, 0, 0.1, 0.3]), C: truth([0.1] * 4)}
    counts = RunCounts()
    count_false(CELL, truths, run, counts)
    assert counts.values == {
        ("per head, uncorrected",): [2 / 5],
        ("family-wise within a label",): [1 / 2],
        ("any false find in a run",): [1],
        ("labels with a false find, of labels with a find",): [1 / 3],
        ("false heads, of heads found",): [1 / 7],
        ("any head falsely called specialised in a run",): [1],
    }


def test_a_run_without_finds_has_no_false_ones() -> None:
    counts = RunCounts()
    count_false(CELL, {A: truth([0, 0.2])}, {A: judged([0.5] * 2, [0.5] * 2, [0.5] * 2, [False] * 2)}, counts)
    assert {value for values in counts.values.values() for value in values} == {0}


def test_power_and_coverage_are_those_of_planted_heads() -> None:
    """Their intervals go from 0.4 to 0.6; a true accuracy of 1 cannot be missed and does not count, a margin does."""
    run = {A: judged([0.01] * 2, [0.01] * 2, [0.06, 0.04], [False, True])}
    truths = {A: truth([-0.1, 0.5], [0.7, 1.0]), B: truth([0.1, 0.1])}
    cell = SandboxCell(CELL.pool, 5, {"one": (A, 0), "two": (A, 1), "not asked": (B, 0)})
    counts = RunCounts()
    count_power(cell, truths, run, counts)
    assert counts.values == {
        ("specialised", "one"): [0],
        ("significant", "one"): [0],
        ("items", "one"): [30],
        ("estimate", "one"): [0.5],
        ("accuracy", "one"): [0],
        ("mass", "one"): [0],
        ("margin", "one"): [0],
        ("specialised", "two"): [1],
        ("significant", "two"): [1],
        ("items", "two"): [30],
        ("estimate", "two"): [0.5],
        ("margin", "two"): [1],
        ("specialised", "not asked"): [0],
        ("significant", "not asked"): [0],
        ("items", "not asked"): [0],
    }


def test_cells_are_simulated_in_parts_of_which_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five runs in tasks of two, for two cells that differ in size."""
    random = np.random.default_rng(0)
    n, hits = np.full(9, 10.0), random.integers(0, 10, (9, 2)).astype(float)
    sums, offset = (Sums(tuple(range(9)), n, part, part, part, part) for part in (hits, hits[:, :1]))
    pool = Pool(9, {A: sums}, {"offset": {A: offset}}, {}, {})
    cells = {size: SandboxCell(pool, size, {"one": (A, 1)}) for size in (4, 7)}
    seen: list[tuple[int, int]] = []

    def simulated(chunk: int) -> dict[Any, RunCounts]:
        monkeypatch.setattr("experiments.sandbox.cells.CHUNK", chunk)
        progress = lambda done, of: seen.append((done, of))  # noqa: E731
        return simulate_all(cells, 5, Effort(20, 19), VerdictRule(), (0,), (count_power,), workers=1, progress=progress)

    parts, whole = simulated(2), simulated(5)
    assert seen == [(number, 6) for number in range(1, 7)] + [(1, 2), (2, 2)]
    for size in cells:
        assert parts[size].values == whole[size].values
        assert whole[size].values["items", "one"] == [10 * size] * 5
    assert whole[4].values["estimate", "one"] != whole[7].values["estimate", "one"]
