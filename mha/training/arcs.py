"""Gold arcs of the texts of a training, and when attention on them is a term of its loss (Chen et al. 2023)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from mha.pieces import Pieces, align
from mha.training.objective import ArcBatch
from mha.training.packing import Ints, cut
from mha.training.vocabulary import Vocabulary

Parsed = tuple[Sequence[str], Sequence[tuple[int, int]]]
"The words of a text, and its arcs: pairs of the numbers of two words. Each arc counts in both directions."


@dataclass(frozen=True)
class ArcTerm:
    """A term of the loss for attention on gold arcs, and the steps in which it counts.

    The loss is that of the masked LM less `weight` times the attention that a word gives to its head and its
    dependents, mean over words, heads and layers (Chen et al. 2023, the syntactic regulariser; they sum over heads and
    write the sign the other way round).
    """

    weight: float
    "In nats: above 0 attention on arcs is rewarded, below 0 punished; at 0 nothing changes."
    first_step: int = 1
    "First step in which the term counts."
    last_step: int | None = None
    "Last one; None for the end of the training."

    def __post_init__(self) -> None:
        """Refuse steps that cannot be."""
        if not np.isfinite(self.weight):
            raise ValueError(f"arcs: weight is {self.weight}, expected a number")
        if self.first_step < 1 or (self.last_step is not None and self.last_step < self.first_step):
            raise ValueError(f"arcs: steps {self.first_step} to {self.last_step}, expected 1 or more, in this order")

    def counts(self, step: int) -> bool:
        """Return whether the term changes `step`, which counts from 1."""
        return self.weight != 0 and self.first_step <= step <= (self.last_step or step)


def control_arcs(words: Sequence[str], arcs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return random pairs of words at the distances of the arcs of a text, none of which is an arc.

    One pair for each arc while pairs at its distance are left. They are a function of the words alone.

    >>> control_arcs(("the", "old", "ship", "sinks"), [(0, 2)])
    [(1, 3)]
    """
    seed = int.from_bytes(hashlib.sha256("\0".join(words).encode()).digest()[:8], "big")
    random, taken = np.random.default_rng(seed), {tuple(sorted(arc)) for arc in arcs}
    found = []
    for one, other in arcs:
        distance = abs(one - other)
        free = [(at, at + distance) for at in range(len(words) - distance) if (at, at + distance) not in taken]
        if free:
            found.append(free[int(random.integers(len(free)))])
            taken.add(found[-1])
    return found


class ArcsError(ValueError):
    """A text that is trained on although nobody knows its arcs."""


@dataclass(frozen=True)
class _TextArcs:
    """The arcs of one text between its pieces, [CLS] being piece 0."""

    query: npt.NDArray[np.int64]
    key: npt.NDArray[np.int64]
    share: npt.NDArray[np.float32]
    "1 / (pieces of the query's word)."
    words: int
    "Words that have an arc."


@dataclass(frozen=True)
class GoldArcs:
    """The arcs of every text of a training, found by its pieces."""

    known: Mapping[bytes, _TextArcs]
    fingerprint: str
    "Changes with the texts, their arcs and the tokenizer."
    ambiguous: int
    "Texts with the pieces of an earlier one and other arcs; those of the first are taken."

    @classmethod
    def of(cls, texts: Iterable[Parsed], vocabulary: Vocabulary, length: int) -> GoldArcs:
        """Find the pieces of all words, as scoring does; texts are cut for rows of `length` pieces as packing does."""
        parsed = [(list(words), list(arcs)) for words, arcs in texts]
        known: dict[bytes, _TextArcs] = {}
        ambiguous, digest = 0, hashlib.sha256(f"{vocabulary.fingerprint} {length}".encode())
        for pieces, (_, arcs) in zip(align(vocabulary.tokenizer, [one for one, _ in parsed]), parsed, strict=True):
            digest.update(pieces.ids.tobytes() + repr(arcs).encode())
            for key, found in _parts(pieces, arcs, vocabulary, length):
                first = known.setdefault(key, found)
                ambiguous += not (np.array_equal(first.query, found.query) and np.array_equal(first.key, found.key))
        return cls(known, digest.hexdigest(), ambiguous)

    def batches(self, rows: Ints, vocabulary: Vocabulary, parts: Sequence[slice]) -> list[ArcBatch]:
        """Return the arcs of some parts of packed rows [row, length] before masking; shares are of the words of all.

        Raises ArcsError for a text that is not known.
        """
        found = [self._row(row, vocabulary) for row in np.asarray(rows)]
        words = max(sum(one.words for texts in found for _, one in texts), 1)
        return [_batch(found[part], rows.shape[1], words) for part in parts]

    def _row(self, row: Ints, vocabulary: Vocabulary) -> list[tuple[int, _TextArcs]]:
        """Return the place of [CLS] and the arcs of every text of a row."""
        starts, ends = (np.flatnonzero(row == vocabulary.special[name]) for name in ("[CLS]", "[SEP]"))
        found = []
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            arcs = self.known.get(_key(row[start + 1 : end]))
            if arcs is None:
                text = vocabulary.tokenizer.decode(row[start + 1 : end].tolist())
                raise ArcsError(f"no tree is known of the training text {text!r}; give the trees of all texts")
            found.append((start, arcs))
        return found


def _key(pieces: Ints) -> bytes:
    return pieces.astype(np.int32).tobytes()


def _parts(
    pieces: Pieces, arcs: Sequence[tuple[int, int]], vocabulary: Vocabulary, length: int
) -> Iterable[tuple[bytes, _TextArcs]]:
    """Yield the parts into which a text is cut, with the arcs that lie in each."""
    inner = np.flatnonzero(pieces.word >= 0)
    start = 0
    for part in cut(pieces.ids[inner], length - 2, vocabulary.begins):
        word = pieces.word[inner[start : start + len(part)]]
        yield _key(part), _text_arcs(word, arcs)
        start += len(part)


def _text_arcs(word: npt.NDArray[np.int32], arcs: Sequence[tuple[int, int]]) -> _TextArcs:
    """Return the arcs between pieces; `word` is the number of each piece's word."""
    of_word: dict[int, list[int]] = {}
    for place, number in enumerate(word.tolist(), start=1):
        of_word.setdefault(number, []).append(place)
    joined = {(one, other) for pair in arcs for one, other in (pair, pair[::-1]) if one in of_word and other in of_word}
    cells = [
        (query, key, 1 / len(of_word[one]))
        for one, other in sorted(joined)
        for query in of_word[one]
        for key in of_word[other]
    ]
    query, key, share = np.array(cells, np.float64).reshape(-1, 3).T
    return _TextArcs(
        query.astype(np.int64), key.astype(np.int64), share.astype(np.float32), len({one for one, _ in joined})
    )


def _batch(rows: Sequence[Sequence[tuple[int, _TextArcs]]], length: int, words: int) -> ArcBatch:
    cells, shares = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
    for number, texts in enumerate(rows):
        for start, arcs in texts:
            cells.append((number * length + start + arcs.query) * length + start + arcs.key)
            shares.append(arcs.share / np.float32(words))
    return ArcBatch(torch.from_numpy(np.concatenate(cells)), torch.from_numpy(np.concatenate(shares)))
