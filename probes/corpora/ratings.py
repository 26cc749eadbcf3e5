"""Ratings of word pairs: how related (MEN) or how similar (SimLex-999, SimVerb-3500) people find two words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path

import numpy as np

from mha.messages import nearest_name
from probes.corpora.line_reader import CorpusError, filled_lines
from probes.corpora.named import NAMED_RATINGS, data_folder, lacking
from probes.records import Document, Sentence

ENDINGS = (("ies", "y"), ("es", ""), ("s", ""), ("ied", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"))
"Regular endings of English and what stands in their place in the base form, in the order in which they are tried."

FRAME = ("She", "wrote", "about", "the", "{}", "and", "the", "{}", ".")
"The made sentence of a pair: all pairs are at the same distance, in the same places."


@dataclass(frozen=True)
class Ratings:
    """Word pairs with numbers."""

    name: str
    pairs: Mapping[tuple[str, str], float]
    "Two words in lower case, in the order of the alphabet -> their rating."

    @cached_property
    def words(self) -> frozenset[str]:
        """All rated words."""
        return frozenset(word for pair in self.pairs for word in pair)

    def form(self, word: str) -> str | None:
        """Return the rated word that a word of a text is a form of, None where it is of none.

        Texts have no lemmas: a word counts as it stands in lower case, else without a regular ending.
        """
        low = word.lower()
        return next((form for form in base_forms(low) if form in self.words), None)

    def of(self, first: str, second: str) -> tuple[tuple[str, str], float] | None:
        """Return the pair of two rated words and its rating, None where people were not asked about it."""
        pair = (first, second) if first <= second else (second, first)
        return (pair, self.pairs[pair]) if pair in self.pairs else None


@lru_cache(maxsize=1 << 16)
def base_forms(word: str) -> tuple[str, ...]:
    """Return a word in lower case, and what it may be a regular form of, the likelier first.

    >>> base_forms("berries")
    ('berries', 'berry', 'berri', 'berrie')
    """
    return (word, *(word.removesuffix(end) + base for end, base in ENDINGS if word.endswith(end)))


def read_ratings(path: Path, name: str = "") -> Ratings:
    """Read a file of pairs, a line two words and a number parted by blanks; a pair given twice has the mean.

    Raises CorpusError with file and line.
    """
    found: dict[tuple[str, str], list[float]] = {}
    for one, other, rating in _rows(path):
        found.setdefault((one, other) if one <= other else (other, one), []).append(rating)
    if not found:
        raise CorpusError(f"{path}: no pair in the file ({path.stat().st_size} bytes)")
    return Ratings(name or path.stem, {pair: float(np.mean(numbers)) for pair, numbers in found.items()})


def open_ratings(name: str) -> Ratings:
    """Return ratings of NAMED_RATINGS or of a file; raises CorpusError for what is not there, with what to do."""
    return read_ratings(ratings_path(name), name if name in NAMED_RATINGS else "")


def ratings_path(name: str) -> Path:
    """Return the file of named ratings, or the file of that path; raises CorpusError where there is none."""
    named = NAMED_RATINGS.get(name)
    path = Path(name).expanduser() if named is None else data_folder() / named.path
    if path.is_file():
        return path
    if named is not None:
        raise lacking(f"ratings {name!r} are not", name, path, named.path)
    raise CorpusError(f"unknown ratings {name!r}; {nearest_name(name, NAMED_RATINGS)} (or a file, which this is not)")


def read_frames(path: Path, *, first: int | None = None) -> Iterator[Document]:
    """Read ratings as documents of one sentence each, FRAME with the two words; `first` takes that many.

    Sentences of a pair's first word are one cluster.
    """
    for number, (one, other, _) in enumerate(islice(_rows(path), first), start=1):
        words, n = tuple(" ".join(FRAME).format(one, other).split()), len(FRAME)
        upos = tuple("NOUN" if part == "{}" else "" for part in FRAME)
        sentence = Sentence(f"{path.stem}:{number}", words, np.full(n, -1), ("",) * n, upos, kind=path.stem)
        yield Document(one, (sentence,))


def _rows(path: Path) -> Iterator[tuple[str, str, float]]:
    """Yield the two words in lower case and the rating of every line that is not blank."""
    for number, line in filled_lines(path):
        columns = line.split()
        try:
            rating = float(columns[-1])
        except ValueError:
            rating = float("nan")
        if len(columns) != 3 or not np.isfinite(rating):
            raise CorpusError(f"{path}:{number}: expected two words and a number, got {line[:60]!r}")
        if columns[0].lower() == columns[1].lower():
            raise CorpusError(f"{path}:{number}: expected two different words, got {columns[0]!r} twice")
        yield columns[0].lower(), columns[1].lower(), rating
