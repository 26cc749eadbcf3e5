"""Confusion among candidates in bits: how clearly attention picks the gold (Lin, Tan and Frank 2019, section 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from torch import Tensor

from mha.batches import Batch
from probes.evidence.statistics import Bootstrap
from probes.records import Document, IntArray
from probes.scoring.scorer import TINY
from probes.scoring.tally import Numbers, Pooled, Segments, Sums, Tally
from probes.syntax.distractors import GROUPS, NOUNS, Distractors
from probes.targets import Items, gather


class Confusion:
    """Measures the confusion of every head, and of every layer's heads averaged, while heads are scored (an Observer).

    The attention from a verb or reflexive to each candidate noun group is renormalised over the candidates; confusion
    is -log2 of the right group's share, a mean over items: 0 bits where the right group has all, log2 of the number of
    candidates by chance (less, where a verb has several subjects). Attention below TINY counts as TINY, so that no item
    is infinite.
    """

    def __init__(self, layers: int, heads: int, blocks: Mapping[str, int]) -> None:
        """Measure heads of that many layers; `blocks` is the cluster block of every document id."""
        self.probe, self.blocks = Distractors(), blocks
        self.shape = (layers, heads + 1)
        self.tally = Tally(layers * (heads + 1) + 1, hits_alone=True)
        "Bits [layer * (head, then their mean)], and the bits of chance."

    def observe(self, documents: Sequence[Document], batch: Batch, items: Sequence[Items] = ()) -> _Observation:
        """Lay out the items of a batch."""
        targets = [self.probe.targets(document) for document in documents]
        groups, nouns = (
            gather(self.probe.name, name, [of_text[name] for of_text in targets]) for name in (GROUPS, NOUNS)
        )
        blocks = np.array([self.blocks[document.id] for document in documents], np.int64)
        return _Observation.of(groups, nouns, blocks, self.shape)

    def add(self, observation: _Observation) -> None:
        """Take in a batch."""
        if len(observation.items):
            self.tally.add_items(Segments.of([observation.items], observation.blocks), observation.bits[:, None])

    def sums(self) -> Pooled:
        """Return the sums of bits (as `hits`) by question, with pooled labels."""
        return dict(self.tally.pooled(lambda question: self.probe.pool(question[2])))


@dataclass
class _Observation:
    """Measures the items of one batch, layer after layer."""

    items: Items
    blocks: IntArray
    bits: Numbers
    "[item, layer * (head, mean), then chance]"
    shape: tuple[int, int]
    item: Tensor
    "[pair] Item of each pair of an item and a candidate word."
    right: Tensor
    "[pair] Whether the word is of the right group."
    text: IntArray
    query: IntArray
    key: IntArray

    @classmethod
    def of(cls, groups: Items, nouns: Items, blocks: IntArray, shape: tuple[int, int]) -> _Observation:
        assert not isinstance(groups.candidates, str)
        assert not isinstance(nouns.candidates, str)
        key, item = groups.candidates
        width = int(key.max(initial=0)) + 1
        right = np.isin(item * width + key, groups.gold[1] * width + groups.gold[0])
        bits = np.empty((len(groups), shape[0] * shape[1] + 1))
        every, mine = (np.bincount(item, minlength=len(groups)) for item in (nouns.candidates[1], nouns.gold[1]))
        bits[:, -1] = np.log2(every / mine)
        pairs = (groups.text[item], groups.query[item], key)
        return cls(groups, blocks, bits, shape, torch.from_numpy(item), torch.from_numpy(right), *pairs)

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Take the bits of a layer."""
        if not len(self.items):
            return
        heads = maps[self.text, :, self.query, self.key].cpu().double()
        values = torch.cat([heads, heads.mean(1, keepdim=True)], 1).clamp_(min=TINY)
        every = values.new_zeros(len(self.items), values.shape[1]).index_add_(0, self.item, values)
        mass = torch.zeros_like(every).index_add_(0, self.item[self.right], values[self.right])
        columns = slice(layer * self.shape[1], (layer + 1) * self.shape[1])
        self.bits[:, columns] = torch.log2(every / mass).numpy()


def confusion_table(
    select: Confusion, report: Confusion, splits: tuple[str, str], *, replicates: int, seed: int
) -> pd.DataFrame:
    """Return one row a label, split, layer and head, with an interval by cluster; head -1 is a layer's heads averaged.

    `selected` marks the head, and the layer's mean, of least confusion on the selection split.
    """
    frames = []
    both = [one.sums() for one in (select, report)]
    draws = [
        Bootstrap.draw(sorted({cluster for sums in pooled.values() for cluster in sums.clusters}), replicates, seed)
        for pooled in both
    ]
    layer, head = np.divmod(np.arange(select.shape[0] * select.shape[1]), select.shape[1])
    averaged = head == select.shape[1] - 1
    for question in sorted(set(both[0]) | set(both[1])):
        chosen = _least(both[0].get(question), averaged)
        for split, pooled, drawn in zip(splits, both, draws, strict=True):
            if question in pooled:
                columns = {"label": question[2], "layer": layer, "head": np.where(averaged, -1, head), "split": split}
                frames.append(pd.DataFrame(columns | _measured(pooled[question], drawn) | {"selected": chosen}))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _least(sums: Sums | None, averaged: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which head, and which mean of a layer, has the least confusion; none without a selection split."""
    chosen = np.zeros(len(averaged), bool)
    if sums is not None:
        bits = sums.hits[:, :-1].sum(0)
        for kind in (averaged, ~averaged):
            chosen[np.flatnonzero(kind)[bits[kind].argmin()]] = True
    return chosen


def _measured(sums: Sums, drawn: Bootstrap) -> dict[str, object]:
    n = float(sums.n.sum())
    means = sums.hits.sum(0) / n
    resamples = drawn.of(sums.clusters, sums.n)
    low, high = resamples.interval(resamples.means(sums.hits))
    told = {"confusion": means[:-1], "ci_low": low[:-1], "ci_high": high[:-1], "chance": means[-1]}
    return {"n": int(n), "clusters": len(sums.clusters)} | told
