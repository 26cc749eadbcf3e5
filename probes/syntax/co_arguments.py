"""Co-arguments: attention between the object of a verb and its second argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from probes.records import Document
from probes.registry import TreeProbe, register
from probes.syntax.preposition import headed_phrases
from probes.syntax.temporal import temporal_modifiers
from probes.targets import Targets, both_ways


@register
@dataclass(frozen=True)
class CoArguments(TreeProbe):
    """The most attended other word of an object is the second argument of its verb, or the reverse.

    The second argument is an oblique with a preposition that is no temporal modifier ("borrowed a loan from the bank":
    loan and bank; trees do not tell arguments from other obliques) or an indirect object ("gave her a coin"); labels
    say which.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("borrowed", "loans", "from", "banks"), ("root", "obj", "case", "obl")
    >>> asked = CoArguments().targets(Document("d", (Sentence("s", words, frozen_ints([-1, 0, 3, 0]), relations),)))
    >>> [(name, int(part.query[0]), int(part.gold[0][0]), part.label[0]) for name, part in asked.items()]
    [('object->second argument', 1, 3, 'oblique'), ('second argument->object', 3, 1, 'oblique')]
    """

    name: ClassVar[str] = "co-arguments"
    variants: ClassVar[tuple[str, ...]] = ("object->second argument", "second argument->object")
    source: ClassVar[str] = "Kovaleva et al. 2019, section 4.2 (frame-semantic relations), on trees"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item an object and kind of second argument, and one a second argument."""
        objects: dict[int, list[int]] = {}
        for word, verb in document.arcs("obj"):
            objects.setdefault(verb, []).append(word)
        seconds = [(word, verb, "indirect") for word, verb in document.arcs("iobj") if verb in objects]
        headed = [(word, verb) for _, word, verb in headed_phrases(document)]
        obliques = [arc for arc in (*document.arcs("obl"), *headed) if arc[1] in objects]
        if obliques:
            times = {word for word, _ in temporal_modifiers(document)}
            cased = {word for _, word in document.arcs("case")}.union(word for word, _ in headed) - times
            seconds += [(word, verb, "oblique") for word, verb in obliques if word in cased]
        found = [(object, word, label) for word, verb, label in seconds for object in objects[verb]]
        return both_ways(self.variants, found)
