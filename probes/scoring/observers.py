"""Whoever else looks at the maps while heads are scored: one pass of the model serves all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from mha.batches import Batch
from probes.records import Document
from probes.targets import Items


@runtime_checkable
class Observation(Protocol):
    """What is measured of the maps of one batch; it must not change them."""

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Look at a layer: its word-level maps [batch, head, query, key] and the pattern [batch, head, piece, piece].

        `maps` are of the kind that the run reads (`[scoring] maps`, one of `mha.models.maps.MAPS`); their keys are the
        words, then [SEP], then [CLS]. `pattern` is attention itself whatever the run reads, of the pieces of the words.
        Both lie on the model's device: sums of them are small to copy, they are not. Called once a layer, by the thread
        that has the batch.
        """


@runtime_checkable
class Observer(Protocol):
    """Something else that is measured of the maps in the pass in which heads are scored (`probes.score_corpus`).

    Batches are looked at side by side on threads, so that each has a look of its own.
    """

    def observe(self, documents: Sequence[Document], batch: Batch, items: Sequence[Items]) -> Observation:
        """Return what looks at the maps of a batch of these texts; it may be called on several threads at a time.

        The batch lies on the model's device. `items` are the questions about the batch, as they are scored.
        """

    def add(self, observation: Any) -> None:
        """Take in a batch that has been looked at; called in the order of the batches, by one thread."""
