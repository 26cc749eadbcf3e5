"""Where packed rows come from: a file that is mapped into memory, or a stream too large to be kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mha.cache import replacing
from mha.training.packing import Ints, pack
from mha.training.vocabulary import Vocabulary

LAYOUT = 1
"Part of every fingerprint: raise it when packing changes."


class RowsError(ValueError):
    """Texts from which no row can be made."""


@dataclass(frozen=True)
class StoredRows:
    """Rows in a file, mapped into memory; every epoch goes through all of them in another order."""

    rows: npt.NDArray[np.integer]
    "[row, length]"
    padding: int
    fingerprint: str
    "What changes with the texts, the tokenizer and the length: to go on, a training must find it again."

    @property
    def length(self) -> int:
        """Places a row."""
        return int(self.rows.shape[1])

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def pieces(self) -> int:
        """Return the number of pieces, special ones included and padding not."""
        steps = range(0, len(self), 10_000)
        return sum(int(np.count_nonzero(self.rows[at : at + 10_000] != self.padding)) for at in steps)

    def batches(self, size: int, start: int, seed: int) -> Iterator[Ints]:
        """Yield the rows of each step from `start` on; an epoch's order depends on the seed and its number alone."""
        order, known = np.empty(0, np.int64), -1
        place = size * start
        while True:
            chosen: list[int] = []
            while len(chosen) < size:
                epoch, row = divmod(place + len(chosen), len(self))
                if epoch != known:
                    draws = np.random.Generator(np.random.Philox(key=np.array([seed, epoch], np.uint64)))
                    order, known = draws.permutation(len(self)), epoch
                chosen += order[row : row + size - len(chosen)].tolist()
            yield np.asarray(self.rows[chosen])
            place += size


@dataclass(frozen=True)
class StreamedRows:
    """Rows made while training, of texts that need fit neither into memory nor on the disk.

    Rows are mixed in a buffer. To go on at a later step everything before it is read and cut into pieces again.
    """

    texts: Iterable[str]
    "Can be gone through again; a finished stream starts anew."
    vocabulary: Vocabulary
    length: int
    fingerprint: str
    "Of the texts as far as it can be known; give the name and version of the data set."
    mixed: int = 4096
    "Rows in the buffer from which the next one is drawn."

    def batches(self, size: int, start: int, seed: int) -> Iterator[Ints]:
        """Yield the rows of each step from `start` on."""
        rows = islice(self._shuffled(seed), size * start, None)
        while True:
            yield np.stack(list(islice(rows, size)))

    def _shuffled(self, seed: int) -> Iterator[Ints]:
        draws = np.random.Generator(np.random.Philox(key=np.array([seed, 0], np.uint64)))
        held: list[Ints] = []
        for row in self._endless():
            if len(held) < self.mixed:
                held.append(row)
                continue
            chosen = int(draws.integers(self.mixed))
            yield held[chosen]
            held[chosen] = row

    def _endless(self) -> Iterator[Ints]:
        while True:
            row = None
            for row in pack(self.vocabulary.encode(self.texts), self.vocabulary, self.length):
                yield row
            if row is None:
                raise RowsError("the texts hold no piece to train on")


Rows = StoredRows | StreamedRows
"Packed rows for training, in an order that the seed decides."


def store_rows(texts: Iterable[str], vocabulary: Vocabulary, length: int, folder: Path) -> StoredRows:
    """Return the rows of `texts`, which are gone through twice; rows already in `folder` are not made again.

    What is looked up is a hash of the texts themselves, of the tokenizer and of the length. Raises RowsError where
    there is nothing to train on.
    """
    fingerprint = _fingerprint(texts, vocabulary, length)
    dtype: type[np.integer] = np.uint16 if vocabulary.size <= 2**16 else np.int32
    path = folder / f"{fingerprint[:32]}-{length}.{dtype.__name__}"
    if not path.is_file():
        with replacing(path) as unfinished, unfinished.open("wb") as file:
            for row in pack(vocabulary.encode(texts), vocabulary, length):
                file.write(row.astype(dtype).tobytes())
    if not path.stat().st_size:
        path.unlink()
        raise RowsError("the texts hold no piece to train on")
    rows = np.memmap(path, dtype, mode="r").reshape(-1, length)
    return StoredRows(rows, vocabulary.special["[PAD]"], fingerprint)


def _fingerprint(texts: Iterable[str], vocabulary: Vocabulary, length: int) -> str:
    digest = hashlib.sha256(f"{LAYOUT} {vocabulary.fingerprint} {length}".encode())
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()
