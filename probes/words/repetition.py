"""Repetition: attention from a word to the same word elsewhere, or to what followed it before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from probes.records import Document, form_of
from probes.registry import PERMUTED, RANDOM, register
from probes.targets import Targets

KINDS = {
    "": "untagged",
    **dict.fromkeys(("ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"), "function"),
}
"Part of speech -> label; all others are content words."


@register
@dataclass(frozen=True)
class Repetition:
    """The most attended other word is the same word again, or the word that followed it when it occurred before.

    Words are the same whatever their letter case; those without a letter or digit are not asked. same word: every
    other occurrence in the window is right. word after: the word after the nearest occurrence before, if that is not
    the query itself (what induction heads of decoders attend to). Labels: content and function words, by their part of
    speech (untagged where there is none).

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, upos = ("Ships", "pass", "ships", "slowly"), ("NOUN", "VERB", "NOUN", "ADV")
    >>> asked = Repetition().targets(Document("d", (Sentence("s", words, frozen_ints([-1] * 4), ("",) * 4, upos),)))
    >>> [(name, int(part.query[-1]), int(part.gold[0][-1]), part.label[-1]) for name, part in asked.items()]
    [('same word', 2, 0, 'content'), ('word after', 2, 1, 'content')]
    """

    name: ClassVar[str] = "repetition"
    variants: ClassVar[tuple[str, ...]] = ("same word", "word after")
    scope: ClassVar[str] = "window"
    baselines: ClassVar[tuple[str, ...]] = ("offset", "likeliest distance", "previous word", "uniform")
    rules: ClassVar[tuple[str, ...]] = ()
    controls: ClassVar[tuple[str, ...]] = (RANDOM, PERMUTED)
    "The same word stays the same wherever it stands, so other words in order control nothing."
    needs: ClassVar[str] = "words"
    source: ClassVar[str] = "Olsson et al. 2022, sections on copying and prefix matching, for encoders"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item an occurrence of a word that occurs more than once, and one a later occurrence."""
        places: dict[str, list[int]] = {}
        for word, form in enumerate(map(same_form, document.words)):
            places.setdefault(form, []).append(word)
        again = [where for form, where in places.items() if form and len(where) > 1]
        asked = [(word, [other for other in where if other != word]) for where in again for word in where]
        pairs = [(later, before + 1) for where in again for before, later in pairwise(where)]
        pairs = [(later, after) for later, after in pairs if later != after]
        kind = [KINDS.get(tag, "content") for tag in document.upos]
        same, after = self.variants
        return {
            same: Targets.sets([word for word, _ in asked], [gold for _, gold in asked], [kind[w] for w, _ in asked]),
            after: Targets.grouped((later, follower, kind[later]) for later, follower in pairs),
        }

    def pool(self, label: str) -> Sequence[str]:
        """An item counts by its kind of word, and among all."""
        return (label, "all")


def same_form(word: str) -> str:
    """Return what makes two words the same, "" for one without a letter or digit."""
    return form_of(word) if any(map(str.isalnum, word)) else ""
