"""The rule of before, for comparison: a head is above every baseline by sign flips, and by ten points as measured."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from probes.evidence.simulation import SimulatedQuestion, baseline_grade
from probes.evidence.statistics import SignFlips, adjust
from probes.scoring.tally import Question

ALPHA, MARGIN, FLIPS = 0.05, 0.1, 999
"The adjusted p must be below the first, the estimated lead no less than the second."


def former_finds(judged: Mapping[Question, SimulatedQuestion], documents: int) -> dict[Question, npt.NDArray[np.bool_]]:
    """Return which heads of every question the former rule called specialised, [head].

    Labels of a run were one family, corrected as if they were independent.
    """
    flips, p_labels = _flips(documents), []
    for question, one in judged.items():
        heads, baselines = one.split.heads[question], one.split.baselines.items()
        beaten = [
            pooled[question].hits for name, pooled in baselines if baseline_grade(name) == 1 and question in pooled
        ]
        p_labels.append(flips.test(heads.clusters, heads.hits, np.concatenate(beaten, axis=1)).p_label)
    return {
        question: (p < ALPHA) & (one.scores["margin"] >= MARGIN - 1e-12)
        for (question, one), p in zip(judged.items(), adjust(p_labels, dependent=False), strict=True)
    }


@lru_cache(maxsize=4)
def _flips(documents: int) -> SignFlips:
    return SignFlips.draw(range(documents), FLIPS, seed=0)
