"""Whoever else looks at the maps while heads are scored: one pass of the model serves all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from torch import Tensor

from mha.batches import Batch
from probes.records import Document


@runtime_checkable
class Look(Protocol):
    """What is measured of the maps of one batch; it must not change them."""

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Look at a layer: its word-level maps [batch, head, query, key] and the pattern [batch, head, piece, piece].

        `maps` are of the kind that the run reads (`[scoring] maps`, one of `mha.models.maps.MAPS`); their keys are the
        words, then [SEP], then [CLS]. `pattern` is attention itself whatever the run reads, of the pieces of the words.
        Called once a layer, by the thread that has the batch.
        """


@runtime_checkable
class Observer(Protocol):
    """Something else that is measured of the maps in the pass in which heads are scored (`probes.score_corpus`).

    Batches are looked at side by side on threads, so that each has a look of its own.
    """

    def look(self, documents: Sequence[Document], batch: Batch) -> Look:
        """Return what looks at the maps of a batch of these texts; it may be called on several threads at a time."""

    def add(self, look: Look) -> None:
        """Take in a batch that has been looked at; called in the order of the batches, by one thread."""


@dataclass(frozen=True)
class Together:
    """Several observers as one."""

    observers: Sequence[Observer]

    def look(self, documents: Sequence[Document], batch: Batch) -> _Looks:
        """Return the looks of all, as one."""
        return _Looks([observer.look(documents, batch) for observer in self.observers])

    def add(self, look: Look) -> None:
        """Let each take in its own look."""
        assert isinstance(look, _Looks)
        for observer, one in zip(self.observers, look.looks, strict=True):
            observer.add(one)


@dataclass(frozen=True)
class _Looks:
    looks: Sequence[Look]

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Show each a layer."""
        for look in self.looks:
            look.see(layer, maps, pattern)
