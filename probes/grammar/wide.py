"""Further sentences of the embedded grammar, for its wide style alone: those that seeds gave before stay as they were.

Chains of three conjuncts, a second argument after from, reflexives of a long subject and of an infinitive, "no", times
and adjectives with a preposition, places "where", and the same verb twice.
"""

from __future__ import annotations

from collections.abc import Callable

from probes.grammar import lexicon
from probes.grammar.clauses import Clauses
from probes.grammar.discourse import Discourse, Entity
from probes.grammar.phrases import Phrase, Time, Word, be, joined, noun, prepositional, the
from probes.grammar.predicates import VERBS, Predicate

Kind = Callable[[Clauses], tuple[Phrase, str]]
"Writes a sentence of one kind: its words without the mark at its end, and that mark."

_EVENTS = tuple(verb for verb in VERBS["affects", "person"] if "stative" not in verb.flags)
_PEOPLE = tuple(noun for noun in lexicon.NOUNS if noun.kind == "person")


def _person(discourse: Discourse, *busy: Entity) -> Entity:
    return discourse.choose(("person",), busy, new=0.15)


def _verbs_in_chain(clauses: Clauses) -> tuple[Phrase, str]:
    """Return three verb phrases with one subject."""
    person, verb = _person(clauses.discourse), clauses.discourse.pick(_EVENTS)
    first = clauses.clause(person, Predicate("affects", verb))
    second = clauses.shared(person, (verb,), last=False)
    used = [one for one in _EVENTS if second.head.form in (one.base, one.third, one.past)]
    third = clauses.shared(person, (verb, *used))
    words = [*first.words, *second.under(first.head, "conj"), *third.under(first.head, "conj")]
    return Phrase(words, first.head), "."


def _people_in_chain(clauses: Clauses) -> tuple[Phrase, str]:
    """Return a clause about three people."""
    return clauses.group_clause(3), "."


def _taken(clauses: Clauses) -> tuple[Phrase, str]:
    """Return a clause with an object and where it comes from ("buys a lamp from the merchant")."""
    return clauses.clause(_person(clauses.discourse), Predicate("takes", clauses.discourse.pick(lexicon.TAKING))), "."


def _oneself(clauses: Clauses) -> tuple[Phrase, str]:
    """Return a clause with a reflexive, mostly past other nouns, in an infinitive or not."""
    frame = clauses.discourse.pick(("self", "tries self"))
    return clauses.clause(
        _person(clauses.discourse), Predicate(frame, clauses.discourse.pick(VERBS[frame, "person"]))
    ), "."


def _nobody(clauses: Clauses) -> tuple[Phrase, str]:
    """Return a clause about no one ("No farmers read the letter"), who is never mentioned again."""
    discourse = clauses.discourse
    lexeme = discourse.pick(_PEOPLE)
    word = noun(lexeme, plural=True)
    phrase = Phrase([Word("no", "DET", "PronType=Neg").under(word, "det"), word], word)
    predicate = Predicate("affects", discourse.pick(_EVENTS))
    return clauses.assembled(phrase, Entity("", "person", True, "", lexeme), predicate, Time(clauses.tense)), "."


def _dated(clauses: Clauses) -> tuple[Phrase, str]:
    """Return a clause that ends with a time after a preposition."""
    discourse = clauses.discourse
    clauses.timed = discourse.sentence
    clause = clauses.clause(_person(discourse), Predicate("affects", discourse.pick(_EVENTS)))
    preposition, *article, form = discourse.pick(lexicon.DATES).split()
    head = Word(form, "PROPN" if form[0].isupper() else "NOUN", "Number=Sing")
    when = Phrase([*(the().under(head, "det") for _ in article), head], head)
    return Phrase([*clause.words, *prepositional(preposition, when).under(clause.head, "obl")], clause.head), "."


def _feeling(clauses: Clauses) -> tuple[Phrase, str]:
    """Return a clause whose adjective governs a preposition ("is afraid of the dog")."""
    discourse, phrase = clauses.discourse, clauses.nominals.phrase
    person = _person(discourse)
    adjective, preposition = discourse.pick(lexicon.FEELINGS).split()
    head = Word(adjective, "ADJ", "Degree=Pos")
    words = phrase(person, "nominative", (person,), discourse.pick((0, 1, 2))).under(head, "nsubj")
    words = [*words, be(person.plural, clauses.tense).under(head, "cop"), head]
    other = discourse.choose(("person", "animal"), (person,), new=0.3)
    object = prepositional(preposition, phrase(other, "accusative", (person, other), 0))
    return Phrase([*words, *object.under(head, "obl")], head), "."


def _where(clauses: Clauses) -> tuple[Phrase, str]:
    """Return a clause about a place with a relative clause of place ("The school where Mary works is old")."""
    discourse = clauses.discourse
    place = discourse.choose(("place",), (), new=0.6)
    named = clauses.nominals.phrase(place, "nominative", (place,), 0, pronouns=0.0)
    person, time = _person(discourse, place), Time(clauses.tense)
    verb = discourse.pick([verb for verb in VERBS["acts", "person"] if "manner" in verb.flags])
    subject = clauses.nominals.phrase(person, "nominative", (place, person), 0)
    inner = clauses.assembled(subject, person, Predicate("acts", verb), time, busy=frozenset((place,)))
    where = Word("where", "ADV", "PronType=Rel").under(inner.head, "advmod")
    named.words += [where, *inner.under(named.head, "acl:relcl")]
    return clauses.assembled(named, place, Predicate("is"), time), "."


def _alike(clauses: Clauses) -> tuple[Phrase, str]:
    """Return two clauses with the same verb."""
    predicate = Predicate("affects", clauses.discourse.pick(_EVENTS))
    one = _person(clauses.discourse)
    first = clauses.clause(one, predicate)
    return joined(first, clauses.clause(_person(clauses.discourse, one), predicate), "and"), "."


WIDE: tuple[Kind, ...] = (
    _verbs_in_chain,
    _people_in_chain,
    _taken,
    _oneself,
    _nobody,
    _dated,
    _feeling,
    _where,
    _alike,
) * 3
