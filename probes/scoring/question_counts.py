"""Counts of what was seen with each question, from which baselines and controls learn."""

from __future__ import annotations

import threading

import numpy as np

from probes.records import IntArray
from probes.targets import Items


class Counts:
    """How often each pair of (question, thing) occurred, and how often it was marked; things are below 2**32."""

    def __init__(self) -> None:
        """Start with no pairs."""
        self._labels: dict[tuple[str, str, str], int] = {}
        self._pending: list[tuple[IntArray, IntArray]] = []
        self._codes = np.zeros(0, np.int64)
        self._counts = np.zeros((2, 0), np.int64)
        "[occurred or marked, pair]"
        self._settling = threading.Lock()

    def codes(self, items: Items, item: IntArray, thing: IntArray) -> IntArray:
        """Return a number for each pair of an item's question and a thing."""
        labels = [
            self._labels.setdefault((items.probe, items.variant, label), len(self._labels)) for label in items.labels
        ]
        code: IntArray = (np.array(labels, np.int64)[items.label[item]] << 32) + thing
        return code

    def add(self, codes: IntArray, marked: IntArray | None = None) -> None:
        """Count pairs; `marked` is 1 for each that is marked, 0 for the others."""
        self._pending.append((codes, np.zeros_like(codes) if marked is None else marked))
        if sum(len(pending) for pending, _ in self._pending) > 1 << 20:
            self._settle()

    def _settle(self) -> None:
        with self._settling:  # batches that are scored side by side ask for counts at the same time
            if not self._pending:
                return
            ones = np.concatenate([np.ones(len(codes), np.int64) for codes, _ in self._pending])
            marks = np.concatenate([marked for _, marked in self._pending])
            new = np.concatenate([self._counts, np.stack([ones, marks])], axis=1)
            together = np.concatenate([self._codes, *(codes for codes, _ in self._pending)])
            self._codes, inverse = np.unique(together, return_inverse=True)
            sums = [np.bincount(inverse, row, len(self._codes)) for row in new]
            self._counts = np.stack(sums).astype(np.int64)
            self._pending = []

    def of(self, codes: IntArray) -> IntArray:
        """Return [2, pair]: how often each pair was counted, and how often it was marked."""
        self._settle()
        if not len(self._codes):
            return np.zeros((2, len(codes)), np.int64)
        place = np.searchsorted(self._codes, codes).clip(max=len(self._codes) - 1)
        return np.where(self._codes[place] == codes, self._counts[:, place], 0)

    def table(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the distinct pairs, sorted: number of the question, thing, count."""
        self._settle()
        return self._codes >> 32, self._codes & 0xFFFFFFFF, self._counts[0]


ZERO = 1 << 31
"Offset 0 as a thing to be counted."
