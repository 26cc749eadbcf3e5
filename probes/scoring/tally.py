"""Sums of measures by question, and of hits and mass by cluster: all that a run keeps of the maps it has seen."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from tempfile import TemporaryFile
from typing import IO
from weakref import finalize

import numpy as np
import numpy.typing as npt

from probes.records import IntArray
from probes.targets import Items

BLOCKS = 1000
"Where there are more clusters than this they share blocks, so that sums stop growing."

BY_CLUSTER = 2
"Of `probes.scoring.scorer.MEASURES` hits and mass are kept cluster by cluster; of the others in all is enough."

CHUNK = 8192
"Rows of sums that are reserved at a time."

IN_MEMORY = 32_000_000
"Bytes of sums that a tally keeps in memory; further chunks lie in a temporary file."

Numbers = npt.NDArray[np.float64]
Question = tuple[str, str, str]
"Probe, variant and label."


@dataclass(frozen=True)
class Sums:
    """The sums of one question."""

    clusters: tuple[int, ...]
    "Block numbers, ascending."
    n: Numbers
    "[cluster] Number of items."
    hits: Numbers
    "[cluster, scored]"
    mass: Numbers
    "[cluster, scored]"
    coverage: Numbers
    "[scored] Of all clusters."
    near_ties: Numbers
    "[scored] Of all clusters."

    @classmethod
    def of_hits(cls, clusters: tuple[int, ...], n: Numbers, hits: Numbers, mass: Numbers | None = None) -> Sums:
        """Return sums of hits and, where it is given, mass; what is missing is NaN."""
        missing = np.broadcast_to(np.nan, hits.shape)
        return cls(clusters, n, hits, missing if mass is None else mass, missing[0], missing[0])

    def columns(self, keep: Sequence[int] | IntArray) -> Sums:
        """Return a copy that has these columns alone."""
        hits, mass = self.hits[:, keep], self.mass[:, keep]
        return Sums(self.clusters, self.n, hits, mass, self.coverage[keep], self.near_ties[keep])


Pooled = Mapping[Question, Sums]
"The sums of every question, pooled labels included."


@dataclass(frozen=True)
class Segments:
    """The items of a batch, grouped by question and cluster."""

    questions: tuple[Question, ...]
    question: IntArray
    "[segment] Index into `questions`, ascending."
    block: IntArray
    "[segment] Block of the cluster."
    n: IntArray
    "[segment] Number of items."
    of_item: IntArray
    "[item] Segment of each item."

    @classmethod
    def of(cls, groups: Sequence[Items], blocks: IntArray) -> Segments:
        """Group items; no question is in two groups. `blocks` is the cluster block of each text of the batch."""
        questions: list[Question] = []
        codes = []
        for group in groups:
            codes.append((group.label + len(questions)) * BLOCKS + blocks[group.text])
            questions.extend((group.probe, group.variant, label) for label in group.labels)
        unique, of_item, n = np.unique(np.concatenate(codes), return_inverse=True, return_counts=True)
        return cls(tuple(questions), unique // BLOCKS, unique % BLOCKS, n, of_item)

    def __len__(self) -> int:
        return len(self.n)


class Tally:
    """Adds up measures; `scored` is the number of heads (or baselines) that are scored side by side.

    With `hits_alone` all other measures are missing. A tally that has a file cannot be pickled.
    """

    def __init__(self, scored: int, *, hits_alone: bool = False) -> None:
        self.scored, self.hits_alone = scored, hits_alone
        self._measures = 1 if hits_alone else BY_CLUSTER
        self._questions: dict[Question, int] = {}
        self._rows = np.full((0, BLOCKS), -1, np.int64)
        "[question, block] Row of the sums, -1 where there are none yet."
        self._used = 0
        self._n = [np.zeros(CHUNK)]
        "[row] of every chunk; a chunk stays where it is when more are reserved."
        self._held = [np.zeros((CHUNK, self._measures, scored))]
        "[row, measure, scored] of the chunks that are kept in memory; hits, then mass."
        self._totals = np.zeros((0, 0 if hits_alone else 2, scored))
        "[question, measure, scored] Coverage and near-ties."

    def add(self, segments: Segments, sums: npt.NDArray[np.floating]) -> None:
        """Add the sums [segment, measure, scored] of a batch, in the order of MEASURES."""
        known = self._find(segments.questions)
        for chunk, here, rows in _chunks(self._reserve(known[segments.question], segments.block)):
            self._n[chunk][rows] += segments.n[here]
            self._sums(chunk)[rows] += sums[here, : self._measures]
        if self.hits_alone:
            return
        first = np.flatnonzero(np.diff(segments.question, prepend=-1))
        self._totals[known[segments.question[first]]] += np.add.reduceat(sums[:, BY_CLUSTER:], first, dtype=np.float64)

    def add_items(self, segments: Segments, outcome: npt.NDArray[np.floating]) -> None:
        """Add the measures [item, measure, scored] of the items of a batch."""
        order = np.argsort(segments.of_item, kind="stable")
        first = np.cumsum(segments.n) - segments.n
        self.add(segments, np.add.reduceat(outcome[order], first, axis=0, dtype=np.float64))

    def _find(self, questions: Sequence[Question]) -> IntArray:
        """Return the number of every question, and number those that are new."""
        known = np.array([self._questions.setdefault(one, len(self._questions)) for one in questions], np.int64)
        if new := len(self._questions) - len(self._rows):
            self._rows = np.concatenate([self._rows, np.full((new, BLOCKS), -1, np.int64)])
            self._totals = np.concatenate([self._totals, np.zeros((new, *self._totals.shape[1:]))])
        return known

    def _reserve(self, question: IntArray, block: IntArray) -> IntArray:
        """Return the row of every question and block, and make those that are missing."""
        missing = np.flatnonzero(self._rows[question, block] < 0)
        self._rows[question[missing], block[missing]] = self._used + np.arange(len(missing))
        self._used += len(missing)
        while self._used > CHUNK * len(self._n):
            self._n.append(np.zeros(CHUNK))
            if self._held[0].nbytes * len(self._n) <= IN_MEMORY:
                self._held.append(np.zeros(self._held[0].shape))
            else:
                self._file.write(bytes(self._held[0].nbytes))
                self._file.flush()  # fails here where the disk is full: to touch a mapped hole would end the process
        rows: IntArray = self._rows[question, block]
        return rows

    @cached_property
    def _file(self) -> IO[bytes]:
        file = TemporaryFile()  # noqa: SIM115  # it ends with the tally
        finalize(self, file.close)
        return file

    def _sums(self, chunk: int) -> Numbers:
        """Return the sums of a chunk; those in the file are in memory for as long as they are referred to."""
        if chunk < len(self._held):
            return self._held[chunk]
        first, place = self._held[0], chunk - len(self._held)
        return np.memmap(self._file, first.dtype, "r+", place * first.nbytes, first.shape)

    def pooled(self, pool: Callable[[Question], Sequence[str]]) -> Pooled:
        """Return the sums of every label, pooled labels included; `pool` says which labels a question counts towards.

        They are added up each time that they are asked for, so that the tally alone takes memory.
        """
        parts: dict[Question, list[int]] = {}
        for question, place in self._questions.items():
            for label in pool(question):
                parts.setdefault((*question[:2], label), []).append(place)
        return _PooledSums(self, {question: sorted(parts[question]) for question in sorted(parts)})

    def sum(self, questions: Sequence[int]) -> Sums:
        """Return the sums of some questions, by their numbers, added up."""
        blocks = np.flatnonzero((self._rows[questions] >= 0).any(0))
        n, sums = np.zeros(len(blocks)), np.zeros((len(blocks), self._measures, self.scored))
        for of_block in self._rows[questions][:, blocks]:
            known = np.flatnonzero(of_block >= 0)
            for chunk, here, rows in _chunks(of_block[known]):
                n[known[here]] += self._n[chunk][rows]
                sums[known[here]] += self._sums(chunk)[rows]
        clusters, hits = tuple(blocks.tolist()), sums[:, 0]
        if self.hits_alone:
            return Sums.of_hits(clusters, n, hits)
        return Sums(clusters, n, hits, sums[:, 1], *self._totals[questions].sum(0))


@dataclass(frozen=True)
class _PooledSums(Mapping[Question, Sums]):
    """The sums of a tally by label."""

    tally: Tally
    parts: Mapping[Question, Sequence[int]]
    "Label -> the numbers of its questions in the tally."

    def __getitem__(self, question: Question) -> Sums:
        return self.tally.sum(self.parts[question])

    def __iter__(self) -> Iterator[Question]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)


def _chunks(rows: IntArray) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Yield the number of each chunk that has some of the rows, their places in `rows`, and the rows in the chunk."""
    chunk = rows // CHUNK
    for number in np.unique(chunk):
        here = np.flatnonzero(chunk == number)
        yield int(number), here, rows[here] % CHUNK


def reported_questions(known: Collection[Question]) -> list[Question]:
    """Return questions, sorted; "det:*" is left out where "det" has no subtypes to pool."""
    parts = Counter((probe, variant, label.partition(":")[0]) for probe, variant, label in known)
    return sorted(
        (probe, variant, label)
        for probe, variant, label in known
        if not label.endswith(":*") or parts[probe, variant, label.removesuffix(":*")] > 2
    )


def cluster_blocks(ids: Iterable[str]) -> dict[str, int]:
    """Return the block of every cluster id: a number of its own each, or a shared one where there are over BLOCKS.

    Which ids share one is as good as random (their order by hash); blocks have equally many, give or take one.
    """
    unique = sorted(set(ids))
    if len(unique) <= BLOCKS:
        return {cluster: number for number, cluster in enumerate(unique)}
    shuffled = sorted(unique, key=lambda cluster: (zlib.crc32(cluster.encode()), cluster))
    return {cluster: place * BLOCKS // len(unique) for place, cluster in enumerate(shuffled)}
