"""Which of two: attention from a pronoun to the one of two noun phrases that it means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probes.records import Document, Mention
from probes.registry import CONTROLS, register
from probes.targets import Targets, key_sets

GENDERS = {
    **dict.fromkeys(("he", "him", "his", "himself"), "masculine"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "feminine"),
    **dict.fromkeys(("it", "its", "itself"), "neuter"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themselves", "themself"), "they"),
}
"Pronoun -> the label it is counted under; other pronouns are not asked."

_PERSONAL = "i me my mine myself we us our ours ourselves you your yours yourself yourselves"
_SPEAKERS = frozenset(_PERSONAL.split())


@dataclass(frozen=True)
class Choice:
    """A pronoun, the noun phrase that it means, and another one; head words of all three."""

    pronoun: int
    right: int
    other: int

    @property
    def nearer(self) -> bool:
        """Whether the right one is the nearer one."""
        return abs(self.right - self.pronoun) < abs(self.other - self.pronoun)


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
    baselines: ClassVar[tuple[str, ...]] = ("offset", "nearest candidate", "first candidate", "uniform")
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

    def _label(self, document: Document, one: Choice) -> str:
        place = int(np.searchsorted(document.starts, one.pronoun, "right")) - 1
        parts = (GENDERS[document.words[one.pronoun].lower()], f"{'nearer' if one.nearer else 'farther'} is right")
        return ", ".join(filter(None, (*parts, document.sentences[place].kind)))

    def pool(self, label: str) -> Sequence[str]:
        """An item counts among all, with each part of its label, and with gender and kind of sentence together."""
        gender, place, *kind = label.split(", ")
        return ("all", gender, place, *kind, *(f"{gender}, {one}" for one in kind))


def choices(document: Document) -> Iterator[Choice]:
    """Yield every pronoun of a text that is asked, with the two candidates."""
    words = [word.lower() for word in document.words]
    phrases = [m for m in document.mentions if words[m.head] not in GENDERS and words[m.head] not in _SPEAKERS]
    for mention in document.mentions:
        pronoun = mention.head
        if words[pronoun] not in GENDERS or len(mention.words) > 1:
            continue
        outside = [phrase for phrase in phrases if pronoun not in phrase.words]
        right = _nearest(pronoun, (phrase for phrase in outside if phrase.entity == mention.entity))
        heads = {phrase.head for phrase in outside if phrase.entity == mention.entity}
        other = _nearest(pronoun, (one for one in outside if one.entity != mention.entity and one.head not in heads))
        if right is not None and other is not None:
            yield Choice(pronoun, right, other)


def _nearest(pronoun: int, phrases: Iterable[Mention]) -> int | None:
    """Return the head nearest before a pronoun, else the nearest after it."""
    heads = [phrase.head for phrase in phrases]
    return min(heads, key=lambda head: (head > pronoun, abs(head - pronoun)), default=None)
