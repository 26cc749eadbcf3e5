"""Paired tests of single heads against the embedding and untrained heads, on pairs of related words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import pandas as pd
from jaxtyping import Float32

from mha.models.model import Model
from mha.parallel import in_processes
from probes.evidence.results import named_heads
from probes.evidence.statistics import Bootstrap
from probes.trained.codelength import compression
from probes.trained.pair_attention import attention_between
from probes.trained.probing import ClassifierScores, Given, Posed, Probing, judge
from probes.trained.selectivity import accuracy_beside_control, lead_columns

FEATURES: Final = ("attention", "outputs")
"The two attention values of a head between two words, or what it gives to both before W_O, and their product."

Attention = Float32[np.ndarray, "_pair _head 2"]


@dataclass(frozen=True)
class PairScores:
    """What classifiers of one task achieved on one kind of features of one model."""

    heads: tuple[ClassifierScores, ...]
    together: ClassifierScores
    "Given all heads at once: the ceiling."
    embedding: ClassifierScores
    "Given the embeddings of both words."


@dataclass(frozen=True)
class PairProbing:
    """Tasks about pairs of words, with all that a model gives to them."""

    probing: Probing
    attention: Mapping[str, tuple[Attention, Attention]]
    "By task, on both splits."

    @classmethod
    def of(cls, probing: Probing, model: Model) -> PairProbing:
        """Read the attention between the pairs of `probing`, whose words `model` has read."""
        attention = {}
        for one in probing.posed:
            first, second = (
                attention_between(model, texts, side.cells, probing.settings)
                for texts, side in zip(probing.aligned, (one.select, one.report), strict=True)
            )
            attention[one.task.name] = (first, second)
        return cls(probing, attention)

    def judge(self, workers: int, step: Callable[[], None], *, coded: bool = True) -> dict[tuple[str, str], PairScores]:
        """Return what classifiers achieve, by task and kind of features; `step` is called after each classifier."""
        found = {}
        for one in self.probing.posed:
            posed, ends = ((one.select, one.report), len(one.labels)), one.ends if coded else None
            for kind in FEATURES:
                heads = ((*given, *posed, ends) for given in self._given(one, kind))
                wholes = (self._together(one, kind), self.probing.read.embeddings(one))
                judged = []
                for scores in in_processes(judge, chain(heads, ((*given, *posed, None) for given in wholes)), workers):
                    judged.append(scores)
                    step()
                *single, together, embedding = judged
                found[one.task.name, kind] = PairScores(tuple(single), together, embedding)
        return found

    def _given(self, one: Posed, kind: str) -> Iterator[tuple[Given, Given]]:
        """Yield what each head gives to the pairs of a task, on both splits."""
        if kind == "outputs":
            yield from self.probing.read.heads(one)
            return
        first, second = self.attention[one.task.name]
        for head in range(first.shape[1]):
            yield first[:, None, head], second[:, None, head]

    def _together(self, one: Posed, kind: str) -> tuple[Given, Given]:
        if kind == "outputs":
            return self.probing.read.together(one)
        first, second = (values.reshape(len(values), 1, -1) for values in self.attention[one.task.name])
        return first, second


def pair_table(
    pairs: PairProbing,
    scores: Mapping[tuple[str, str], PairScores],
    untrained: Mapping[tuple[str, str], PairScores] | None,
    *,
    model: Model,
    replicates: int,
    seed: int,
) -> pd.DataFrame:
    """Return a row a task, kind of features and head, in the columns of pairs.parquet without those of the run.

    The head is selected by the shortest code on the selection split; accuracies and leads are those on the report
    split. `untrained` are the scores of a model with randomly initialised weights: each head is compared with the one
    in its place. NaN without them.
    """
    frames = []
    for one in pairs.probing.posed:
        for kind in FEATURES:
            found = scores[one.task.name, kind]
            other = None if untrained is None else untrained[one.task.name, kind]
            rows = {"task": one.task.name, "features": kind} | named_heads((model.layers, model.heads))
            frames.append(pd.DataFrame(rows | _columns(one, found, other, replicates, seed)))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _columns(one: Posed, found: PairScores, fresh: PairScores | None, replicates: int, seed: int) -> dict[str, object]:
    """Return the measured columns of all heads."""
    n, blocks = len(one.select.clusters), one.report.clusters
    bits = np.array([head.bits[0] for head in found.heads])
    hits = np.stack([head.hits for head in found.heads], 2)
    bootstrap = Bootstrap.draw(tuple(np.unique(blocks).tolist()), replicates, seed)
    columns = {"n_select": n, "codelength": bits, "selected": np.arange(len(bits)) == bits.argmin()}
    columns["compression"] = [compression(n, len(one.labels), value) for value in bits]
    columns |= accuracy_beside_control(blocks, hits, bootstrap)
    columns |= lead_columns("embedding", blocks, hits[0], found.embedding.hits[0][:, None])
    columns |= {"embedding_accuracy": found.embedding.means[0], "together_accuracy": found.together.means[0]}
    unknown = np.full(hits.shape[1:], np.nan)
    baselines = unknown if fresh is None else np.stack([head.hits[0] for head in fresh.heads], 1)
    columns |= lead_columns("random", blocks, hits[0], baselines) | {"random_accuracy": baselines.mean(0)}
    for name in ("embedding", "together"):
        columns[f"random_{name}_accuracy"] = np.nan if fresh is None else getattr(fresh, name).means[0]
    return columns
