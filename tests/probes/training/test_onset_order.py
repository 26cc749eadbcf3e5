"""Biographies whose heads get their roles at known checkpoints, with noise between groups of texts."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

from probes.scoring.tally import Question
from probes.training.biography import GROUPS, Biography, Course
from probes.training.onset import OnsetRule
from probes.training.onset_order import ALL_SEEDS, CURVES, HEAD_ONSETS, ONSETS, ORDER, Timeline, head_onsets, timeline

STEPS = (0, 1, 2, 4, 8, 16, 32, 64)
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
        n, beaten, hits = np.zeros(GROUPS), np.zeros(GROUPS), np.zeros((len(STEPS), GROUPS, 4), np.float32)
        n[:40], beaten[:40] = 20, random.binomial(20, 0.3, 40)
        hits[:, :40] = random.binomial(20, 0.3, (len(STEPS), 40, 4))
        knows = np.array(STEPS) >= step
        hits[knows, :40, 2] = random.binomial(20, strength, (knows.sum(), 40))
        told[question] = Course(n, hits, np.zeros((len(STEPS), 4)), "offset", beaten)
    return Biography(seed, STEPS, tuple(100 * step for step in STEPS), "c", 2, 2, told)


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
    assert tuple(one.onsets.columns) == ONSETS
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
    assert tuple(one.order.columns) == ORDER
    shares = {(pair.one, pair.other): pair.share for pair in one.order.itertuples()}
    assert shares["next (other words)", "obj (dependent->head)"] == 1
    assert shares["positional", "syntactic"] == 1
    assert shares["next (other words)", "previous (other words)"] == 0.5, "the same jump: ties count half"
    assert not any("all" in name for pair in shares for name in pair), "labels that pool others are not ordered"


def test_curves_are_those_of_the_best_heads(one: Timeline) -> None:
    assert tuple(one.curves.columns) == CURVES
    rows = one.curves[one.curves.label == "obj"]
    assert rows.step.tolist() == list(STEPS)
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
    assert tuple(table.columns) == HEAD_ONSETS
    assert table[["label", "layer", "head", "name", "after", "by"]].to_dict("records") == [
        {"label": "previous", "layer": 1, "head": 0, "name": "2-1", "after": 2.0, "by": 4.0}
    ]
