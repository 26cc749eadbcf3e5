"""Minimal pairs of the embedded grammar: a reflexive or pronoun that fits its antecedent, and one that fits nobody."""

from __future__ import annotations

from collections.abc import Iterator

from probes.grammar import generate
from probes.grammar.phrases import PRONOUNS
from probes.minimal_pairs import PLURAL, PRONOUN_CHOICE, REFLEXIVES, SINGULAR, Kind, MinimalPair
from probes.pairs.grammar_pairs import WITHOUT_END
from probes.records import Document, Mention
from probes.syntax.agreement import agreements, morphology
from probes.words.reflexive import reflexives

ANYTHING = frozenset(PRONOUNS)
_PERSON = frozenset(("he", "she", "they"))
_ANIMAL = frozenset(("he", "she", "it"))
_BY_GENDER = {"Masc": frozenset(("he",)), "Fem": frozenset(("she",)), "Neut": frozenset(("it",))}
_BY_ANIMACY = {"Hum": _PERSON, "Anim": _ANIMAL, "Inan": frozenset(("it",))}
_UNSAID = ("its",)
"Forms that the grammar never says, so that a model trained on it could know them for wrong by that alone."
_PLACES = ("in the sentence", "in the sentence before")


def reflexive_corpus(seed: int) -> Iterator[MinimalPair]:
    """Yield the pairs of `reflexive_pairs`, document by document, without end; `seed` decides all."""
    for document in generate(WITHOUT_END, seed):
        yield from reflexive_pairs(document)


def pronoun_corpus(seed: int) -> Iterator[MinimalPair]:
    """Yield the pairs of `pronoun_pairs`, document by document, without end; `seed` decides all."""
    for document in generate(WITHOUT_END, seed):
        yield from pronoun_pairs(document)


def reflexive_pairs(document: Document) -> Iterator[MinimalPair]:
    """Yield a sentence with its reflexive and with each other one that the subject of the clause cannot be called by.

    The condition is what the two forms differ in: gender, number or animacy. Attractors are the other entities between
    subject and reflexive that the wrong form suits.
    """
    for sentence in document.split_sentences():
        for found in reflexives(sentence):
            own = next((one for one in sentence.mentions if one.words == (found.word,)), None)
            suits = readings(sentence, own)
            if own is None or own.entity not in suits:
                continue
            start = max(found.named or found.subjects, key=lambda word: (word < found.word, -abs(word - found.word)))
            between = range(min(start, found.word) + 1, max(start, found.word))
            near = {one.entity for one in sentence.mentions if one.head in between} - {own.entity}
            right, case = _form(sentence, found.word)
            for wrong in sorted(ANYTHING - suits[own.entity]):
                baselines = sum(wrong in suits[entity] for entity in near)
                kind = Kind("reflexive", _contrast(right, wrong), baselines, _number(right), REFLEXIVES)
                yield _pair(sentence, found.word, PRONOUNS[wrong][case], kind)


def pronoun_pairs(document: Document) -> Iterator[MinimalPair]:
    """Yield a text with a pronoun, and with each other one in the same case that no entity of the text can be meant by.

    The text is the shortest run of sentences that holds a noun or name for the entity before the pronoun. Asked is the
    last mention of an entity only, for a later one would tell the form as well. They is never wrong where two
    entities might be meant together, and of a subject whose verb shows number no pronoun of the other number is wrong
    by its antecedent alone. Attractors are not counted: one that the wrong form suits would make it right.
    """
    for last, sentence in enumerate(document.sentences):
        for mention in sentence.mentions:
            feats = sentence.feats[mention.head]
            if "PronType=Prs" not in feats or "Reflex=Yes" in feats:
                continue
            first = _antecedent(document, last, mention)
            if first is not None:
                text = Document(document.id, document.sentences[first : last + 1])
                shown = mention.shifted(int(text.starts[-1]))
                yield from _wrong_pronouns(text, shown, last - first)


def _wrong_pronouns(text: Document, mention: Mention, sentences: int) -> Iterator[MinimalPair]:
    """Yield the pairs of one pronoun, whose antecedent is so many sentences before."""
    own = mention.head
    if any(other.entity == mention.entity and other.head > own for other in text.mentions):
        return
    suits = readings(text, mention)
    licensed = frozenset[str]().union(*suits.values()) | ({"they"} if len(suits) > 1 else set())
    agreeing = any(found.subject == own for found in agreements(text))
    right, case = _form(text, own)
    for wrong in sorted(ANYTHING - licensed):
        contrast, form = _contrast(right, wrong), PRONOUNS[wrong][case]
        if form not in _UNSAID and not (agreeing and contrast == "number"):
            where = _PLACES[sentences] if sentences < len(_PLACES) else "farther back"
            kind = Kind("pronoun", f"{contrast}, antecedent {where}", None, _number(right), PRONOUN_CHOICE)
            yield _pair(text, own, form, kind)


def readings(text: Document, left_out: Mention | None = None) -> dict[str, frozenset[str]]:
    """Return for every entity of a text the pronouns that all its mentions allow, leaving out the one that is asked.

    A person whose gender no word shows may be he, she or they; an animal he, she or it.
    """
    found: dict[str, frozenset[str]] = {}
    for mention in text.mentions:
        if mention != left_out:
            found[mention.entity] = found.get(mention.entity, ANYTHING) & _allowed(text, mention)
    return found


def _allowed(text: Document, mention: Mention) -> frozenset[str]:
    """Return the pronouns that may stand for what a mention says; they for people named by coordination."""
    if any(text.deprels[word] == "conj" and text.heads[word] == mention.head for word in mention.words):
        return frozenset(("they",))
    shown = morphology(text.feats[mention.head])
    if shown.get("Number") == "Plur":
        return frozenset(("they",))
    return _BY_GENDER.get(shown.get("Gender", ""), _BY_ANIMACY.get(shown.get("Animacy", ""), ANYTHING))


def _antecedent(document: Document, last: int, pronoun: Mention) -> int | None:
    """Return the nearest sentence, `last` or one before, with a noun or name for the entity before the pronoun."""
    for number in range(last, -1, -1):
        sentence = document.sentences[number]
        named = (one for one in sentence.mentions if sentence.upos[one.head] in ("NOUN", "PROPN"))
        before = (one for one in named if number < last or one.words[-1] < pronoun.head)
        if any(one.entity == pronoun.entity for one in before):
            return number
    return None


def _form(text: Document, word: int) -> tuple[str, int]:
    """Return which of PRONOUNS a word is, and which of its forms."""
    shown = morphology(text.feats[word])
    case = 3 if "Reflex" in shown else 2 if "Poss" in shown else 1 if shown.get("Case") == "Acc" else 0
    return next(kind for kind, forms in PRONOUNS.items() if forms[case] == text.words[word].lower()), case


def _contrast(right: str, wrong: str) -> str:
    if "they" in (right, wrong):
        return "number"
    return "animacy" if "it" in (right, wrong) else "gender"


def _number(right: str) -> str:
    return PLURAL if right == "they" else SINGULAR


def _pair(text: Document, word: int, form: str, kind: Kind) -> MinimalPair:
    words = text.words
    wrong = form.capitalize() if words[word][0].isupper() else form
    return MinimalPair(text.id, kind, words, (*words[:word], wrong, *words[word + 1 :]))
