import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.training.onset import OnsetRule, Ramps, fit_ramps, interval, log_steps

STEPS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)
RULE = OnsetRule()


def fit(curve: list[float] | np.ndarray, rule: OnsetRule = RULE) -> Ramps:
    return fit_ramps(STEPS, [curve], rule)


def ramp(start: int, done: int, low: float, high: float) -> np.ndarray:
    place, ends = log_steps(STEPS), log_steps((start, done))
    return low + (high - low) * np.clip((place - ends[0]) / (ends[1] - ends[0]), 0, 1)


def test_a_ramp_is_found_again_with_its_ends_and_levels() -> None:
    found = fit(ramp(4, 64, 0.1, 0.7))
    assert (found.start[0], found.done[0]) == (pytest.approx(4), pytest.approx(64))
    assert found.onset[0] == pytest.approx(math.sqrt(5 * 65) - 1)
    assert (found.after[0], found.by[0]) == (16, 32)
    assert (found.low[0], found.high[0]) == (pytest.approx(0.1), pytest.approx(0.7))


@given(st.integers(0, 8), st.data())
def test_every_ramp_between_two_checkpoints_is_found_again(first: int, data: st.DataObject) -> None:
    last = data.draw(st.integers(first + 1, 9))
    found = fit(ramp(STEPS[first], STEPS[last], -0.2, 0.4))
    assert (found.start[0], found.done[0]) == (pytest.approx(STEPS[first]), pytest.approx(STEPS[last]))


def test_what_comes_after_the_peak_does_not_matter() -> None:
    rise = [0.0] * 5 + [0.5]
    stays, falls = (fit([*rise, *rest]) for rest in ([0.5] * 4, [0.3, 0.1, 0.0, -0.2]))
    assert stays.onset[0] == falls.onset[0]
    assert falls.high[0] == pytest.approx(0.5)


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
    for time in (found.onset, found.start, found.done, found.after, found.by):
        assert time[0] == math.inf, why


def test_a_curve_without_numbers_has_no_onset_but_nan() -> None:
    found = fit_ramps(STEPS, [[math.nan] * 10, [0.0] * 5 + [0.5] * 5], OnsetRule())
    assert np.isnan([found.onset[0], found.after[0], found.by[0], found.low[0]]).all()
    assert found.by[1] == 16


def test_an_interval_reaches_from_the_checkpoint_before_to_the_one_after() -> None:
    assert interval([8.0] * 50, [16.0] * 50) == (8, 16)
    after, by = [8.0] * 90 + [16.0] * 10, [16.0] * 90 + [32.0] * 10
    assert interval(after, by) == (8, 32)
    assert interval(after, by, level=0.5) == (8, 16)


def test_an_interval_is_open_where_many_resamples_have_no_onset() -> None:
    assert interval([8.0] * 90 + [math.inf] * 10, [16.0] * 90 + [math.inf] * 10) == (8, math.inf)
    assert all(math.isnan(end) for end in interval([math.nan], [math.nan]))
