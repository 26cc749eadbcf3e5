"""Templates of made sentences: which part of a construction each word is, and so which noun is the subject."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

from probes.corpora.open_sesame import AUXILIARIES, plural
from probes.grammar import lexicon
from probes.grammar.phrases import finite
from probes.records import Document, Sentence, frozen_ints
from probes.syntax.agreement import morphology

SUBJECT, NOUN, VERB = "S", "N", "V"

COMPOUNDS: Final = ("taxi",)
"First words of nouns of two words; the second has the number."

PREPOSITIONS: Final = (
    *("next to", "in front of", "to the side of", "across from"),
    *("behind", "near", "from", "by", "around", "upon", "above", "below", "with"),
)
"Prepositions of the templates; one of several words is one preposition, whose nouns are no candidates."

REST: Final = {
    **dict.fromkeys(("joy", "tennis", "television", "journal", "day"), "Number=Sing"),
    **dict.fromkeys(("people", "years", "languages", "colleagues", "shows"), "Number=Plur"),
}
"Nouns in the rest of verb phrases, and their number."

Tags = tuple[str, str]
"Part of speech and morphology of a word."


def _verb(form: str) -> Tags:
    return "AUX" if form in ("is", "are", "does", "do") else "VERB", finite(not form.endswith("s"), "Pres")


def _noun(form: str) -> Tags:
    number = None if form in COMPOUNDS else plural(form)
    return "NOUN", {None: "", True: "Number=Plur", False: "Number=Sing"}[number]


def _all(upos: str, feats: str = "") -> Callable[[str], Tags]:
    return lambda form: (upos, feats)


_WORD, _NOUNS = r"[\w']+", rf"(?:(?:{'|'.join(COMPOUNDS)}) )?[\w']+"

SLOTS: Final[Mapping[str, tuple[str, Callable[[str], Tags]]]] = {
    SUBJECT: (_NOUNS, _noun),
    NOUN: (_NOUNS, _noun),
    VERB: (f"<{_WORD}>", _verb),
    "v": (_WORD, _verb),
    "past": (_WORD, _all("VERB", "Tense=Past|VerbForm=Fin")),
    "modal": ("|".join(AUXILIARIES), lambda form: _verb(form) if form in ("does", "do") else ("AUX", "VerbForm=Fin")),
    "bare": (_WORD, _all("VERB", "VerbForm=Inf")),
    "D": ("the|my|your|her|his|our|their", _all("DET")),
    "P": ("|".join(PREPOSITIONS), _all("ADP")),
    "R": ("that|who", _all("PRON", "PronType=Rel")),
    "and": ("and", _all("CCONJ")),
}
"Slot -> what may stand there, and how it is tagged. S is the subject of V, the verb asked for; v another one."

ANYTHING: Final = "*"
"The slot of any number of words, none too."


@dataclass(frozen=True)
class Template:
    """A construction: its slots in their order, and the relations between them that agreement needs.

    >>> prepositional = Template("across a prepositional phrase", "D S P D N V *", "P case N, N nmod S")
    >>> filled = prepositional.fill("the ships next to the port are old".split(), 6)
    >>> filled.head("S"), filled.head("P"), filled.head("N")
    (1, 3, 5)
    """

    construction: str
    slots: str
    "Names of SLOTS, or ANYTHING, parted by blanks."
    arcs: str = ""
    'Relations besides that of the subject to its verb: "P case N, N nmod S".'

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What a sentence of the template is, its verb in angle brackets, a blank before every word; a group a slot."""
        return re.compile("".join(f"({_pattern(slot)})" for slot in self.slots.split()))

    def fill(self, words: Sequence[str], verb: int) -> Filled | None:
        """Return which words fill the slots, None where the sentence is none of the template."""
        text = "".join(f" <{word}>" if i == verb else f" {word}" for i, word in enumerate(words))
        if (match := self.pattern.fullmatch(text)) is None:
            return None
        spans = [range(text.count(" ", 0, start), text.count(" ", 0, end)) for start, end in match.regs[1:]]
        return Filled(self, tuple(words), tuple(zip(self.slots.split(), spans, strict=True)))


def _pattern(slot: str) -> str:
    return rf"(?: {_WORD})*" if slot == ANYTHING else f" (?:{SLOTS[slot][0]})"


@dataclass(frozen=True)
class Filled:
    """A sentence, and the words in every slot of its template."""

    template: Template
    words: tuple[str, ...]
    spans: tuple[tuple[str, range], ...]

    def head(self, slot: str) -> int:
        """Return the last word of a slot."""
        return next(span[-1] for name, span in self.spans if name == slot)

    @property
    def agrees(self) -> bool:
        """Whether the subject has the number that the verb shows."""
        _, feats = self._tags()
        number, shown = (morphology(feats[self.head(slot)]).get("Number") for slot in (SUBJECT, VERB))
        return number == shown

    def document(self, source: str, name: str) -> Document:
        """Return the sentence as a document; its id, the cluster, is source, construction and the nouns' base forms."""
        nouns = [singular(self.words[span[-1]]) for slot, span in self.spans if slot in (SUBJECT, NOUN)]
        sentence = self._sentence(name)
        return Document(f"{source}: {sentence.kind}: {' '.join(nouns)}", (sentence,))

    def _sentence(self, name: str) -> Sentence:
        heads, deprels = [-1] * len(self.words), [""] * len(self.words)
        for arc in (f"{SUBJECT} nsubj {VERB}", *filter(None, self.template.arcs.split(", "))):
            dependent, relation, head = arc.split()
            heads[self.head(dependent)], deprels[self.head(dependent)] = self.head(head), relation
        upos, feats = self._tags()
        kind = self.template.construction
        return Sentence(name, self.words, frozen_ints(heads), tuple(deprels), upos, feats, kind=kind)

    def _tags(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return part of speech and morphology of all words."""
        tags: list[Tags] = []
        for slot, span in self.spans:
            words = [self.words[i] for i in span]
            rest = (("NOUN", REST[word]) if word in REST else ("", "") for word in words)
            tags += rest if slot == ANYTHING else map(SLOTS[slot][1], words)
        upos, feats = zip(*tags, strict=True)
        return upos, feats


def singular(noun: str) -> str:
    """Return the base form of an English noun: of those of the grammar, else without the s of a plural.

    >>> singular("wolves"), singular("ships"), singular("ship")
    ('wolf', 'ship', 'ship')
    """
    return _singulars().get(noun) or (noun[:-1] if plural(noun) else noun)


@cache
def _singulars() -> dict[str, str]:
    nouns = (*lexicon.NOUNS, *lexicon.RELATIVES, *lexicon.GENERAL.values())
    return {form: noun.singular for noun in nouns for form in (noun.singular, noun.plural)}
