"""Which of two: attention from a pronoun to the one of two noun phrases that it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probes.corpora.annotation.antecedents import GENDERS, PronounChoice, choices
from probes.records import Document
from probes.registry import CONTROLS, register
from probes.targets import Targets, key_sets


@register
@dataclass(frozen=True)
class Antecedent:
    """Of two noun phrases the more attended one is the one that the pronoun means.

    One item a pronoun of the third person that has a noun phrase of its entity in the text, and another noun phrase
    beside it: the nearest before it of its entity and the nearest of any other, or after it where none is before. In
    GAP these are the two names, in Winogender and WinoBias the two people; pronouns that mean neither are not asked.
    Personal pronouns and what holds the pronoun itself ("her brother") are no candidates. Both must stand in one window
    with it: of 1,793 such pronouns of GAP, 1,716 are asked in windows of 100 words, 1,789 in those of 150. Labels are
    the pronoun's gender, whether the right one is the nearer or the farther one, what the corpus says of the sentence,
    and gender with that (Rudinger et al. 2018, section 5).

    >>> from probes.records import Document, Mention, Sentence, frozen_ints
    >>> mentions = (Mention((0,), 0, "a"), Mention((1,), 1, "b"), Mention((3,), 3, "a"))
    >>> columns = (("Mary", "Bo", "saw", "her"), frozen_ints([-1] * 4), ("",) * 4, ("PROPN", "PROPN", "VERB", "PRON"))
    >>> text = Document("d", (Sentence("s", *columns, mentions=mentions),))
    >>> asked = Antecedent().targets(text)["pronoun->candidate"]
    >>> int(asked.query[0]), int(asked.gold[0][0]), asked.label[0], asked.candidates[0].tolist()
    (3, 0, 'feminine, farther is right', [0, 1])
    """

    name: ClassVar[str] = "antecedent"
    variants: ClassVar[tuple[str, ...]] = ("pronoun->candidate", "pronoun<-candidate")
    scope: ClassVar[str] = "window"
    baselines: ClassVar[tuple[str, ...]] = (
        *("offset", "likeliest distance", "nearest candidate", "first candidate", "uniform"),
    )
    rules: ClassVar[tuple[str, ...]] = (
        "nearest mention that agrees",
        "same head word or mention that agrees",
        "nearest subject",
        "nearest mention of the same role",
        "likely subject, most mentioned",
    )
    controls: ClassVar[tuple[str, ...]] = CONTROLS
    needs: ClassVar[str] = "candidates"
    source: ClassVar[str] = "Webster et al. 2018, section 3; Rudinger et al. 2018, section 3"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a pronoun."""
        found = list(choices(document))
        pronoun = np.array([one.pronoun for one in found], np.int64)
        right = np.array([one.right for one in found], np.int64)
        candidates = key_sets([sorted((one.right, one.other)) for one in found])
        label = [self._label(document, one) for one in found]
        gold = (right, np.arange(len(found)))
        return {
            "pronoun->candidate": Targets(pronoun, gold, label, candidates),
            "pronoun<-candidate": Targets(pronoun, gold, label, candidates, by_column=True),
        }

    def _label(self, document: Document, one: PronounChoice) -> str:
        place = int(np.searchsorted(document.starts, one.pronoun, "right")) - 1
        parts = (GENDERS[document.words[one.pronoun].lower()], f"{'nearer' if one.nearer else 'farther'} is right")
        return ", ".join(filter(None, (*parts, document.sentences[place].kind)))

    def pool(self, label: str) -> Sequence[str]:
        """An item counts among all, with each part of its label, and with gender and kind of sentence together."""
        gender, place, *kind = label.split(", ")
        return ("all", gender, place, *kind, *(f"{gender}, {one}" for one in kind))
