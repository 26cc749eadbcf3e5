"""Pronouns of a text, each with the noun phrase that it means and another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from probes.records import Document, Mention

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
class PronounChoice:
    """A pronoun, the noun phrase that it means, and another one; head words of all three."""

    pronoun: int
    right: int
    other: int

    @property
    def nearer(self) -> bool:
        """Whether the right one is the nearer one."""
        return abs(self.right - self.pronoun) < abs(self.other - self.pronoun)


def choices(document: Document) -> Iterator[PronounChoice]:
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
            yield PronounChoice(pronoun, right, other)


def _nearest(pronoun: int, phrases: Iterable[Mention]) -> int | None:
    """Return the head nearest before a pronoun, else the nearest after it."""
    heads = [phrase.head for phrase in phrases]
    return min(heads, key=lambda head: (head > pronoun, abs(head - pronoun)), default=None)
