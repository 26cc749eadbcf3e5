"""Coordination: attention between neighbouring conjuncts, and from a conjoined verb to the subject that it shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from probes.records import Document
from probes.registry import TreeProbe, register
from probes.targets import Targets, both_ways

KINDS = dict.fromkeys(("NOUN", "PROPN", "PRON"), "noun") | dict.fromkeys(("VERB", "AUX"), "verb")
"Part of speech of a conjunct -> label; all others are other."


@register
@dataclass(frozen=True)
class Coordination(TreeProbe):
    """The most attended other word of a conjunct is the conjunct before it, of a conjoined verb its shared subject.

    The conjunct before is the nearest one in the chain; Universal Dependencies attach all of them to the first. Labels
    say what is conjoined (noun, verb, other) and mark the third conjunct of a chain and all after it as later: for the
    second one the question is that of `dependency`. A verb shares the subject of the verb to which it is conjoined if
    it has none of its own ("ships turned and sank"). Both are asked in reverse as well.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("ships", "turned", "and", "sank"), ("nsubj", "root", "cc", "conj")
    >>> upos = ("NOUN", "VERB", "CCONJ", "VERB")
    >>> asked = Coordination().targets(
    ...     Document("d", (Sentence("s", words, frozen_ints([1, -1, 3, 1]), relations, upos),))
    ... )
    >>> [(name, int(part.query[0]), int(part.gold[0][0]), part.label[0]) for name, part in list(asked.items())[::2]]
    [('conjunct->conjunct before', 3, 1, 'verb'), ('verb->shared subject', 3, 0, 'all')]
    """

    name: ClassVar[str] = "coordination"
    variants: ClassVar[tuple[str, ...]] = (
        "conjunct->conjunct before",
        "conjunct->conjunct after",
        "verb->shared subject",
        "subject->conjoined verb",
    )
    source: ClassVar[str] = "Clark et al. 2019, section 4.2 (conj), with the nearest conjunct as the answer"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a conjunct after the first, a conjoined verb, and a conjunct or subject before them."""
        found = [(later, before, _label(document.upos[later], nth)) for later, before, nth in neighbours(document)]
        shared = [(verb, subject, "all") for verb, subject in shared_subjects(document)]
        return both_ways(self.variants[:2], found) | both_ways(self.variants[2:], shared)

    def pool(self, label: str) -> Sequence[str]:
        """An item counts by what is conjoined, as later if it is, and among all."""
        return tuple(dict.fromkeys((*label.split(), "all")))


def neighbours(document: Document) -> Iterator[tuple[int, int, int]]:
    """Yield every conjunct after the first of its chain, the one before it, and which it is, 2 for the second."""
    chains: dict[int, list[int]] = {}
    for conjunct, first in document.arcs("conj"):
        chains.setdefault(first, [first]).append(conjunct)
    for chain in map(sorted, chains.values()):
        for nth in range(1, len(chain)):
            yield chain[nth], chain[nth - 1], nth + 1


def shared_subjects(document: Document) -> Iterator[tuple[int, int]]:
    """Yield every conjoined verb without a subject of its own, with the subject of the verb that it is conjoined to."""
    conjoined = document.arcs("conj")
    if not conjoined:
        return
    subjects: dict[int, int] = {}
    for subject, verb in document.arcs("nsubj"):
        subjects.setdefault(verb, subject)
    own = {verb for _, verb in document.arcs("nsubj", "csubj", "expl")}
    for verb, first in conjoined:
        if document.upos[verb] in ("VERB", "AUX") and verb not in own and first in subjects:
            yield verb, subjects[first]


def _label(upos: str, nth: int) -> str:
    return KINDS.get(upos, "other") + (" later" if nth > 2 else "")
