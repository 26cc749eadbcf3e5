"""Coreference: does a head attend from a mention to an antecedent?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probes.records import Document
from probes.registry import register
from probes.targets import OTHERS, Targets, key_sets

PRECEDING, MENTIONS, ALL_WORDS = "preceding mention heads", "all mention heads", "all words"


@register
@dataclass(frozen=True)
class Coreference:
    """The most attended candidate of a mention's head word is the head word of one of its antecedents.

    One item a head word of a mention with an antecedent in the window. The candidates are a named variant: heads of
    preceding mentions, heads of all other mentions, or all other words (Clark et al. 2019, section 4.3, whose code was
    never released, do not say which). Labels go by the head word: pronoun, proper, nominal.

    >>> from probes.records import Document, Mention, Sentence, frozen_ints
    >>> heads, upos = frozen_ints([1, -1, 1, 2]), ("PROPN", "VERB", "ADV", "PRON")
    >>> mentions = (Mention((0,), 0, "e1"), Mention((3,), 3, "e1"))
    >>> text = Document("d", (Sentence("s", ("Ada", "said", "so", "herself"), heads, ("",) * 4, upos, mentions=mentions),))
    >>> asked = Coreference().targets(text)["all words"]
    >>> int(asked.query[0]), int(asked.gold[0][0]), asked.label[0]
    (3, 0, 'pronoun')
    """

    name: ClassVar[str] = "coreference"
    variants: ClassVar[tuple[str, ...]] = (PRECEDING, MENTIONS, ALL_WORDS)
    scope: ClassVar[str] = "window"
    baselines: ClassVar[tuple[str, ...]] = ("offset", "nearest mention", "same head word", "uniform")
    needs: ClassVar[str] = "mentions"
    source: ClassVar[str] = "Clark et al. 2019, section 4.3"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a mention head that has an antecedent."""
        anaphors = antecedents(document)
        query = np.array(list(anaphors), np.int64)
        label = [mention_kind(document.upos[word]) for word in anaphors]
        gold = key_sets(list(anaphors.values()))
        heads = mention_heads(document)
        preceding = key_sets([[head for head in heads if head < word] for word in anaphors])
        others = key_sets([[head for head in heads if head != word] for word in anaphors])
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


def antecedents(document: Document) -> dict[int, list[int]]:
    """Return for every mention head with an antecedent in the text the heads of its antecedents, ascending."""
    heads_of: dict[str, list[int]] = {}
    found: dict[int, set[int]] = {}
    for mention in document.mentions:
        earlier = [head for head in heads_of.get(mention.entity, []) if head < mention.head]
        if earlier:
            found.setdefault(mention.head, set()).update(earlier)
        heads_of.setdefault(mention.entity, []).append(mention.head)
    return {head: sorted(gold) for head, gold in sorted(found.items())}


def mention_kind(upos: str) -> str:
    """Return "pronoun", "proper" or "nominal" for the part of speech of a mention's head."""
    return {"PRON": "pronoun", "PROPN": "proper"}.get(upos, "nominal")
