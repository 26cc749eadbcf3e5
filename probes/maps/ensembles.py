"""Several heads together: the mean of their maps, of heads that are chosen one after the other on one split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from mha.batches import collate
from mha.models.model import Model
from mha.parallel import in_order
from probes.corpora.corpus import Texts
from probes.records import Document, IntArray
from probes.registry import Probe
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings, ask
from probes.scoring.scorer import TINY, allowed_keys
from probes.scoring.tally import Numbers, Question
from probes.targets import Items


@dataclass(frozen=True)
class Answers:
    """What maps hold for every candidate of every item of a question; a pair is an item and a candidate."""

    values: Tensor
    "[pair, head] Item by item."
    candidates: IntArray
    "[item] How many it has, 1 or more."
    gold: Tensor
    "[pair] Whether the candidate is right."
    cluster: IntArray
    "[item] Block of the cluster."

    def __len__(self) -> int:
        return len(self.cluster)

    def hits(self, values: Tensor) -> Numbers:
        """Return [item, map] for maps whose `values` are [pair, map], hits as in `probes.scoring.scorer.MEASURES`."""
        hits, first = np.zeros((len(self), values.shape[1])), np.cumsum(self.candidates) - self.candidates
        for count in np.unique(self.candidates).tolist():
            items = np.flatnonzero(self.candidates == count)
            pairs = torch.from_numpy((first[items, None] + np.arange(count)).ravel())
            shape = (len(items), count)
            hits[items] = _hits(values[pairs].view(*shape, -1), self.gold[pairs].view(shape)).numpy()
        return hits

    def take(self, items: IntArray) -> Answers:
        """Return the answers to these items, in this order."""
        count = self.candidates[items]
        first = np.cumsum(self.candidates)[items] - count
        pairs = torch.from_numpy(np.arange(count.sum()) + np.repeat(first - (np.cumsum(count) - count), count))
        return Answers(self.values[pairs], count, self.gold[pairs], self.cluster[items])

    def in_runs(self) -> Answers:
        """Return the same answers with items ordered by their number of candidates."""
        return self.take(np.argsort(self.candidates, kind="stable"))


def _hits(
    values: Float[Tensor, "item candidate map"], gold: Bool[Tensor, "item candidate"]
) -> Float[Tensor, "item map"]:
    """Return the hits of items that have as many candidates each."""
    best = values.amax(1, keepdim=True)
    right = gold[:, :, None] & (values >= best.clamp(min=TINY))
    return right.sum(1).double() / (values == best).sum(1)


Heads = Mapping[Question, Sequence[int] | None]
"What heads answer each question, as flat indices; None for all."


@dataclass(frozen=True)
class BatchAnswers:
    """What heads answer in one batch of texts."""

    documents: Sequence[Document]
    questions: Sequence[tuple[Question, Items, Answers]]


def stream_answers(
    model: Model, texts: Texts, probes: Sequence[Probe], heads: Heads, settings: Settings
) -> Iterator[BatchAnswers]:
    """Yield what heads answer to every question of `heads`, batch by batch.

    The texts are read once, and only what maps hold for candidates is kept.
    """
    aligned = Aligned.of(model, texts)
    blocks = aligned.blocks()
    asked = [probe for probe in probes if any(probe.name == question[0] for question in heads)]

    def read(chosen: list[int]) -> BatchAnswers:
        documents = texts.take([aligned.kept[i] for i in chosen])
        cut = [aligned.pieces[i] for i in chosen]
        groups = wanted_items(ask(asked, documents, cut, aligned.dropped), asked, heads)
        batch = collate(cut, reduce=settings.reduce, padding=model.padding)
        cells = [Cells.of(items, batch.words.numpy()) for _, items in groups]
        layers: list[list[Tensor]] = [[] for _ in groups]

        def see(layer: int, maps: Tensor) -> None:
            by_cell = maps.permute(0, 2, 3, 1)
            for place, one in zip(layers, cells, strict=True):
                place.append(by_cell[one.text, one.row, one.column].cpu())

        if groups:
            settings.stream(model, batch, see)
        cluster = np.array([blocks[document.id] for document in documents], np.int64)
        return BatchAnswers(
            documents,
            [
                (question, items, one.answers(torch.cat(place, 1), heads[question], cluster[items.text]))
                for (question, items), one, place in zip(groups, cells, layers, strict=True)
            ],
        )

    yield from in_order(read, aligned.batches(settings.batch_pieces), settings.workers)


def gather_answers(
    model: Model, texts: Texts, probes: Sequence[Probe], heads: Heads, settings: Settings
) -> dict[Question, Answers]:
    """Return what heads answer to every question of `heads`; questions without an item are left out."""
    if not heads:
        return {}
    found: dict[Question, list[Answers]] = {}
    for batch in stream_answers(model, texts, probes, heads, settings):
        for question, _, answers in batch.questions:
            found.setdefault(question, []).append(answers)
    return {question: joined_answers(found.pop(question)).in_runs() for question in heads if question in found}


def wanted_items(
    groups: Sequence[Items], probes: Sequence[Probe], heads: Mapping[Question, object]
) -> list[tuple[Question, Items]]:
    """Return the items of every question that is wanted, pooled labels included."""
    pools, found = {probe.name: probe.pool for probe in probes}, []
    for group in groups:
        pooled = group.pooled(pools[group.probe])
        for number, label in enumerate(pooled.labels):
            question = (group.probe, group.variant, label)
            if question in heads:
                found.append((question, pooled.take(np.flatnonzero(pooled.label == number))))
    return found


@dataclass(frozen=True)
class Cells:
    """Where the candidates of items lie in the maps of a batch, [pair] each."""

    text: IntArray
    row: IntArray
    column: IntArray
    item: IntArray
    gold: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, items: Items, words: IntArray) -> Cells:
        """Lay out items of a batch whose texts have so many `words` each."""
        shape = (len(items), int(words.max()) + 2)
        item, key = np.nonzero(allowed_keys(shape, items, words))
        right = np.zeros(shape, bool)
        right[items.gold[1], items.gold[0]] = True
        query = items.query[item]
        row, column = (key, query) if items.by_column else (query, key)
        return cls(items.text[item], row, column, item, right[item, key])

    def answers(self, values: Tensor, heads: Sequence[int] | None, cluster: IntArray) -> Answers:
        """Return the attention [pair, head] of some heads, or all, as answers; `cluster` is of items."""
        values = values if heads is None else values[:, list(heads)]
        return Answers(values, np.bincount(self.item, minlength=len(cluster)), torch.from_numpy(self.gold), cluster)


def joined_answers(parts: Sequence[Answers]) -> Answers:
    """Return the answers to the items of all parts, in their order."""
    values, gold = torch.cat([part.values for part in parts]), torch.cat([part.gold for part in parts])
    candidates, cluster = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("candidates", "cluster")
    )
    return Answers(values, candidates, gold, cluster)


def choose_ensemble(answers: Answers, first: int, size: int) -> tuple[list[int], list[float]]:
    """Return `size` heads and the accuracy of the mean map of the first 1, 2 ... of them.

    After the head `first` each next one is the head with which the mean of all maps is right most often, the first of
    equals; no head is taken twice.
    """
    chosen, total = [first], answers.values[:, first]
    accuracy = [float(answers.hits(total[:, None]).mean())]
    while len(chosen) < min(size, answers.values.shape[1]):
        hits = answers.hits((total[:, None] + answers.values) / (len(chosen) + 1)).mean(0)
        hits[chosen] = -1
        chosen.append(int(hits.argmax()))
        accuracy.append(float(hits[chosen[-1]]))
        total = total + answers.values[:, chosen[-1]]
    return chosen, accuracy


def ensemble_hits(answers: Answers) -> tuple[tuple[int, ...], Numbers, Numbers]:
    """Return clusters, n [cluster] and hits [cluster, size] of the mean maps of the first 1, 2 ... of the heads."""
    sizes = torch.arange(1, answers.values.shape[1] + 1)
    hits = answers.hits(answers.values.cumsum(1) / sizes)
    clusters, of_item = np.unique(answers.cluster, return_inverse=True)
    sums = np.zeros((len(clusters), hits.shape[1]))
    np.add.at(sums, of_item, hits)
    return tuple(clusters.tolist()), np.bincount(of_item).astype(np.float64), sums
