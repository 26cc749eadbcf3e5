"""How far all heads of a model are from each other: the distance of their maps, in the pass that scores them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from torch import Tensor

from mha.batches import Batch
from probes.maps.matching import divergence, map_rows
from probes.records import Document, IntArray
from probes.scoring.aligned import name_of
from probes.scoring.scorer import TINY
from probes.scoring.tally import Numbers
from probes.targets import Items

Text = tuple[str, str]
"Ids of the document and of the first sentence."


def text_key(text: Document) -> Text:
    """Return what tells a text from the others of a corpus."""
    return text.id, name_of(text)


class Distances:
    """An observer of scoring: the mean distance (`probes.maps.matching.map_distance`) of every two heads.

    It compares the maps that the run reads, each row as shares of its sum.
    """

    def __init__(self, selected: Collection[Text] | None = None) -> None:
        """Compare heads on the `selected` texts, on all if None; on no text with a word that has no piece."""
        self.selected = None if selected is None else frozenset(selected)
        self.texts = 0
        self.words = 0
        "Rows that were compared."
        self._sums: Numbers | None = None

    def observe(self, documents: Sequence[Document], batch: Batch, items: Sequence[Items] = ()) -> DistanceObservation:
        """Return what compares the heads on one batch."""
        whole = ((batch.from_words.sum(2) > 0.5).sum(1) == batch.words).tolist()
        wanted = [self.selected is None or text_key(text) in self.selected for text in documents]
        return DistanceObservation(batch.words.numpy(), np.flatnonzero(np.logical_and(wanted, whole)))

    def add(self, observation: DistanceObservation) -> None:
        """Add the distances of one batch."""
        self.texts += len(observation.texts)
        self.words += int(observation.words[observation.texts].sum())
        if observation.blocks:
            sums = observation.sums()
            self._sums = sums if self._sums is None else self._sums + sums

    def means(self) -> Numbers | None:
        """Return [head, head], symmetric with zeros in the diagonal, in nats; None where nothing was seen."""
        return None if self._sums is None else self._sums / self.words


class DistanceObservation:
    """The heads of one batch, layer after layer: each is compared with those of its own layer and of layers below."""

    def __init__(self, words: IntArray, texts: IntArray) -> None:
        """Look at the `texts` of a batch whose texts have so many `words`."""
        self.words, self.texts = words, texts
        self.blocks: list[Numbers] = []
        "Of every layer [head, head of this layer or of one below], sums over rows."
        self._rows: list[Tensor] = []

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Compare the heads of the next layer."""
        if len(self.texts):
            shares = maps / maps.sum(3, keepdim=True).clamp(min=TINY)  # rows of norms have no sum in common
            rows = map_rows(shares.permute(0, 2, 3, 1), self.words, self.texts)
            self._rows.append(rows)
            self.blocks.append(np.concatenate([divergence(rows, other) for other in self._rows], 1))

    def sums(self) -> Numbers:
        """Return [head, head], summed over rows."""
        count = self.blocks[-1].shape[1]
        sums = np.zeros((count, count))
        for block in self.blocks:
            own, below = len(block), block.shape[1]
            sums[below - own : below, :below] = block
        lower = np.tril(sums, -1)
        return lower + lower.T
