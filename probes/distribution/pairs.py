"""The pairs of different words of a batch of texts, and of which kinds they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from probes.records import Document, IntArray, basic
from probes.scoring import baseline_texts
from probes.scoring.hashed_random import draws, random_bits

TAGS: Final = (*baseline_texts.TAGS[1:], "")
"Universal parts of speech (de Marneffe et al. 2021, table 1); the last stands for any other."

RELATIONS: Final = (
    *("acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop"),
    *("csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark"),
    *("nmod", "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "reparandum", "vocative", "xcomp", ""),
)
"Universal relations without the root (the same, table 2); the last stands for any other."

FARTHEST: Final = 9
"Offsets of so many words or more count as this."

UNRELATED: Final = 2 * len(RELATIONS)
"The kind of relation of two words that no arc links."

_TAG: Final[Mapping[str, int]] = {tag: place for place, tag in enumerate(TAGS)}
_RELATION: Final[Mapping[str, int]] = {relation: place for place, relation in enumerate(RELATIONS)}

KINDS: Final[Mapping[str, int]] = {
    "tags": len(TAGS) ** 2,
    "relations": UNRELATED + 1,
    "offsets": 2 * FARTHEST + 1,
}
"What is told of a pair -> how many values it has."


def tags_of(text: Document) -> IntArray:
    """Return the place in TAGS of every word's part of speech, [word]."""
    return np.array([_TAG.get(tag, len(TAGS) - 1) for tag in text.upos], np.int64)


@dataclass(frozen=True)
class LinkedWords:
    """The pairs of different words of a batch, text after text, [pair]."""

    text: IntArray
    "Place in the batch."
    query: IntArray
    key: IntArray
    kinds: Mapping[str, IntArray]
    "Name of KINDS -> value of each pair."
    random: npt.NDArray[np.uint64]
    "A random number for each pair: a hash of its text's ids and its place."

    @classmethod
    def of(cls, texts: Sequence[Document]) -> LinkedWords:
        """Lay out the pairs of these texts."""
        parts: list[tuple[Any, ...]] = [_pairs(number, text) for number, text in enumerate(texts)]
        text, query, key, tags, relations, random = (np.concatenate(part) for part in zip(*parts, strict=True))
        offsets = np.clip(key - query, -FARTHEST, FARTHEST) + FARTHEST
        return cls(text, query, key, {"tags": tags, "relations": relations, "offsets": offsets}, random)


def _pairs(number: int, text: Document) -> tuple[Any, ...]:
    n = len(text)
    query, key = np.nonzero(~np.eye(n, dtype=bool))
    tags = tags_of(text)
    of_pair = np.full((n, n), UNRELATED)
    arcs = [(word, int(head)) for word, head in enumerate(text.heads) if head >= 0]
    for word, head in arcs:
        of_pair[word, head] = _RELATION.get(basic(text.deprels[word]), len(RELATIONS) - 1)
    for word, head in arcs:
        of_pair[head, word] = len(RELATIONS) + of_pair[word, head]
    seed = np.uint64(draws("pairs", text.id, text.sentences[0].id)[0])
    random = random_bits(np.arange(n * n, dtype=np.uint64) ^ seed).reshape(n, n)
    return (
        np.full(len(query), number),
        query,
        key,
        tags[query] * len(TAGS) + tags[key],
        of_pair[query, key],
        random[query, key],
    )


def kind_name(kind: str, value: int) -> str:
    """Return what a value of KINDS is called.

    >>> kind_name("tags", 1), kind_name("relations", 26), kind_name("relations", UNRELATED), kind_name("offsets", 8)
    ('ADJ→ADP', 'nsubj: dependent→head', 'no arc', '-1')
    """
    if kind == "tags":
        query, key = divmod(value, len(TAGS))
        return f"{TAGS[query] or 'other'}→{TAGS[key] or 'other'}"
    if kind == "offsets":
        return f"{value - FARTHEST:+d}"
    if value == UNRELATED:
        return "no arc"
    upward, relation = value < len(RELATIONS), RELATIONS[value % len(RELATIONS)]
    return f"{relation or 'other'}: {'dependent→head' if upward else 'head→dependent'}"
