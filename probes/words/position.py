"""Position: attention to the previous or next word, the word itself, the ends, special tokens, or to everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from mha.pieces import CLS, SEP
from probes.records import Document
from probes.registry import PERMUTED, RANDOM, register
from probes.targets import OTHERS, TOKENS, WORDS, Targets

BROAD = "no key above a tenth"
"The variant of the broad label: right if no key of the row gets more than a tenth of the attention."

AREAS = "areas of other words"
"The variant of labels for which any word of an area is right."

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
    al. 2019, section 5.1). Offsets go on to 8 words on either side (`offset=-2` is the word before the previous one).
    Of an area any other word is right: `within=4` has the words no more than 4 away, and of a sentence of n words each
    half has n // 2. Words are asked that have another word within the area and one outside, so that chance is below 1.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("the", "old", "ship", "sank"), ("det", "amod", "nsubj", "root")
    >>> text = Document("d", (Sentence("s", words, frozen_ints([2, 2, 3, -1]), relations),))
    >>> asked = Position().targets(text)["other words"]
    >>> [(int(q), int(g), name) for q, g, name in zip(asked.query, asked.gold[0], asked.label) if name == "previous"]
    [(1, 0, 'previous'), (2, 1, 'previous'), (3, 2, 'previous')]
    """

    name: ClassVar[str] = "position"
    variants: ClassVar[tuple[str, ...]] = (OTHERS, WORDS, TOKENS, BROAD, AREAS)
    scope: ClassVar[str] = "sentence"
    baselines: ClassVar[tuple[str, ...]] = ("uniform",)
    rules: ClassVar[tuple[str, ...]] = ()
    controls: ClassVar[tuple[str, ...]] = (RANDOM, PERMUTED)
    "Order is what is asked for, so other words in it control nothing."
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
        OTHERS: _places(n),
        WORDS: Targets.pairs(word, word, ("same",) * n, candidates=WORDS),
        TOKENS: Targets.pairs(np.tile(word, 2), ends, ("[CLS]",) * n + ("[SEP]",) * n, candidates=TOKENS),
        BROAD: Targets(broad, (nothing, nothing), ("broad",) * len(broad), TOKENS, spread=True),
        AREAS: _areas(n),
    }


def _places(n: int) -> Targets:
    key = np.arange(n)
    apart = key - key[:, None]
    return _asked(
        {
            "previous": apart == -1,
            "next": apart == 1,
            "first": (key == 0) & (apart != 0),
            "last": (key == n - 1) & (apart != 0),
            **{f"offset={offset:+d}": apart == offset for offset in OFFSETS},
        }
    )


def _areas(n: int) -> Targets:
    key = np.arange(n)
    apart = np.abs(key - key[:, None])
    areas = {f"within={reach}": apart <= reach for reach in WINDOWS}
    areas |= {"first half": key < n // 2, "second half": key >= n - n // 2}
    others = apart != 0
    return _asked({name: area & others & (others & ~area).any(1, keepdims=True) for name, area in areas.items()})


def _asked(right: Mapping[str, npt.NDArray[np.bool_]]) -> Targets:
    """Return one item a label and word that has a right key; `right` is [query, key] of each label."""
    return Targets.grouped(
        (word, key, name) for name, keys in right.items() for word, key in np.argwhere(keys).tolist()
    )
