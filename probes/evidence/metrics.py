"""Other metrics for the same questions: beside accuracy, mass, the rank of gold and the area under the curve."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from mha.batches import collate
from mha.models.model import Model
from mha.parallel import in_order
from probes.corpora.corpus import Texts
from probes.evidence.results import named_heads
from probes.registry import Probe
from probes.scoring.aligned import Aligned, Dropped
from probes.scoring.score import Settings, ask
from probes.scoring.scorer import TINY, allowed_keys
from probes.scoring.tally import Numbers, Question
from probes.targets import Items
from reports.tables.scores import METRICS as TABLE

METRICS = ("accuracy", "mass", "reciprocal_rank", "auc")
"""Means over the items of a question, each in [0, 1], higher is better (mass may pass 1 for several golds of a column).

accuracy: whether the most attended candidate is gold, ties as a random choice would have it; attention on gold;
1 / rank of the best-ranked gold among the candidates, where ties give the rank that a random order has on average;
the chance that a gold key gets more attention than another candidate, ties half (Mann and Whitney's statistic)."""

CELLS = 1 << 21
"Attention values that are compared at a time."


@dataclass(frozen=True)
class Total:
    """The sums of one question."""

    n: Numbers
    "[metric] Number of items; fewer for auc, which takes another candidate to compare with."
    sums: Numbers
    "[metric, layer, head]"

    def __add__(self, other: Total) -> Total:
        return Total(self.n + other.n, self.sums + other.sums)


Totals = Mapping[Question, Total]


def score_metrics(
    model: Model,
    texts: Texts,
    probes: Sequence[Probe],
    settings: Settings,
    progress: Callable[[int], None] = lambda texts: None,
) -> pd.DataFrame:
    """Return the METRICS of every head on every question that `probes` ask of `texts`, labels pooled.

    One row a question and head, as `reports.tables.scores.METRICS` has them; NaN where no item has a number. Items that
    ask for broad attention have no gold key and are left out. "det:*" is left out where there is only one label to
    pool. What is dropped is what `probes.scoring.score.score_corpus` drops and counts. `progress` is called with the
    number of texts after each batch.
    """
    aligned = Aligned.of(model, texts)
    progress(len(texts) - len(aligned.kept))
    batches = aligned.batches(settings.batch_pieces)
    measure = partial(_measure, model, aligned, probes, settings)
    totals: dict[Question, Total] = {}
    for chosen, found in zip(batches, in_order(measure, batches, settings.workers), strict=True):
        for question, total in found.items():
            totals[question] = totals[question] + total if question in totals else total
        progress(len(chosen))
    frames = [_rows(question, total) for question, total in _pooled(totals, probes)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[*TABLE.names])


def _measure(
    model: Model, aligned: Aligned, probes: Sequence[Probe], settings: Settings, chosen: list[int]
) -> dict[Question, Total]:
    """Return the sums of one batch."""
    documents = aligned.texts.take([aligned.kept[i] for i in chosen])
    cut = [aligned.pieces[i] for i in chosen]
    groups = [group for group in ask(probes, documents, cut, Dropped()) if not group.spread]
    if not groups:
        return {}
    batch = collate(cut, reduce=settings.reduce, padding=model.padding)
    present = (batch.to_words > 0).any(1)
    asked = [[Lines.of(part, present) for part in chunks(group, present.shape[1] * model.heads)] for group in groups]
    shape = (len(METRICS), model.layers, model.heads)
    sums = [torch.zeros(len(group.labels), *shape, dtype=torch.float64) for group in groups]

    def see(layer: int, maps: Tensor) -> None:
        memory = laid_out(maps.cpu())
        for total, parts in zip(sums, asked, strict=True):
            for lines in parts:
                total[:, :, layer].index_add_(0, lines.label, lines.measure(memory))

    settings.stream(model, batch, see)
    return {
        (group.probe, group.variant, label): Total(_counts(parts, number), total[number].numpy())
        for group, parts, total in zip(groups, asked, sums, strict=True)
        for number, label in enumerate(group.labels)
    }


def laid_out(maps: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch query key head"]:
    """Return maps in the order of memory that suits `Lines`; attention below TINY is none, so that such keys tie."""
    memory = maps.permute(0, 2, 3, 1).contiguous()
    return memory.masked_fill(memory < TINY, 0)


def chunks(items: Items, width: int, cells: int = CELLS) -> Iterator[Items]:
    """Yield the items in parts with at most `cells` values to compare, `width` for each gold key, or of one item."""
    golds = np.bincount(items.gold[1], minlength=len(items))
    part = (np.cumsum(golds) - 1) // max(cells // width, 1)
    yield from map(items.take, np.split(np.arange(len(items)), np.flatnonzero(np.diff(part)) + 1))


@dataclass(frozen=True)
class Lines:
    """The row of each item, or its column, and what to compare in it."""

    text: Int[Tensor, " item"]
    query: Int[Tensor, " item"]
    label: Int[Tensor, " item"]
    by_column: bool
    gold: tuple[Int[Tensor, " pair"], Int[Tensor, " pair"]]
    "Gold keys and, ascending, the index of the item of each."
    others: Bool[Tensor, "item key"]
    "Candidates that are not gold."

    @classmethod
    def of(cls, items: Items, present: Bool[Tensor, "batch key"]) -> Lines:
        """Lay out items; `present` says which keys of each text have pieces, for others are no candidates."""
        text, query = torch.from_numpy(items.text), torch.from_numpy(items.query)
        gold = (torch.from_numpy(items.gold[0]), torch.from_numpy(items.gold[1]))
        others, words = present[text], np.full(len(present), present.shape[1] - 2)
        others &= torch.from_numpy(allowed_keys(tuple(others.shape), items, words))
        others[gold[1], gold[0]] = False
        return cls(
            text,
            query,
            torch.from_numpy(items.label),
            items.by_column,
            gold,
            others[:, :-2] if items.by_column else others,
        )

    def measure(self, memory: Float[Tensor, "batch query key head"]) -> Float[Tensor, "item metric head"]:
        """Return the METRICS of every item for all heads of a layer, in double precision; auc is 0 without others."""
        lines = memory[self.text, :, self.query] if self.by_column else memory[self.text, self.query]
        key, item = self.gold
        gold = lines[item, key]
        baselines = lines.masked_fill_(~self.others[:, :, None], -1)[item]
        compared = torch.empty_like(baselines)  # sums of numbers take a tenth of the time that those of bools take
        above = torch.gt(baselines, gold[:, None], out=compared).sum(1).double()
        same = torch.eq(baselines, gold[:, None], out=compared).sum(1).double()
        none = above.new_zeros(len(self.text), gold.shape[1])
        best = gold.new_zeros(none.shape).scatter_reduce(0, item[:, None].expand_as(gold), gold, "amax")
        first = (gold == best[item]).double()
        golds = none.index_add(0, item, first)
        above_best = none.index_add(0, item, above * first) / golds
        same_best = none.index_add(0, item, same * first) / golds
        hits = ((above_best == 0) & (best > 0)) * golds / (golds + same_best)
        mass = none.index_add(0, item, gold.double())
        # the first of g golds in a random order of m ties stands at (m + 1) / (g + 1) on average
        rank = above_best + (golds + same_best + 1) / (golds + 1)
        pairs = self.others.sum(1)[:, None] * torch.bincount(item, minlength=len(self.text))[:, None]
        below = self.others.sum(1)[item, None] - above - same / 2
        auc = none.index_add(0, item, below) / pairs.clamp(min=1)
        return torch.stack([hits, mass, 1 / rank, auc], 1)


def _counts(parts: Sequence[Lines], label: int) -> Numbers:
    """Return the number of items [metric] of a label."""
    chosen = torch.cat([lines.label == label for lines in parts])
    compared = torch.cat([lines.others.any(1) for lines in parts])
    n = int(chosen.sum())
    return np.array([n, n, n, int((chosen & compared).sum())], np.float64)


def _pooled(totals: Totals, probes: Sequence[Probe]) -> Iterator[tuple[Question, Total]]:
    """Yield the sums of every label, pooled labels included, sorted."""
    by_name = {probe.name: probe for probe in probes}
    parts: dict[Question, list[Total]] = {}
    for (probe, variant, label), total in sorted(totals.items(), key=lambda one: one[0]):
        for pooled in by_name[probe].pool(label):
            parts.setdefault((probe, variant, pooled), []).append(total)
    for question in sorted(parts):
        first, *others = parts[question]
        if others or not question[2].endswith(":*"):
            yield question, sum(others, first)


def _rows(question: Question, total: Total) -> pd.DataFrame:
    layers, heads = total.sums.shape[1:]
    sums = total.sums.reshape(len(METRICS), -1)
    means = [part / n if n else np.full(len(part), np.nan) for part, n in zip(sums, total.n, strict=True)]
    columns: dict[str, object] = {"probe": question[0], "label": question[2], "variant": question[1]}
    columns |= named_heads((layers, heads)) | {"n": int(total.n[0]), **dict(zip(METRICS, means, strict=True))}
    return pd.DataFrame(columns)[[*TABLE.names]]
