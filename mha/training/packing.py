"""Documents packed into rows of equal length, so that hardly a place of a batch is padding."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from mha.training.vocabulary import Vocabulary

Ints = npt.NDArray[np.integer]
SHORTEST = 3
"Pieces of the shortest document: [CLS], one piece, [SEP]."


def cut(pieces: Ints, limit: int, begins: npt.NDArray[np.bool_]) -> Iterator[Ints]:
    """Yield the parts of a document, each of at most `limit` pieces and cut before a word where it can be.

    `begins` [vocab] says which pieces begin a word.
    """
    start = 0
    while start < len(pieces):
        end = start + limit
        if end < len(pieces):
            words = np.flatnonzero(begins[pieces[start + 1 : end + 1]])
            end = start + 1 + int(words[-1]) if len(words) else end
        yield pieces[start:end]
        start = end


def pack(
    documents: Iterable[Ints], vocabulary: Vocabulary, length: int, buffer: int = 256
) -> Iterator[npt.NDArray[np.int32]]:
    """Yield rows [length] of documents "[CLS] pieces [SEP]" behind each other, the rest of a row padding.

    A document goes into the fullest of the open rows that has room for it (best fit); with more than `buffer` open
    rows the fullest one is given out. Longer documents are cut into several. The rows depend on the documents and their
    order alone. Raises ValueError where a row is too short for any document.
    """
    if length < SHORTEST:
        raise ValueError(f"rows of {length} pieces are too short, expected {SHORTEST} or more")
    special = vocabulary.special
    ends = np.array([special["[CLS]"]], np.int32), np.array([special["[SEP]"]], np.int32)
    open_rows = _OpenRows(length, special["[PAD]"])
    for document in documents:
        for part in cut(document, length - 2, vocabulary.begins):
            open_rows.add(np.concatenate([ends[0], part, ends[1]]))
            while open_rows.count > buffer:
                yield open_rows.fullest()
    while open_rows.count:
        yield open_rows.fullest()


class _OpenRows:
    """Rows with room left, by the number of their free places; the oldest first among equals."""

    def __init__(self, length: int, padding: int) -> None:
        self.length, self.padding, self.count = length, padding, 0
        self.by_room: list[deque[list[Ints]]] = [deque() for _ in range(length + 1)]

    def add(self, document: Ints) -> None:
        room = next((room for room in range(len(document), self.length) if self.by_room[room]), None)
        if room is None:
            row, room = [], self.length
            self.count += 1
        else:
            row = self.by_room[room].popleft()
        row.append(document)
        self.by_room[room - len(document)].append(row)

    def fullest(self) -> npt.NDArray[np.int32]:
        row = next(rows for rows in self.by_room if rows).popleft()
        self.count -= 1
        packed = np.full(self.length, self.padding, np.int32)
        joined = np.concatenate(row)
        packed[: len(joined)] = joined
        return packed


def places_and_blocks(rows: Ints, vocabulary: Vocabulary) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return, for packed rows [row, length], the position of each piece in its document and its document in the row.

    Both [row, length]; positions restart at 0 with each [CLS], documents count from 0, padding is document -1.
    """
    starts = rows == vocabulary.special["[CLS]"]
    real = rows != vocabulary.special["[PAD]"]
    index = np.broadcast_to(np.arange(rows.shape[1]), rows.shape)
    places = index - np.maximum.accumulate(np.where(starts, index, 0), axis=1)
    blocks = np.cumsum(starts, axis=1) - 1
    return np.where(real, places, 0), np.where(real, blocks, -1)
