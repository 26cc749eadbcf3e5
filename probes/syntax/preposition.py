"""Prepositions: attention between a preposition, its object, and the noun or verb that governs both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from probes.records import Document
from probes.registry import TreeProbe, register
from probes.targets import Targets, both_ways

GOVERNORS = dict.fromkeys(("NOUN", "PROPN", "PRON", "NUM", "SYM"), "noun") | dict.fromkeys(("VERB", "AUX"), "verb")
"Part of speech of what governs a prepositional phrase -> label; all others, such as adjectives, are other."


@register
@dataclass(frozen=True)
class Preposition(TreeProbe):
    """The most attended other word of a preposition is its object, or the word that governs it; or the reverse.

    A preposition is a case dependent, the possessive 's aside, of a nominal modifier (nmod) or oblique (obl), which is
    its object; what governs the two is the head of the object: "walked" of "walked on the street". In the labels of
    spaCy it is the head of a pobj, and its own head governs. Labels say whether that is a noun, a verb or another word
    (a pronoun or number counts as a noun).

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("ships", "sank", "near", "ports"), ("nsubj", "root", "case", "obl")
    >>> upos = ("NOUN", "VERB", "ADP", "NOUN")
    >>> asked = Preposition().targets(
    ...     Document("d", (Sentence("s", words, frozen_ints([1, -1, 3, 1]), relations, upos),))
    ... )
    >>> [(name, int(part.query[0]), int(part.gold[0][0]), part.label[0]) for name, part in list(asked.items())[::2]]
    [('preposition->object', 2, 3, 'verb'), ('governor->preposition', 1, 2, 'verb')]
    """

    name: ClassVar[str] = "preposition"
    variants: ClassVar[tuple[str, ...]] = (
        "preposition->object",
        "object->preposition",
        "governor->preposition",
        "preposition->governor",
    )
    source: ClassVar[str] = "Clark et al. 2019, section 4.2 and table 1 (pobj, prep)"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a preposition, object and governor."""
        found = [(*phrase, GOVERNORS.get(document.upos[phrase[2]], "other")) for phrase in phrases(document)]
        objects = [(word, object, label) for word, object, _, label in found]
        governors = [(governor, word, label) for word, _, governor, label in found]
        return both_ways(self.variants[:2], objects) | both_ways(self.variants[2:], governors)


def phrases(document: Document) -> list[tuple[int, int, int]]:
    """Return every preposition with its object and what governs the two."""
    governed = dict(document.arcs("nmod", "obl"))
    cases = document.arcs("case") if governed else ()
    found = [(word, object, governed[object]) for word, object in cases if object in governed]
    return [phrase for phrase in found if document.upos[phrase[0]] != "PART"] + headed_phrases(document)


def headed_phrases(document: Document) -> list[tuple[int, int, int]]:
    """Return the same where prepositions are heads, as in the labels of spaCy's English pipelines; else none."""
    heads = document.heads
    return [(word, object, int(heads[word])) for object, word in document.arcs("pobj") if heads[word] >= 0]
