"""Position: attention to the previous or next word, the word itself, the ends, special tokens, or to everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from mha.pieces import CLS, SEP
from probes.records import Document, IntArray
from probes.registry import RANDOM, SHUFFLED, register
from probes.targets import OTHERS, TOKENS, WORDS, Targets

BROAD = "no key above a tenth"
"The variant of the broad label: right if no key of the row gets more than a tenth of the attention."

BROAD_KEYS = 20
"Texts with fewer keys (words and two special tokens) are not asked whether a head is broad: a tenth is too little."


@register
@dataclass(frozen=True)
class Position:
    """Each word attends to a fixed place, or to no place at all.

    previous, next, first and last look among the other words, same among all words, [CLS] and [SEP] among all tokens;
    broad asks whether no key gets more than a tenth (Clark et al. 2019, section 3.2; positional heads also in Voita et
    al. 2019, section 5.1).

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
    return {variant: _variant(n, variant) for variant in Position.variants}


def _variant(n: int, variant: str) -> Targets:
    word = np.arange(n)
    asked: list[tuple[str, IntArray, IntArray]] = []
    if variant == OTHERS:
        asked = [
            ("previous", word[1:], word[1:] - 1),
            ("next", word[:-1], word[:-1] + 1),
            ("first", word[1:], np.zeros_like(word[1:])),
            ("last", word[:-1], np.full_like(word[:-1], n - 1)),
        ]
    elif variant == WORDS:
        asked = [("same", word, word)]
    elif variant == TOKENS:
        asked = [("[CLS]", word, np.full_like(word, CLS)), ("[SEP]", word, np.full_like(word, SEP))]
    elif n + 2 >= BROAD_KEYS:
        nothing = np.zeros(0, np.int64)
        return Targets(word, (nothing, nothing), ("broad",) * n, TOKENS, spread=True)
    query = np.concatenate([query for _, query, _ in asked]) if asked else word[:0]
    gold = np.concatenate([gold for _, _, gold in asked]) if asked else word[:0]
    label = tuple(name for name, query, _ in asked for _ in query)
    candidates = TOKENS if variant == BROAD else variant
    return Targets(query, (gold, np.arange(len(query))), label, candidates, spread=variant == BROAD)
