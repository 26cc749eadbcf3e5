"""Frozen records of annotated text: sentences, their mentions, and the documents that hold them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


def frozen_ints(values: object) -> IntArray:
    """Return `values` as a read-only array of int64."""
    array = np.array(values, dtype=np.int64)
    array.flags.writeable = False
    return array


@lru_cache(maxsize=1 << 16)
def form_of(word: str) -> str:
    r"""Return a word as it is compared with others: letter case, soft hyphens and how an accent is encoded aside.

    >>> form_of("Cafe\u0301") == form_of("ca\u00adf\u00e9")
    True
    """
    return normalize("NFC", word.casefold().translate(_UNSEEN))


_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
"Soft hyphens and other characters without width that are no part of a spelling."


@lru_cache(maxsize=4096)
def basic(deprel: str) -> str:
    """Return a relation without its subtype ("nsubj" for "nsubj:pass")."""
    return deprel.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Mention:
    """One mention of an entity: its words (which need not be contiguous), its head word and its entity."""

    words: tuple[int, ...]
    "Indices of the words, ascending: in the sentence for `Sentence.mentions`, in the document for `Document.mentions`."
    head: int
    "Index of the syntactic head, one of `words`."
    entity: str
    "Mentions with the same entity id in one document corefer."

    def shifted(self, by: int) -> Mention:
        """Return this mention with all indices moved by `by`."""
        return Mention(tuple(word + by for word in self.words), self.head + by, self.entity)


@dataclass(frozen=True)
class Sentence:
    """A sentence of n words with its dependency tree, morphology and mentions."""

    id: str
    words: tuple[str, ...]
    heads: IntArray
    "[n] Index of each word's head, -1 for the root; all -1 where the corpus has no trees. Read-only."
    deprels: tuple[str, ...]
    'Full relation of each word to its head ("nsubj:pass"); "" where the corpus has no trees.'
    upos: tuple[str, ...] = ()
    'Universal part of speech of each word; "" where unknown.'
    feats: tuple[str, ...] = ()
    'Morphology as written in CoNLL-U ("Number=Sing|Person=3"); "" where there is none.'
    mentions: tuple[Mention, ...] = ()
    kind: str = ""
    'What the corpus says that the sentence is, its construction or type; labels may go by it. "" where it is silent.'
    language: str = ""
    'Code of its language, such as "de"; "" where the corpus does not say it.'
    space_after: tuple[bool, ...] = ()
    "Whether a blank follows each word in the text as it was written; () where one follows all, or nothing is said."
    second: int = 0
    "Index of the first word of the second text where this is a pair of texts that are read together; 0 elsewhere."
    remarks: tuple[str, ...] = ()
    """What is odd in the file and was read all the same, an entry an occurrence: "REASON", or "REASON: DETAIL" where
    occurrences of one reason are told apart by the detail."""

    def __post_init__(self) -> None:
        """Fill missing columns and refuse columns of unequal length."""
        n = len(self.words)
        object.__setattr__(self, "heads", frozen_ints(self.heads))
        object.__setattr__(self, "upos", self.upos or ("",) * n)
        object.__setattr__(self, "feats", self.feats or ("",) * n)
        object.__setattr__(self, "space_after", () if all(self.space_after) else self.space_after)
        lengths = {len(self.heads), len(self.deprels), len(self.upos), len(self.feats), len(self.space_after) or n}
        if lengths != {n}:
            raise ValueError(f"sentence {self.id}: {n} words, but columns of {sorted(lengths)} entries")
        if self.second and not 0 < self.second < n:
            raise ValueError(f"sentence {self.id}: {n} words, but the second text begins at word {self.second}")

    def __len__(self) -> int:
        return len(self.words)


def _joined(name: str) -> cached_property[tuple[str, ...]]:
    """Return the property that has one column of all sentences of a document, in order."""

    def column(document: Document) -> tuple[str, ...]:
        columns: list[tuple[str, ...]] = [getattr(sentence, name) for sentence in document.sentences]
        return columns[0] if len(columns) == 1 else tuple(chain.from_iterable(columns))

    return cached_property(column)


@dataclass(frozen=True)
class Document:
    """Consecutive sentences with one id; a window of a document is a document with the same id."""

    id: str
    "Documents with the same id are one cluster when intervals are resampled."
    sentences: tuple[Sentence, ...]

    def __len__(self) -> int:
        return len(self.words)

    words = _joined("words")
    "The words of all sentences in order."
    deprels = _joined("deprels")
    "The relation of every word to its head."
    upos = _joined("upos")
    "The universal part of speech of every word."
    feats = _joined("feats")
    "The morphology of every word."

    @property
    def language(self) -> str:
        """Code of its language, that of its first sentence; "" where the corpus does not say it."""
        return self.sentences[0].language if self.sentences else ""

    @property
    def second(self) -> int:
        """Index of the first word of the second text of a pair; 0 where it is none. A pair is one sentence."""
        return self.sentences[0].second if len(self.sentences) == 1 else 0

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """The words of its one text, or of both texts of a pair."""
        return (self.words[: self.second], self.words[self.second :]) if self.second else (self.words,)

    @cached_property
    def starts(self) -> IntArray:
        """[sentence] Index in the document of each sentence's first word."""
        return frozen_ints(np.cumsum([0, *(len(sentence) for sentence in self.sentences)])[:-1])

    @cached_property
    def heads(self) -> IntArray:
        """[n] Index in the document of each word's head, -1 for roots. Read-only."""
        if len(self.sentences) == 1:
            return self.sentences[0].heads
        parts = [
            np.where(sentence.heads < 0, -1, sentence.heads + start)
            for sentence, start in zip(self.sentences, self.starts, strict=True)
        ]
        return frozen_ints(np.concatenate(parts) if parts else [])

    @cached_property
    def space_after(self) -> tuple[bool, ...]:
        """Whether a blank follows each word, as for a sentence; one follows where a sentence says nothing."""
        if not any(sentence.space_after for sentence in self.sentences):
            return ()
        return tuple(blank for sentence in self.sentences for blank in sentence.space_after or (True,) * len(sentence))

    @cached_property
    def _arcs(self) -> dict[str, list[tuple[int, int]]]:
        arcs: dict[str, list[tuple[int, int]]] = {}
        for dependent, (head, deprel) in enumerate(zip(self.heads.tolist(), self.deprels, strict=True)):
            if head >= 0:
                arcs.setdefault(basic(deprel), []).append((dependent, head))
        return arcs

    def arcs(self, *relations: str) -> Sequence[tuple[int, int]]:
        """Return (dependent, head) of all words with these relations, subtypes included ("nsubj" for "nsubj:pass")."""
        if len(relations) == 1:
            return self._arcs.get(relations[0], ())
        return [arc for relation in relations for arc in self._arcs.get(relation, ())]

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """All mentions with indices in the document, in the order of their head words."""
        shifted = [
            mention.shifted(int(start))
            for sentence, start in zip(self.sentences, self.starts, strict=True)
            for mention in sentence.mentions
        ]
        return tuple(sorted(shifted, key=lambda mention: (mention.head, mention.words)))

    def split_sentences(self) -> Iterator[Document]:
        """Yield every sentence as a document of its own that keeps this id."""
        for sentence in self.sentences:
            yield Document(self.id, (sentence,))
