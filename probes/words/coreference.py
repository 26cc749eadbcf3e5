"""Coreference: attention from a mention to an antecedent."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probes.records import Document
from probes.registry import CONTROLS, register
from probes.targets import OTHERS, Targets, key_sets
from probes.words.agreement_features import features

PRECEDING, MENTIONS, ALL_WORDS = "preceding mention heads", "all mention heads", "all words"
COREFERENT, COLUMNS = "preceding mention heads without singletons", "preceding mention heads by column"
FOLLOWING = "following mention heads"

FIRST_OR_SECOND, THIRD, CATAPHORA = "pronoun, 1st or 2nd person", "pronoun, 3rd person", "cataphora"

MentionGold = tuple[int, list[int]]
"The head word of a mention, and the head words that are right, ascending."


@register
@dataclass(frozen=True)
class Coreference:
    """The most attended candidate of a mention's head word is the head word of one of its antecedents.

    One item a mention that has an antecedent in the window: a mention of the same entity with an earlier head word.
    The candidates are a named variant: heads of preceding mentions, heads of all other mentions, or all other words
    (Clark et al. 2019, section 4.3, whose code was never released, do not say which); heads of those preceding
    mentions that corefer with another one in the window (without singletons); and `by column` which preceding mention
    attends most to the mention. `following mention heads` asks the other mentions of an entity, the first in the
    window: right is a later one. Its label `cataphora` has third-person pronouns with a name or noun for the same
    entity later in the sentence.

    Labels go by the head word: pronoun, proper, nominal; pronouns also by person, where their form or morphology shows
    it (speakers and hearers need no antecedent to be known). Further labels are bands of the distance to the nearest
    right mention in words, and of the number of mention heads between the two.

    >>> from probes.records import Document, Mention, Sentence, frozen_ints
    >>> mentions = (Mention((0,), 0, "e1"), Mention((2, 3), 3, "e2"), Mention((5,), 5, "e1"))
    >>> words, upos = ("Mary", "saw", "a", "dog", "as", "she", "left"), ("PROPN", "", "", "NOUN", "", "PRON", "")
    >>> heads = frozen_ints([-1] * 7)
    >>> text = Document("d", (Sentence("s", words, heads, ("",) * 7, upos, mentions=mentions),))
    >>> asked = Coreference().targets(text)["preceding mention heads"]
    >>> int(asked.query[0]), int(asked.gold[0][0]), asked.label[0], asked.candidates[0].tolist()
    (5, 0, 'pronoun; pronoun, 3rd person; words=1-5; mentions=1-2', [0, 3])
    """

    name: ClassVar[str] = "coreference"
    variants: ClassVar[tuple[str, ...]] = (PRECEDING, MENTIONS, ALL_WORDS, COREFERENT, COLUMNS, FOLLOWING)
    scope: ClassVar[str] = "window"
    baselines: ClassVar[tuple[str, ...]] = (
        *("offset", "likeliest distance", "previous word", "nearest mention", "same head word", "uniform"),
    )
    rules: ClassVar[tuple[str, ...]] = (
        "nearest mention that agrees",
        "same head word or mention that agrees",
        "nearest subject",
        "nearest mention of the same role",
    )
    controls: ClassVar[tuple[str, ...]] = CONTROLS
    needs: ClassVar[str] = "mentions"
    source: ClassVar[str] = "Clark et al. 2019, section 4.3"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a mention that has an antecedent, and one an entity whose first mention others follow."""
        heads, corefer = mention_heads(document), coreferent_heads(document)
        later = list(first_mentions(document))
        following = _label_all(document, heads, later, _cataphora(document, later))
        found = list(anaphors(document))
        query = np.array([head for head, _ in found], np.int64)
        gold, label = key_sets([right for _, right in found]), _label_all(document, heads, found)
        preceding = key_sets([heads[: bisect_left(heads, head)] for head, _ in found])
        others = key_sets([[other for other in heads if other != head] for head, _ in found])
        without = key_sets([corefer[: bisect_left(corefer, head)] for head, _ in found])
        return {
            PRECEDING: Targets(query, gold, label, preceding),
            MENTIONS: Targets(query, gold, label, others),
            ALL_WORDS: Targets(query, gold, label, OTHERS),
            COREFERENT: Targets(query, gold, label, without),
            COLUMNS: Targets(query, gold, label, preceding, by_column=True),
            FOLLOWING: Targets.sets(
                [head for head, _ in later],
                [right for _, right in later],
                following,
                key_sets([heads[bisect_right(heads, head) :] for head, _ in later]),
            ),
        }

    def pool(self, label: str) -> Sequence[str]:
        """A mention counts with each part of its label, its kind first, and among all."""
        return (*label.split("; "), "all")


def mention_heads(document: Document) -> list[int]:
    """Return the head words of all mentions, ascending, each once."""
    return sorted({mention.head for mention in document.mentions})


def coreferent_heads(document: Document) -> list[int]:
    """Return the head words of mentions whose entity has another head word in the text, ascending, each once."""
    entities = _heads_of(document).values()
    return sorted({head for heads in entities if len(heads) > 1 for head in heads})


def anaphors(document: Document) -> Iterator[MentionGold]:
    """Yield for every mention with an antecedent its head word and the head words of its antecedents, ascending."""
    heads_of: dict[str, list[int]] = {}
    for mention in document.mentions:
        before = heads_of.setdefault(mention.entity, [])
        antecedents = sorted({head for head in before if head < mention.head})
        if antecedents:
            yield mention.head, antecedents
        before.append(mention.head)


def first_mentions(document: Document) -> Iterator[MentionGold]:
    """Yield for every entity with several head words the first and the others, ascending."""
    for heads in _heads_of(document).values():
        first, *later = sorted(heads)
        if later:
            yield first, later


def mention_kind(upos: str) -> str:
    """Return "pronoun", "proper" or "nominal" for the part of speech of a mention's head."""
    return {"PRON": "pronoun", "PROPN": "proper"}.get(upos, "nominal")


def _heads_of(document: Document) -> dict[str, set[int]]:
    heads_of: dict[str, set[int]] = {}
    for mention in document.mentions:
        heads_of.setdefault(mention.entity, set()).add(mention.head)
    return heads_of


def _label_all(
    document: Document, heads: Sequence[int], found: Iterable[MentionGold], cataphora: Sequence[int] = ()
) -> list[str]:
    """Return the labels of mentions; `heads` are those of all mentions."""
    labels = []
    for head, right in found:
        near, far = sorted((head, min(right, key=lambda other: abs(other - head))))
        between = bisect_left(heads, far) - bisect_right(heads, near)
        parts = (*_kinds(document, head), *([CATAPHORA] if head in cataphora else []))
        labels.append("; ".join((*parts, f"words{_word_band(far - near)}", f"mentions{_mention_band(between)}")))
    return labels


def _kinds(document: Document, head: int) -> tuple[str, ...]:
    kind = mention_kind(document.upos[head])
    if kind != "pronoun":
        return (kind,)
    person = features(document.words[head], document.upos[head], document.feats[head]).person
    return (kind, *({"1": (FIRST_OR_SECOND,), "2": (FIRST_OR_SECOND,), "3": (THIRD,)}.get(person, ())))


def _cataphora(document: Document, found: Iterable[MentionGold]) -> list[int]:
    """Return the pronouns of the third person that come before a name or noun for the same in their sentence."""
    ends = [*document.starts[1:].tolist(), len(document)]
    return [
        head
        for head, later in found
        if THIRD in _kinds(document, head)
        and any(
            mention_kind(document.upos[other]) != "pronoun" for other in later if other < ends[bisect_right(ends, head)]
        )
    ]


def _word_band(words: int) -> str:
    return "=1-5" if words <= 5 else "=6-10" if words <= 10 else "=11-20" if words <= 20 else ">=21"


def _mention_band(between: int) -> str:
    return "=0" if not between else "=1-2" if between <= 2 else "=3-5" if between <= 5 else ">=6"
