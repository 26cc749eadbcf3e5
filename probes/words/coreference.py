"""Coreference: attention from a mention to an antecedent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probes.records import Document
from probes.registry import CONTROLS, register
from probes.targets import OTHERS, Targets, key_sets

PRECEDING, MENTIONS, ALL_WORDS = "preceding mention heads", "all mention heads", "all words"


@register
@dataclass(frozen=True)
class Coreference:
    """The most attended candidate of a mention's head word is the head word of one of its antecedents.

    One item a mention that has an antecedent in the window: a mention of the same entity with an earlier head word.
    The candidates are a named variant: heads of preceding mentions, heads of all other mentions, or all other words
    (Clark et al. 2019, section 4.3, whose code was never released, do not say which). Labels go by the head word:
    pronoun, proper, nominal.

    >>> from probes.records import Document, Mention, Sentence, frozen_ints
    >>> mentions = (Mention((0,), 0, "e1"), Mention((2, 3), 3, "e2"), Mention((5,), 5, "e1"))
    >>> words, upos = ("Mary", "saw", "a", "dog", "as", "she", "left"), ("PROPN", "", "", "NOUN", "", "PRON", "")
    >>> heads = frozen_ints([-1] * 7)
    >>> text = Document("d", (Sentence("s", words, heads, ("",) * 7, upos, mentions=mentions),))
    >>> asked = Coreference().targets(text)["preceding mention heads"]
    >>> int(asked.query[0]), int(asked.gold[0][0]), asked.label[0], asked.candidates[0].tolist()
    (5, 0, 'pronoun', [0, 3])
    """

    name: ClassVar[str] = "coreference"
    variants: ClassVar[tuple[str, ...]] = (PRECEDING, MENTIONS, ALL_WORDS)
    scope: ClassVar[str] = "window"
    baselines: ClassVar[tuple[str, ...]] = ("offset", "previous word", "nearest mention", "same head word", "uniform")
    rules: ClassVar[tuple[str, ...]] = (
        "nearest mention that fits",
        "same head word or fits",
        "nearest subject",
        "same role",
    )
    controls: ClassVar[tuple[str, ...]] = CONTROLS
    needs: ClassVar[str] = "mentions"
    source: ClassVar[str] = "Clark et al. 2019, section 4.3"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a mention that has an antecedent."""
        found = list(anaphors(document))
        query = np.array([head for head, _ in found], np.int64)
        gold = key_sets([antecedents for _, antecedents in found])
        label = [mention_kind(document.upos[head]) for head, _ in found]
        heads = mention_heads(document)
        preceding = key_sets([[other for other in heads if other < head] for head, _ in found])
        others = key_sets([[other for other in heads if other != head] for head, _ in found])
        return {
            PRECEDING: Targets(query, gold, label, preceding),
            MENTIONS: Targets(query, gold, label, others),
            ALL_WORDS: Targets(query, gold, label, OTHERS),
        }

    def pool(self, label: str) -> Sequence[str]:
        """A mention counts as its kind and among all."""
        return (label, "all")


def mention_heads(document: Document) -> list[int]:
    """Return the head words of all mentions, ascending, each once."""
    return sorted({mention.head for mention in document.mentions})


def anaphors(document: Document) -> Iterator[tuple[int, list[int]]]:
    """Yield for every mention with an antecedent its head word and the head words of its antecedents, ascending."""
    heads_of: dict[str, list[int]] = {}
    for mention in document.mentions:
        before = heads_of.setdefault(mention.entity, [])
        antecedents = sorted({head for head in before if head < mention.head})
        if antecedents:
            yield mention.head, antecedents
        before.append(mention.head)


def mention_kind(upos: str) -> str:
    """Return "pronoun", "proper" or "nominal" for the part of speech of a mention's head."""
    return {"PRON": "pronoun", "PROPN": "proper"}.get(upos, "nominal")
