"""How well models do minimal pairs, in one number: what is told of every checkpoint of a training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.config.config import Config
from mha import MaskedLM, Model
from probes.pairs.corpora import open_pairs
from probes.pairs.scores import decide


def grader(config: Config, model: Model) -> Callable[[Model], float] | None:
    """Return what tells the accuracy of models on the pairs of the first corpus that have attractors, in [0, 1].

    On all its pairs where none is said to have any. None where the config's [behaviour] names no pairs; raises
    ModelError for a model without a masked-LM head and CorpusError for pairs that are not there.
    """
    section = config.behaviour
    if not section.corpora:
        return None
    MaskedLM.of(model, config.seed)  # raises now what it would raise after all checkpoints
    first, *_ = [open_pairs(name, first=section.first, seed=section.seed) for name in section.corpora]

    def grade(model: Model) -> float:
        lm = MaskedLM.of(model, config.seed)
        made = decide(lm, first.stream(), method=section.method, batch_pieces=config.scoring.batch_pieces).made
        attracted = [one for one in made if one.kind.attractors]
        return float(np.mean([one.credit for one in attracted or made])) if made else float("nan")

    return grade
