"""Invented curves of the heads between subject and verb."""

import math
from typing import Any

import pandas as pd
import pytest

from reports.biographies.agreement import agreement

STEPS = (0, 10, 100)
MARGINS = {
    ("all", "subject->verb", 0): (-0.4, 0.12, 0.05),
    ("all", "subject->verb", 1): (-0.4, 0.02, 0.11),
    ("all", "verb->subject", 0): (-0.4, -0.1, -0.2),
    ("all", "verb->subject", 1): (-0.4, -0.2, -0.1),
    ("attractors=1", "verb->subject", 0): (-0.3, 0.5, 0.5),
    ("attractors=0", "verb->subject", 0): (-0.3, 0.0, 0.0),
    ("distance=1", "verb->subject", 0): (-0.3, 0.9, 0.9),
    ("attractors>=2", "verb->subject", 0): (-0.3, 0.8, 0.8),
}
"Label, direction, seed -> margin of the best head at each step; the last label has few items."


def tables() -> dict[str, pd.DataFrame]:
    curves, scores = [], []
    for (label, direction, seed), margins in MARGINS.items():
        for step, margin in zip(STEPS, margins, strict=True):
            row: dict[str, Any] = {"probe": "agreement", "label": label, "variant": direction, "seed": seed}
            row |= {"step": step, "name": f"2-{1 + STEPS.index(step)}"}
            curves.append(row | {"margin": margin, "low": margin - 0.02, "high": margin + 0.02})
            n = 49 if label == "attractors>=2" else 200
            score = {"n": n, "accuracy": 0.5 + margin, "baseline": "offset", "baseline_accuracy": 0.5}
            score |= {"layer": 1, "head": STEPS.index(step)}
            scores.append(row | score | {"margin": math.nan, "excess": margin + 0.4})
            scores.append(row | score | {"name": "1-1", "margin": math.nan, "excess": 0.0, "accuracy": 0.0})
    other = {"probe": "position", "label": "all", "variant": "subject->verb", "seed": 0, "step": 0, "name": "2-1"}
    curves.append({**curves[0], **other, "margin": 0.99})
    scores.append({**scores[0], **other})
    return {"biography_curves": pd.DataFrame(curves), "biographies": pd.DataFrame(scores)}


def test_each_seed_is_told_at_its_best_and_at_its_last_step() -> None:
    found = agreement(tables(), 0.1)
    assert found is not None
    rows = {(one.label, one.direction, one.seed, one.when): one for one in found.followers}
    assert len(rows) == len(found.followers) == 2 * 6
    best, last = (rows["all", "subject->verb", 0, when] for when in ("best", "last"))
    assert (best.step, best.head, best.margin, best.low, best.high) == (10, "2-2", 0.12, 0.12 - 0.02, 0.12 + 0.02)
    assert (best.accuracy, best.baseline, best.baseline_accuracy) == (0.5 + 0.12, "offset", 0.5)
    assert (last.step, last.head, last.margin, last.n) == (100, "2-3", 0.05, 200)
    assert best.excess == pytest.approx(0.52)
    assert {one.label for one in found.followers} == {"all", "attractors=0", "attractors=1"}
    asked = {name: frame[frame["probe"] != "agreement"] for name, frame in tables().items()}
    assert agreement(asked, 0.1) is None


def test_a_sentence_says_in_how_many_seeds_a_head_follows_a_direction() -> None:
    found = agreement(tables(), 0.1)
    assert found is not None
    assert sorted(found.sentences) == [
        "subject->verb, all verbs: the best head is 10 points above the strongest baseline in 2 of 2 seeds at its best "
        "step, in 1 at the last; the highest margin is +12.0 points (head 2-2 of seed 0 at step 10, 62.0 % against "
        "50.0 % of the offset).",
        "verb->subject, all verbs: the best head is 10 points above the strongest baseline in 0 of 2 seeds at its best "
        "step, in 0 at the last; the highest margin is −10.0 points (head 2-2 of seed 0 at step 10, 40.0 % against "
        "50.0 % of the offset).",
        "verb->subject, attractors=1: the best head is 10 points above the strongest baseline in 1 of 1 seed at its "
        "best step, in 1 at the last; the highest margin is +50.0 points (head 2-2 of seed 0 at step 10, 100.0 % "
        "against 50.0 % of the offset).",
    ]
