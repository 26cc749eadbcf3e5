"""Temporal modifiers: attention between a predicate and the word that says when, how long or how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from probes.records import Document
from probes.registry import TreeProbe, register
from probes.syntax.preposition import GOVERNORS, headed_phrases
from probes.targets import Targets, both_ways

_ADVERBS = """
    ago afterwards again already always before early earlier eventually finally forever formerly frequently immediately
    initially late lately later never now nowadays occasionally often once originally presently previously rarely
    recently seldom shortly sometimes soon still subsequently then today tomorrow tonight usually yesterday yet
    daily weekly monthly yearly annually
"""
_SPANS = "second minute hour day night week weekend fortnight month quarter season year decade century moment while"
_TIMES = """
    time date morning noon afternoon evening midnight dawn dusk birthday christmas easter thanksgiving
    spring summer autumn fall winter past present future period era age beginning end meantime
    mon tue tues wed thu thur thurs fri mon. tue. tues. wed. thu. thurs. fri. sat. sun.
    january february march april may june july august september october november december
    jan feb apr jun jul aug sep sept oct nov dec jan. feb. mar. apr. jun. jul. aug. sep. sept. oct. nov. dec.
"""
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_COUNTED = (*_SPANS.split(), *_DAYS.split(), "time", "morning", "afternoon", "evening")
_DATES = ("centuries", "a.m.", "am", "p.m.", "pm", "o'clock", *map(str, range(1500, 2100)))
_LISTED = (*_ADVERBS.split(), *_SPANS.split(), *_TIMES.split(), *_DAYS.split(), *_DATES)
WORDS = frozenset((*_LISTED, *(f"{word}s" for word in _COUNTED)))
"English time words, and years: a closed list, as trees seldom say which adverbials are of time."


@register
@dataclass(frozen=True)
class Temporal(TreeProbe):
    """The most attended other word of a predicate is its temporal modifier, or the reverse.

    A temporal modifier is an oblique (obl) or adverb (advmod) from a closed list of time words, or any word whose
    relation says so (obl:tmod, nmod:tmod); its predicate is its head. In the labels of spaCy it is an adverb, an
    npadvmod, or a pobj whose preposition hangs on the predicate. Labels say how it is put: adverb ("now"), bare
    ("yesterday", "last week"), prepositional ("in 2004").

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("she", "approved", "it", "yesterday"), ("nsubj", "root", "obj", "obl:unmarked")
    >>> asked = Temporal().targets(Document("d", (Sentence("s", words, frozen_ints([1, -1, 1, 1]), relations),)))
    >>> [(name, int(part.query[0]), int(part.gold[0][0]), part.label[0]) for name, part in asked.items()]
    [('predicate->time', 1, 3, 'bare'), ('time->predicate', 3, 1, 'bare')]
    """

    name: ClassVar[str] = "temporal"
    variants: ClassVar[tuple[str, ...]] = ("predicate->time", "time->predicate")
    source: ClassVar[str] = "Clark et al. 2019, section 4.2 (tmod, in the notebook beside table 1)"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a predicate and way of saying when, and one a temporal modifier."""
        found = [(head, word, _form(document, word)) for word, head in temporal_modifiers(document)]
        return both_ways(self.variants, found)


def temporal_modifiers(document: Document) -> list[tuple[int, int]]:
    """Return every temporal modifier with its predicate."""
    words, deprels = document.words, document.deprels
    headed = [
        (word, head) for _, word, head in headed_phrases(document) if GOVERNORS.get(document.upos[head]) != "noun"
    ]
    adverbials = (*document.arcs("obl", "advmod", "npadvmod"), *headed)
    found = [arc for arc in adverbials if words[arc[0]].lower() in WORDS]
    sentences = [arc for arc in document.arcs("obl", "nmod") if deprels[arc[0]].endswith(":tmod")]
    return sorted({*found, *sentences}) if sentences else found


def _form(document: Document, word: int) -> str:
    if document.deprels[word].startswith("advmod"):
        return "adverb"
    prepositional = document.deprels[word] == "pobj" or any(head == word for _, head in document.arcs("case"))
    return "prepositional" if prepositional else "bare"
