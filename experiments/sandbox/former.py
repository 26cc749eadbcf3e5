"""The rule of before, for comparison: a head is above every baseline by sign flips, and by ten points as measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from probes.evidence.simulation import SimulatedQuestion, rival_grade
from probes.evidence.statistics import SignFlips
from probes.scoring.tally import Numbers, Question

ALPHA, MARGIN, FLIPS = 0.05, 0.1, 1999
"The adjusted p must be below the first, the estimated lead no less than the second."


def former_finds(judged: Mapping[Question, SimulatedQuestion], documents: int) -> dict[Question, npt.NDArray[np.bool_]]:
    """Return which heads of every question the former rule called specialised, [head]."""
    flips, p_labels = _flips(documents), []
    for question, one in judged.items():
        heads, baselines = one.split.heads[question], one.split.baselines.items()
        beaten = [pooled[question].hits for name, pooled in baselines if rival_grade(name) == 1 and question in pooled]
        p_labels.append(flips.test(heads.clusters, heads.hits, np.concatenate(beaten, axis=1)).p_label)
    return {
        question: (p < ALPHA) & (one.evidence.margin >= MARGIN - 1e-12)
        for (question, one), p in zip(judged.items(), adjust_independent(p_labels), strict=True)
    }


@lru_cache(maxsize=4)
def _flips(documents: int) -> SignFlips:
    return SignFlips.draw(range(documents), FLIPS, seed=0)


def adjust_independent(families: Sequence[Numbers]) -> list[Numbers]:
    """Return the p-values of heads, corrected within their label, corrected once more for all labels of a run.

    Labels are selected by Benjamini and Hochberg (1995) on their smallest p, as if they were independent; heads are
    held to the selected share of the level (Benjamini and Bogomolov 2014). NaN stays and does not count.
    """
    from scipy import stats

    least = np.array([np.min(family) for family in families])
    tested = np.sort(least[np.isfinite(least)])
    labels = np.arange(1, len(tested) + 1)
    selected = stats.false_discovery_control(tested, method="bh") if len(tested) else tested
    price = len(tested) / labels
    return [
        np.minimum(np.maximum(family[:, None] * price, selected).min(1, initial=1), 1)
        if np.isfinite(family).all()
        else family
        for family in families
    ]
