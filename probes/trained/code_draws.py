"""How short labels can be coded, drawn anew: other examples, another order of coding, another control task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from mha.models.model import Model
from mha.parallel import in_processes
from probes.evidence.results import named_heads
from probes.scoring.aligned import Aligned, Dropped
from probes.scoring.score import Settings
from probes.trained.codelength import block_ends, compression, online_codelength
from probes.trained.head_vectors import HeadVectors
from probes.trained.probing import Given, Labelled, features, labels_of
from probes.trained.tasks import ProbingTask, sample_examples

WORDS = 20_000
"""Words whose vectors are kept at a time, or those of one draw where they are more: 4 bytes x words x heads x
head_dim, 737 MB of BERT base."""

CODED = ("compression", "control_compression")
"What a code says of a head, in the task and in its control task."


def code_draws(
    model: Model,
    texts: Aligned,
    tasks: Sequence[ProbingTask],
    settings: Settings,
    *,
    most: int,
    draws: int,
    seed: int,
    workers: int,
    step: Callable[[], None],
) -> pd.DataFrame:
    """Code the labels of at most `most` examples a task, `draws` times, from what every head gives to their words.

    Each draw has examples, an order of coding and a control task of its own. `texts`, the selection split, are read for
    as many draws at once as ask about WORDS words. Returns a row a task, draw and head, in the columns of codes.parquet
    without those of the run. `step` is called after each of them.
    """
    frames = [pd.DataFrame()]
    together = max(1, WORDS // (2 * most * max(1, len(tasks))))
    for first in range(0, draws, together):
        numbers = range(first, min(first + together, draws))
        drawn = [_examples(texts, tasks, most, seed * draws + draw) for draw in numbers]
        cells = [side.cells.reshape(-1, 2) for sides in drawn for side, _ in sides.values()]
        read = HeadVectors.of(model, texts, np.concatenate(cells), settings)
        for draw, sides in zip(numbers, drawn, strict=True):
            for name, (side, classes) in sides.items():
                n, place = len(side.clusters), read.rows(side.cells)
                calls = ((read.outputs[:, head][place], side, classes) for head in range(read.outputs.shape[1]))
                short = []
                for bits in in_processes(code, calls, workers):
                    short.append([compression(n, classes, value) for value in bits])
                    step()
                rows = {"task": name, "draw": draw} | named_heads((model.layers, model.heads))
                frames.append(pd.DataFrame(rows | dict(zip(CODED, zip(*short, strict=True), strict=True))))
    return pd.concat(frames, ignore_index=True)


def _examples(texts: Aligned, tasks: Sequence[ProbingTask], most: int, seed: int) -> dict[str, tuple[Labelled, int]]:
    """Draw the examples of every task, in an order of coding, with the number of their classes."""
    counted = replace(texts, dropped=Dropped())  # what cannot be asked about was told when the tasks were posed
    samples = sample_examples(counted, tasks, most=most, seed=seed)
    asked = {name: sample.examples for name, sample in samples.items()}
    return {
        name: (Labelled.of(some, some, texts, seed).ordered(seed), len(labels_of(some))) for name, some in asked.items()
    }


def code(given: Given, side: Labelled, classes: int) -> list[float]:
    """Return the online codelengths of the labels of `side`, in the task and in its control task."""
    x, ends = features(given), block_ends(side.clusters)
    return [online_codelength(x, y, classes, ends) for y in side.labels]
