"""Position: attention to the previous or next word, the word itself, the ends, special tokens, or to everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np

from mha.pieces import CLS, SEP
from probes.records import Document
from probes.registry import RANDOM, SHUFFLED, register
from probes.targets import OTHERS, TOKENS, WORDS, Targets

BROAD = "no key above a tenth"
"The variant of the broad label: right if no key of the row gets more than a tenth of the attention."

OFFSETS: Final = (*range(-8, -1), *range(2, 9))
"Distances in words that are asked beside the previous and the next word."

WINDOWS: Final = (2, 4, 8)
"Reaches in words, on either side, of the local windows that are asked."

BROAD_KEYS = 20
"Texts with fewer keys (words and two special tokens) are not asked whether a head is broad: a tenth is too little."


@register
@dataclass(frozen=True)
class Position:
    """Each word attends to a fixed place, or to no place at all.

    previous, next, first and last look among the other words, same among all words, [CLS] and [SEP] among all tokens;
    broad asks whether no key gets more than a tenth (Clark et al. 2019, section 3.2; positional heads also in Voita et
    al. 2019, section 5.1). Among the other words there are also offsets (`offset=-2` is the word before the previous
    one, and so on to 8 words on either side) and areas, of which any word is right: `within=4` has the words no more
    than 4 away, and of a sentence of n words the halves have n // 2 each. Of an area words are asked that have another
    word within and one outside, so that chance is below 1.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("the", "old", "ship", "sank"), ("det", "amod", "nsubj", "root")
    >>> text = Document("d", (Sentence("s", words, frozen_ints([2, 2, 3, -1]), relations),))
    >>> asked = Position().targets(text)["other words"]
    >>> [(int(q), int(g), name) for q, g, name in zip(asked.query, asked.gold[0], asked.label) if name == "previous"]
    [(1, 0, 'previous'), (2, 1, 'previous'), (3, 2, 'previous')]
    """

    name: ClassVar[str] = "position"
    variants: ClassVar[tuple[str, ...]] = (OTHERS, WORDS, TOKENS, BROAD)
    scope: ClassVar[str] = "sentence"
    baselines: ClassVar[tuple[str, ...]] = ("uniform",)
    rules: ClassVar[tuple[str, ...]] = ()
    controls: ClassVar[tuple[str, ...]] = (RANDOM, SHUFFLED)
    "Order is what is asked for, so other words in it, or other words at the same distance, control nothing."
    needs: ClassVar[str] = "words"
    source: ClassVar[str] = "Clark et al. 2019, sections 3.1 and 3.2; Voita et al. 2019, section 5.1"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a word and label; the first word has no previous one, and so on."""
        return _targets(len(document))

    def pool(self, label: str) -> Sequence[str]:
        """Every label stands for itself."""
        return (label,)


@lru_cache(maxsize=4096)
def _targets(n: int) -> dict[str, Targets]:
    word, nothing = np.arange(n), np.zeros(0, np.int64)
    ends = np.concatenate([np.full(n, CLS), np.full(n, SEP)])
    broad = word if n + 2 >= BROAD_KEYS else word[:0]
    return {
        OTHERS: _other_words(n),
        WORDS: Targets.pairs(word, word, ("same",) * n, candidates=WORDS),
        TOKENS: Targets.pairs(np.tile(word, 2), ends, ("[CLS]",) * n + ("[SEP]",) * n, candidates=TOKENS),
        BROAD: Targets(broad, (nothing, nothing), ("broad",) * len(broad), TOKENS, spread=True),
    }


def _other_words(n: int) -> Targets:
    key = np.arange(n)
    apart = key - key[:, None]
    others = apart != 0
    places = {
        "previous": apart == -1,
        "next": apart == 1,
        "first": (key == 0) & others,
        "last": (key == n - 1) & others,
    }
    places |= {f"offset={offset:+d}": apart == offset for offset in OFFSETS}
    areas = {f"within={reach}": np.abs(apart) <= reach for reach in WINDOWS}
    areas |= {"first half": key < n // 2, "second half": key >= n - n // 2}
    for label, right in areas.items():
        places[label] = right & others & (others & ~right).any(1, keepdims=True)
    query: list[int] = []
    gold: list[list[int]] = []
    labels: list[str] = []
    for label, right in places.items():
        asked = np.flatnonzero(right.any(1))
        query += asked.tolist()
        gold += [np.flatnonzero(right[word]).tolist() for word in asked]
        labels += [label] * len(asked)
    return Targets.sets(query, gold, labels)
