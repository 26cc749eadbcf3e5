"""Words that know their heads, and phrases made of them: the trees of the embedded grammar while they grow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from probes.grammar.lexicon import Noun, Verb
from probes.records import Mention, Sentence

PRONOUNS = {
    "he": ("he", "him", "his", "himself", "Gender=Masc|Number=Sing"),
    "she": ("she", "her", "her", "herself", "Gender=Fem|Number=Sing"),
    "it": ("it", "it", "its", "itself", "Gender=Neut|Number=Sing"),
    "they": ("they", "them", "their", "themselves", "Number=Plur"),
}
"Subject, object, possessive and reflexive form, and the morphology that they share."
_CASES = {
    "nominative": (0, "Case=Nom|{}|Person=3|PronType=Prs"),
    "accusative": (1, "Case=Acc|{}|Person=3|PronType=Prs"),
    "possessive": (2, "Case=Gen|{}|Person=3|Poss=Yes|PronType=Prs"),
    "reflexive": (3, "Case=Acc|{}|Person=3|PronType=Prs|Reflex=Yes"),
}
_ANIMACY = {"person": "Hum", "animal": "Anim"}
_BE = {("Past", False): "was", ("Past", True): "were", ("Pres", False): "is", ("Pres", True): "are"}
_HAVE = {("Past", False): "had", ("Past", True): "had", ("Pres", False): "has", ("Pres", True): "have"}
_DO = {("Past", False): "did", ("Past", True): "did", ("Pres", False): "does", ("Pres", True): "do"}


class Word:
    """A word on its way into a sentence; `head` and `deprel` are set when it is attached."""

    __slots__ = ("deprel", "feats", "form", "head", "upos")

    def __init__(self, form: str, upos: str, feats: str = "") -> None:
        self.form, self.upos, self.feats = form, upos, feats
        self.head: Word | None = None
        self.deprel = "root"

    def under(self, head: Word, deprel: str) -> Word:
        """Attach this word to its head and return it."""
        self.head, self.deprel = head, deprel
        return self


@dataclass(slots=True)
class Phrase:
    """Words in their order with the one that heads the others."""

    words: list[Word]
    head: Word

    def under(self, head: Word, deprel: str) -> list[Word]:
        """Attach the phrase to a head and return its words."""
        self.head.under(head, deprel)
        return self.words


@dataclass(frozen=True, slots=True)
class Time:
    """When a clause happens: a tense and an aspect."""

    tense: str
    '"Pres" or "Past".'
    aspect: str = "simple"
    '"simple", "progressive", "perfect" or a modal verb.'


def noun(lexeme: Noun, plural: bool) -> Word:
    """Return a noun with its number, animacy and, for people whose word says so, gender."""
    feats = [f"Animacy={_ANIMACY.get(lexeme.kind, 'Inan')}", f"Number={'Plur' if plural else 'Sing'}"]
    if lexeme.gender:
        feats.insert(1, f"Gender={lexeme.gender}")
    return Word(lexeme.plural if plural else lexeme.singular, "NOUN", "|".join(feats))


def pronoun(kind: str, case: str) -> Word:
    """Return he, she, it or they in a case."""
    form, feats = _CASES[case]
    return Word(PRONOUNS[kind][form], "PRON", feats.format(PRONOUNS[kind][4]))


def adverb(form: str) -> Word:
    """Return an adverb."""
    return Word(form, "ADV", "Degree=Pos" if form.endswith("ly") or form == "often" else "")


def prepositional(preposition: str, phrase: Phrase) -> Phrase:
    """Put a preposition before a noun phrase."""
    return Phrase([Word(preposition, "ADP").under(phrase.head, "case"), *phrase.words], phrase.head)


def the() -> Word:
    """Return the definite article."""
    return Word("the", "DET", "Definite=Def|PronType=Art")


def joined(first: Phrase, second: Phrase, conjunction: str) -> Phrase:
    """Return two clauses with a comma and a conjunction between them."""
    between = [Word(",", "PUNCT").under(second.head, "punct"), Word(conjunction, "CCONJ").under(second.head, "cc")]
    return Phrase([*first.words, *between, *second.under(first.head, "conj")], first.head)


def finite(plural: bool, tense: str) -> str:
    """Return the morphology of a finite verb in the third person."""
    return f"Mood=Ind|Number={'Plur' if plural else 'Sing'}|Person=3|Tense={tense}|VerbForm=Fin"


def be(plural: bool, tense: str) -> Word:
    """Return is, are, was or were."""
    return Word(_BE[tense, plural], "AUX", finite(plural, tense))


def verb_group(
    verb: Verb, plural: bool, time: Time, *, support: bool, passive: bool = False
) -> tuple[list[Word], Word]:
    """Return the auxiliaries, attached to the main verb and the finite one first, and the main verb.

    `support` asks for an auxiliary in any case (do), as negation and questions need it.
    """
    shown = finite(plural, time.tense)
    active = {
        "base": Word(verb.base, "VERB", "VerbForm=Inf"),
        "gerund": Word(verb.gerund, "VERB", "Tense=Pres|VerbForm=Part"),
        "participle": Word(verb.participle, "VERB", "Tense=Past|VerbForm=Part" + ("|Voice=Pass" if passive else "")),
    }
    if time.aspect == "progressive":
        return _grouped(active["gerund"], (be(plural, time.tense), "aux"))
    if time.aspect == "perfect":
        have = Word(_HAVE[time.tense, plural], "AUX", shown)
        been = [(Word("been", "AUX", "Tense=Past|VerbForm=Part"), "aux:pass")] if passive else []
        return _grouped(active["participle"], (have, "aux"), *been)
    if time.aspect != "simple":
        modal = Word(time.aspect, "AUX", "VerbForm=Fin")
        if passive:
            return _grouped(active["participle"], (modal, "aux"), (Word("be", "AUX", "VerbForm=Inf"), "aux:pass"))
        return _grouped(active["base"], (modal, "aux"))
    if passive:
        return _grouped(active["participle"], (be(plural, time.tense), "aux:pass"))
    if support:
        return _grouped(active["base"], (Word(_DO[time.tense, plural], "AUX", shown), "aux"))
    form = verb.past if time.tense == "Past" else verb.base if plural else verb.third
    return [], Word(form, "VERB", shown)


def _grouped(main: Word, *auxiliaries: tuple[Word, str]) -> tuple[list[Word], Word]:
    """Attach auxiliaries to the main verb."""
    return [word.under(main, deprel) for word, deprel in auxiliaries], main


def sentence(id: str, words: Sequence[Word], mentions: Iterable[tuple[Phrase, str]]) -> Sentence:
    """Return the finished sentence, its first letter capital; `mentions` pairs phrases with entity ids."""
    place = {word: i for i, word in enumerate(words)}
    first = words[0].form
    found = [
        Mention(tuple(sorted(place[word] for word in phrase.words)), place[phrase.head], entity)
        for phrase, entity in mentions
    ]
    return Sentence(
        id=id,
        words=(first[0].upper() + first[1:], *(word.form for word in words[1:])),
        heads=np.array([-1 if word.head is None else place[word.head] for word in words], np.int64),
        deprels=tuple(word.deprel for word in words),
        upos=tuple(word.upos for word in words),
        feats=tuple(word.feats for word in words),
        mentions=tuple(sorted(found, key=lambda mention: (mention.head, mention.words))),
    )
