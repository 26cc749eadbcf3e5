import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.scoring.tally import Question
from probes.training.biography import GROUPS, Biography, Trajectory
from probes.training.onset import (
    ALL_SEEDS,
    OnsetRule,
    Ramps,
    Timeline,
    fit_ramps,
    head_onsets,
    interval,
    log_steps,
    timeline,
)

STEPS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)
RULE = OnsetRule()


def fit(curve: list[float] | np.ndarray, rule: OnsetRule = RULE) -> Ramps:
    return fit_ramps(STEPS, [curve], rule)


def ramp(start: int, done: int, low: float, high: float) -> np.ndarray:
    place, ends = log_steps(STEPS), log_steps((start, done))
    return low + (high - low) * np.clip((place - ends[0]) / (ends[1] - ends[0]), 0, 1)


def test_a_ramp_is_found_again() -> None:
    found = fit(ramp(4, 64, 0.1, 0.7))
    assert found.onset[0] == pytest.approx(math.sqrt(5 * 65) - 1)
    assert (found.after[0], found.by[0]) == (16, 32)


@given(st.integers(0, 8), st.data())
def test_every_ramp_between_two_checkpoints_is_found_again(first: int, data: st.DataObject) -> None:
    last = data.draw(st.integers(first + 1, 9))
    found = fit(ramp(STEPS[first], STEPS[last], -0.2, 0.4))
    assert found.onset[0] == pytest.approx(math.sqrt((STEPS[first] + 1) * (STEPS[last] + 1)) - 1)


def test_what_comes_after_the_peak_does_not_matter() -> None:
    rise = [0.0] * 5 + [0.5]
    stays, falls = (fit([*rise, *rest]) for rest in ([0.5] * 4, [0.3, 0.1, 0.0, -0.2]))
    assert stays.onset[0] == falls.onset[0]


@pytest.mark.parametrize(
    ("curve", "why"),
    [
        ([0.3] * 10, "it was there from the start"),
        ([0.0] * 5 + [0.09] * 5, "it rises too little"),
        ([-0.6] * 5 + [0.05] * 5, "it arrives too low"),
        ([0.5] * 5 + [0.0] * 5, "it falls"),
    ],
)
def test_no_onset_where_a_curve_does_not_rise_to_the_level(curve: list[float], why: str) -> None:
    found = fit(curve)
    for time in (found.onset, found.after, found.by):
        assert time[0] == math.inf, why


def test_a_curve_without_numbers_has_no_onset_but_nan() -> None:
    found = fit_ramps(STEPS, [[math.nan] * 10, [0.0] * 5 + [0.5] * 5], OnsetRule())
    assert np.isnan([found.onset[0], found.after[0], found.by[0]]).all()
    assert found.by[1] == 16


def test_an_interval_reaches_from_the_checkpoint_before_to_the_one_after() -> None:
    assert interval([8.0] * 50, [16.0] * 50) == (8, 16)
    after, by = [8.0] * 90 + [16.0] * 10, [16.0] * 90 + [32.0] * 10
    assert interval(after, by) == (8, 32)
    assert interval(after, by, level=0.5) == (8, 16)


def test_an_interval_is_open_where_many_resamples_have_no_onset() -> None:
    assert interval([8.0] * 90 + [math.inf] * 10, [16.0] * 90 + [math.inf] * 10) == (8, math.inf)
    assert all(math.isnan(end) for end in interval([math.nan], [math.nan]))


CHECKPOINTS = (0, 1, 2, 4, 8, 16, 32, 64)
PREVIOUS = ("position", "other words", "previous")
NEXT = ("position", "other words", "next")
OBJ = ("dependency", "dependent->head", "obj")
SLICE = ("dependency", "dependent->head", "all")
NEVER = 10**9


def planted(comes: Mapping[Question, int], seed: int = 0, strength: float = 0.9) -> Biography:
    """Return a biography of 4 heads; head 2 gets each role at its step, all else is right by chance (0.3, as is the
    baseline) in 40 groups of 20 items."""
    random, told = np.random.default_rng(seed), {}
    for question, step in comes.items():
        n, beaten, hits = np.zeros(GROUPS), np.zeros(GROUPS), np.zeros((len(CHECKPOINTS), GROUPS, 4), np.float32)
        n[:40], beaten[:40] = 20, random.binomial(20, 0.3, 40)
        hits[:, :40] = random.binomial(20, 0.3, (len(CHECKPOINTS), 40, 4))
        knows = np.array(CHECKPOINTS) >= step
        hits[knows, :40, 2] = random.binomial(20, strength, (knows.sum(), 40))
        told[question] = Trajectory(n, hits, np.zeros((len(CHECKPOINTS), 4)), "offset", beaten)
    return Biography(seed, CHECKPOINTS, tuple(100 * step for step in CHECKPOINTS), "c", 2, 2, told)


def found(*biographies: Biography, rule: OnsetRule | None = None) -> Timeline:
    return timeline(biographies, rule or OnsetRule(), replicates=60, seed=5)


def row(frame: pd.DataFrame, question: Question, seed: int = 0) -> dict[str, object]:
    same = (frame[["probe", "variant", "label"]] == list(question)).all(axis=1) & (frame["seed"] == seed)
    (only,) = frame[same].to_dict("records")
    return only


@pytest.fixture(scope="module")
def one() -> Timeline:
    return found(planted({PREVIOUS: 4, NEXT: 4, OBJ: 32, SLICE: NEVER}))


@pytest.fixture(scope="module")
def three() -> Timeline:
    steps = ((4, 16), (4, 16), (8, NEVER))
    return found(*(planted({PREVIOUS: a, OBJ: b}, seed) for seed, (a, b) in enumerate(steps)))


def test_onsets_are_the_planted_ones(one: Timeline) -> None:
    for question, after, by in ((PREVIOUS, 2, 4), (NEXT, 2, 4), (OBJ, 16, 32)):
        told = row(one.onsets, question)
        assert (told["after"], told["by"], told["low"], told["high"]) == (after, by, after, by)
        assert (told["with_onset"], told["onset_share"], told["n"]) == (1, 1.0, 800)
        assert told["first_margin"] == pytest.approx(0, abs=0.06)
        assert told["last_margin"] == pytest.approx(0.6, abs=0.06)
        assert (told["best_head"], told["peak_head"]) == ("2-1", "2-1")


def test_what_never_comes_has_no_onset(one: Timeline) -> None:
    told = row(one.onsets, SLICE)
    assert (told["with_onset"], told["onset"], told["onset_share"], told["role"]) == (0, math.inf, 0.0, False)


def test_the_order_has_its_share_of_resamples(one: Timeline) -> None:
    shares = {(pair.one, pair.other): pair.share for pair in one.order.itertuples()}
    assert shares["next (other words)", "obj (dependent->head)"] == 1
    assert shares["positional", "syntactic"] == 1
    assert shares["next (other words)", "previous (other words)"] == 0.5, "the same jump: ties count half"
    assert not any("all" in name for pair in shares for name in pair), "labels that pool others are not ordered"


def test_curves_are_those_of_the_best_heads(one: Timeline) -> None:
    rows = one.curves[one.curves.label == "obj"]
    assert rows.step.tolist() == list(CHECKPOINTS)
    assert (rows.name[rows.step >= 32] == "2-1").all()
    assert ((rows.low <= rows.margin) & (rows.margin <= rows.high)).all()
    assert rows.margin.iloc[-1] == pytest.approx(row(one.onsets, OBJ)["last_margin"])


def test_over_seeds_the_onset_is_the_median_and_its_interval_reaches_to_other_seeds(three: Timeline) -> None:
    told = row(three.onsets, PREVIOUS, ALL_SEEDS)
    assert (told["seeds"], told["with_onset"], told["after"], told["by"]) == (3, 3, 2, 4)
    assert (told["low"], told["high"]) == (2, 8)
    late = row(three.onsets, OBJ, ALL_SEEDS)
    assert (late["with_onset"], late["by"], late["high"]) == (2, 16, math.inf)
    assert 0.5 < late["onset_share"] < 1
    assert late["best_head"] == ""
    assert len(three.onsets) == 3 * 2 + 2


def test_every_head_has_its_onset() -> None:
    table = head_onsets(planted({PREVIOUS: 4, SLICE: NEVER}), OnsetRule())
    assert table[["label", "layer", "head", "name", "after", "by"]].to_dict("records") == [
        {"label": "previous", "layer": 1, "head": 0, "name": "2-1", "after": 2.0, "by": 4.0}
    ]
