"""Agreement among distractors: attention from a verb or reflexive to the noun group that it agrees with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probes.records import Document
from probes.registry import TreeProbe, register
from probes.targets import Targets, key_sets

REFLEXIVES = frozenset(
    ["myself", "ourselves", "yourself", "yourselves", "himself", "herself", "itself", "themselves", "themself"]
)

GROUPS, NOUNS = "noun groups", "head nouns"

_MANY = 3
"From this number on distractors are counted together."

Group = tuple[int, ...]
"Words of a noun group, ascending."


@dataclass(frozen=True)
class Agreeing:
    """A verb or reflexive, and the noun groups of its sentence by their head words."""

    query: int
    kind: str
    '"verb" or "reflexive".'
    right: tuple[int, ...]
    "Heads of the groups that it agrees with: one, or several subjects of one verb."
    groups: dict[int, Group]
    "Head -> words of every candidate, the right ones among them; at least one more."

    def words(self, heads: Sequence[int]) -> Group:
        """Return the words of several groups."""
        return tuple(word for head in heads for word in self.groups[head])


@register
@dataclass(frozen=True)
class Distractors(TreeProbe):
    """The most attended word of all noun groups is of the group with which a verb or reflexive agrees.

    One item a verb (or auxiliary) on which a subject hangs, and one a reflexive with an antecedent in the sentence. The
    candidates are the noun groups of the sentence: the words of a mention up to its head that no mention inside it has.
    A group is right as a whole or, in the second variant, by its head noun alone. An item has at least one distractor.
    Other mentions of a reflexive's entity are no candidates. Labels are verb or reflexive, the number of distractors,
    and what the corpus says of the sentence, which for open-sesame is the file (Lin, Tan and Frank 2019, section 4;
    their measure in bits is in `probes.maps.confusion`).

    >>> from probes.records import Document, Mention, Sentence, frozen_ints
    >>> mentions = (Mention((0, 1), 1, "a"), Mention((3,), 3, "b"))
    >>> words, heads = ("the", "ships", "near", "Bo", "sank"), frozen_ints([-1, 4, -1, -1, -1])
    >>> columns = (words, heads, ("", "nsubj", "", "", ""), ("", "NOUN", "", "PROPN", "VERB"))
    >>> text = Document("d", (Sentence("s", *columns, mentions=mentions),))
    >>> asked = Distractors().targets(text)["noun groups"]
    >>> int(asked.query[0]), asked.gold[0].tolist(), asked.candidates[0].tolist(), asked.label[0]
    (4, [0, 1], [0, 1, 3], 'verb, 1 distractor')
    """

    name: ClassVar[str] = "distractors"
    variants: ClassVar[tuple[str, ...]] = (GROUPS, NOUNS)
    baselines: ClassVar[tuple[str, ...]] = (
        "offset",
        "likeliest distance",
        "nearest candidate",
        "first candidate",
        "uniform",
    )
    rules: ClassVar[tuple[str, ...]] = (
        "nearest word of a tag set",
        "nearest noun or pronoun",
        "nearest noun that agrees",
        "first noun or pronoun",
        "nearest mention that agrees",
    )
    needs: ClassVar[str] = "noun groups"
    source: ClassVar[str] = "Lin, Tan and Frank 2019, section 4"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a verb or reflexive that has a distractor."""
        found = [(one, kind) for one, kind in agreeing(document)]
        query = np.array([one.query for one, _ in found], np.int64)
        label = [", ".join(filter(None, (one.kind, _counted(one), kind))) for one, kind in found]
        words = [(one.words(one.right), one.words(list(one.groups))) for one, _ in found]
        heads = [(one.right, tuple(one.groups)) for one, _ in found]
        return {
            variant: Targets(query, key_sets([gold for gold, _ in keys]), label, key_sets([every for _, every in keys]))
            for variant, keys in ((GROUPS, words), (NOUNS, heads))
        }

    def pool(self, label: str) -> Sequence[str]:
        """An item counts among all, and with each part of its label."""
        return ("all", *label.split(", "))


def _counted(one: Agreeing) -> str:
    number = len(one.groups) - len(one.right)
    return "1 distractor" if number == 1 else f"{'>=' if number >= _MANY else ''}{min(number, _MANY)} distractors"


def agreeing(document: Document) -> Iterator[tuple[Agreeing, str]]:
    """Yield every verb and reflexive that has a noun group to agree with and a distractor, and its sentence's kind."""
    for sentence, start in zip(document.sentences, document.starts.tolist(), strict=True):
        for one in _in_sentence(Document(document.id, (sentence,))):
            groups = {head + start: tuple(word + start for word in words) for head, words in one.groups.items()}
            right = tuple(head + start for head in one.right)
            yield Agreeing(one.query + start, one.kind, right, groups), sentence.kind


def _in_sentence(text: Document) -> Iterator[Agreeing]:
    groups = noun_groups(text)
    subjects: dict[int, list[int]] = {}
    for head in groups:
        verb = int(text.heads[head])
        if verb >= 0 and text.deprels[head].partition(":")[0] == "nsubj" and text.upos[verb] in ("VERB", "AUX"):
            subjects.setdefault(verb, []).append(head)
    for verb, heads in sorted(subjects.items()):
        others = {head: words for head, words in groups.items() if verb not in words}
        if set(heads) < set(others):
            yield Agreeing(verb, "verb", tuple(heads), others)
    for mention in text.mentions:
        if text.words[mention.head].lower() not in REFLEXIVES:
            continue
        same = {one.head for one in text.mentions if one.entity == mention.entity}
        before = [head for head in groups if head in same and head < mention.head]
        others = {head: words for head, words in groups.items() if head not in same and mention.head not in words}
        if before and others:
            right = max(before)
            yield Agreeing(mention.head, "reflexive", (right,), dict(sorted({**others, right: groups[right]}.items())))


def noun_groups(text: Document) -> dict[int, Group]:
    """Return the words of every noun group by its head, in the order of the heads.

    A word belongs to the shortest mention that has it, unless it stands after that mention's head.
    """
    owner: dict[int, int] = {}
    for mention in sorted(text.mentions, key=lambda mention: (len(mention.words), mention.words)):
        for word in mention.words:
            owner.setdefault(word, mention.head)
    groups: dict[int, list[int]] = {}
    for word, head in sorted(owner.items()):
        if word <= head:
            groups.setdefault(head, []).append(word)
    return {head: tuple(words) for head, words in sorted(groups.items()) if head in words}
