"""Sentences of the embedded grammar whose subject is put into the other number, or changes places with another noun.

The first are material for activation patching, the second labelled rows for classifiers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from random import Random
from typing import Any

from probes.grammar import generate, lexicon
from probes.minimal_pairs import Kind, LeftOut
from probes.pairs.grammar_pairs import WITHOUT_END, kind_of, other_number
from probes.records import Document
from probes.syntax.agreement import Agreement, agreements, morphology, number_verbs
from probes.syntax.clause import relative_pronouns

SUBJECT, DETERMINER, ATTRACTOR, VERB, OTHER = ROLES = ("subject", "determiner", "attractor", "verb", "other")
"What a word is to the agreement that is asked about."

_COUNTED = ("two", "three", "some", "many", "several")
"Determiners of the grammar that only a plural noun has."
_EITHER = ("det", "nummod", "amod", "nmod")
"Relations of words before a noun."


@dataclass(frozen=True, slots=True)
class NumberSwap:
    """A sentence, and the same with its subject in the other number and so with a verb that no longer agrees."""

    source: str
    "The document, a cluster of the bootstrap."
    kind: Kind
    "Of the clean sentence; its number is that of the right form."
    clean: tuple[str, ...]
    "Words; `clean[verb]` is the right form, which is to be masked."
    corrupted: tuple[str, ...]
    "As many words, of which the subject differs, and its determiner where it shows number; the verb is as it was."
    verb: int
    wrong: str
    "The verb form that agrees with the subject of the corrupted sentence."
    roles: tuple[str, ...]
    """One of ROLES for each word: the noun, its determiner or possessive pronoun, nouns of the other number than the
    clean subject between it and the verb, the verb, and all others."""

    @property
    def right(self) -> str:
        """The verb form that agrees with the subject of the clean sentence."""
        return self.clean[self.verb]


def number_swapped(seed: int) -> Iterator[NumberSwap | LeftOut]:
    """Yield an item for every verb of the grammar that shows number, without end; `seed` decides all."""
    for document in generate(WITHOUT_END, seed):
        yield from number_swaps(document)


def number_swaps(document: Document) -> Iterator[NumberSwap | LeftOut]:
    """Yield an item for every verb that shows number; with a reason where a swap would change more than the subject.

    The other number of a is some; of two, three, some, many and several it is a.
    """
    for sentence in document.split_sentences():
        found = list(agreements(sentence))
        for one in found:
            kind, words = kind_of(sentence, one), sentence.words
            reason = _unfit(sentence, one, found)
            changed = {} if reason else _swapped(sentence, one.subject)
            if changed is None or reason:
                yield LeftOut(document.id, kind, reason or "a determiner without another number")
                continue
            corrupted = tuple(changed.get(i, word) for i, word in enumerate(words))
            wrong = other_number(words[one.verb], plural=_number(sentence, one.verb) == "Plur")
            yield NumberSwap(document.id, kind, words, corrupted, one.verb, wrong, _roles(sentence, one))


def _unfit(sentence: Document, asked: Agreement, found: list[Agreement]) -> str:
    """Return why the subject of a verb cannot be put into the other number alone; "" where it can."""
    subject = asked.subject
    if sentence.upos[subject] != "NOUN":
        return "the subject is no noun"
    if any(head == subject for _, head in sentence.arcs("conj")):
        return "the subject is coordinated"
    same = {subject, *(word for word, noun in relative_pronouns(sentence) if noun == subject)}
    if any(other.subject in same for other in found if other != asked):
        return "another verb agrees with the subject"
    with_subject = {one.verb for one in found}
    if not with_subject.issuperset(number_verbs(sentence)):
        return "a verb without a subject of its own"
    entities = [mention.entity for mention in sentence.mentions]
    if any(entities.count(mention.entity) > 1 for mention in sentence.mentions if mention.head == subject):
        return "the subject is named again in the sentence"
    return ""


def _swapped(sentence: Document, subject: int) -> dict[int, str] | None:
    """Return the words that the other number of a subject changes; None where a determiner has no other number."""
    words = sentence.words
    changed = {subject: _cased(_nouns()[words[subject].lower()], words[subject])}
    for word in _determiners(sentence, subject):
        form = words[word].lower()
        if form in ("a", "an"):
            changed[word] = _cased("some", words[word])
        elif form in _COUNTED:
            follower = changed.get(word + 1, words[word + 1])
            changed[word] = _cased("an" if follower[0] in "aeiou" else "a", words[word])
        elif form != "the" and sentence.upos[word] != "PRON":
            return None
    return changed


def _determiners(sentence: Document, subject: int) -> list[int]:
    """Return the article, number, or possessive pronoun of a noun; adjectives and possessors with 's are none."""
    upos, words = sentence.upos, sentence.words
    before = [word for word, head in sentence.arcs(*_EITHER) if head == subject and word < subject]
    return [i for i in before if upos[i] in ("DET", "NUM", "PRON") or words[i].lower() in _COUNTED]


def _roles(sentence: Document, found: Agreement) -> tuple[str, ...]:
    roles = [OTHER] * len(sentence)
    for word in range(min(found.subject, found.verb) + 1, max(found.subject, found.verb)):
        if sentence.upos[word] in ("NOUN", "PROPN") and _number(sentence, word) != _number(sentence, found.subject):
            roles[word] = ATTRACTOR
    for word in _determiners(sentence, found.subject):
        roles[word] = DETERMINER
    roles[found.subject], roles[found.verb] = SUBJECT, VERB
    return tuple(roles)


def _number(sentence: Document, word: int) -> str | None:
    return morphology(sentence.feats[word]).get("Number")


def _cased(form: str, like: str) -> str:
    return form.capitalize() if like[0].isupper() else form


@cache
def _nouns() -> dict[str, str]:
    nouns = (*lexicon.NOUNS, *lexicon.RELATIVES, *lexicon.GENERAL.values())
    return {one: other for noun in nouns for one, other in ((noun.singular, noun.plural), (noun.plural, noun.singular))}


RULES = ("agreement", "reflexive")
"What decides the label of `rule_rows`: subject and verb agree in number, or a reflexive in gender with its antecedent."


def rule_rows(rule: str, seed: int) -> Iterator[dict[str, str]]:
    """Yield rows of text, label ("right" or "wrong") and group, without end, whose label no bag of words decides.

    Four rows come of a verb whose subject has a noun of the other number in a prepositional phrase: both nouns in
    either order, each with both forms. Of "agreement" these are the forms of the verb: "the king near the ships
    sleeps", "the ships near the king sleeps", and both with "sleep". Of "reflexive" the nouns are a man and a woman,
    and the sentence ends with "hurt himself" or "hurt herself", say. A document is a group.
    """
    if rule not in RULES:
        raise ValueError(f"unknown rule {rule!r}; the rules are {' and '.join(RULES)}")
    for document in generate(WITHOUT_END, seed):
        for sentence in document.split_sentences():
            found = list(agreements(sentence))
            for one in found:
                if _exchangeable(sentence, one, found):
                    yield from _exchanged(sentence, one, rule)


def _exchangeable(sentence: Document, asked: Agreement, found: list[Agreement]) -> bool:
    """Whether the subject and the one noun between it and its verb can change places."""
    if _unfit(sentence, asked, found) or asked.attractors != 1 or asked.subject > asked.verb:
        return False
    (other,) = asked.between
    of_subject = sentence.heads[other] == asked.subject and sentence.deprels[other] == "nmod"
    return of_subject and sentence.upos[other] == "NOUN" and all(other not in one.subjects for one in found)


def _exchanged(sentence: Document, asked: Agreement, rule: str) -> Iterator[dict[str, str]]:
    words = [*sentence.words]
    places = (asked.subject, asked.between[0])
    for word in (determiner for noun in places for determiner in _determiners(sentence, noun)):
        words[word] = _cased("the", words[word])
    forms, after = _verbs(sentence, asked) if rule == "agreement" else _people(Random(" ".join(sentence.words)))
    before, after = words[: asked.verb], after or tuple(words[asked.verb + 1 :])
    for nouns in (tuple(forms), tuple(forms)[::-1]):
        for noun, form in forms.items():
            for place, put in zip(places, nouns, strict=True):
                before[place] = _cased(put, words[place])
            text = " ".join((*before, *form.split(), *after))
            yield {"text": text, "label": "right" if noun == nouns[0] else "wrong", "group": sentence.id}


def _verbs(sentence: Document, asked: Agreement) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return both nouns, each with the form of the verb that agrees with it; the sentence goes on as it did."""
    own, other = (sentence.words[word].lower() for word in (asked.subject, asked.between[0]))
    form = sentence.words[asked.verb]
    return {own: form, other: other_number(form, plural=_number(sentence, asked.verb) == "Plur")}, ()


def _people(random: Random) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return a man and a woman, each with the same verb and the reflexive; the sentence ends there."""
    verb = random.choice(lexicon.REFLEXIVE).past
    man, woman = (random.choice([noun for noun in lexicon.NOUNS if noun.gender == one]) for one in ("Masc", "Fem"))
    return {man.singular: f"{verb} himself", woman.singular: f"{verb} herself"}, (".",)


def gapped_rows(rule: str, seed: int, longest: int = 10) -> Iterator[dict[str, Any]]:
    """Yield texts of `rule_rows` whose form is a gap, "_", and its label: words, label (a list), group, gap and nouns.

    Two rows, a group, come of each sentence of at most `longest` words: both orders of its nouns, which stand at the
    places `nouns` and of which the first is the subject. No text comes twice. Labels are "singular" and "plural", or
    "himself" and "herself".
    """
    known: set[str] = set()
    rows = rule_rows(rule, seed)
    for number, four in enumerate(iter(lambda: [*islice(rows, 4)], [])):
        first, other_form, exchanged, _ = sentences = [row["text"].split() for row in four]
        (gap,), nouns = _differing(first, other_form), _differing(first, exchanged)
        texts = {" ".join([*words[:gap], "_", *words[gap + 1 :]]).lower() for words in sentences}
        if len(first) > longest or known & texts:
            continue
        known |= texts
        for row, words in zip(four, sentences, strict=True):
            if row["label"] == "right":
                form = words[gap] if rule == "reflexive" else "singular" if words[gap].endswith("s") else "plural"
                label = [form if place == gap else None for place in range(len(words))]
                about = {"group": f"{row['group']} {number}", "gap": gap, "nouns": nouns}
                yield {"words": [*words[:gap], "_", *words[gap + 1 :]], "label": label, **about}


def _differing(one: Sequence[str], other: Sequence[str]) -> list[int]:
    return [place for place, (word, instead) in enumerate(zip(one, other, strict=True)) if word != instead]
