"""Clauses of the embedded grammar: word order, tense, negation, questions, relative clauses and adverbials."""

from __future__ import annotations

from collections.abc import Collection

from probes.grammar import lexicon
from probes.grammar.discourse import Discourse, Entity
from probes.grammar.lexicon import Verb
from probes.grammar.nominals import Nominals
from probes.grammar.phrases import Phrase, Time, Word, adverb, be, verb_group
from probes.grammar.predicates import UNDERGOING, VERBS, Part, Predicate, Predicates


class Clauses:
    """Writes clauses about the entities of a discourse."""

    def __init__(self, discourse: Discourse, past: bool) -> None:
        self.discourse = discourse
        self.tense = "Past" if past else "Pres"
        self.timed = 0
        "Number of the latest sentence that says when or how often; one says so once."
        self.nominals = Nominals(discourse, self.relative)
        self.predicates = Predicates(discourse, self.nominals, lambda entity: self.clause(entity, embedded=True))

    @property
    def present(self) -> bool:
        """Whether the document is in the present tense."""
        return self.tense == "Pres"

    def clause(
        self, subject: Entity, predicate: Predicate | None = None, *, embedded: bool = False, question: bool = False
    ) -> Phrase:
        """Return a clause about an entity, which it mentions first; one with a given predicate is plain."""
        discourse = self.discourse
        plain = predicate is not None
        predicate = predicate or self.predicates.suiting(subject, embedded)
        time = Time(self.tense) if plain else self.time(predicate, embedded)
        front = [] if question or embedded or not discourse.chance(0.15) else self.when(time, predicate)
        modifiers = discourse.pick((0, 1, 2) if embedded else (1, 2, 2, 3, 3))
        phrase = self.nominals.phrase(subject, "nominative", (subject,), modifiers)
        negated = not question and not plain and discourse.chance(0.14)
        return self.assembled(phrase, subject, predicate, time, front=front, negated=negated, question=question)

    def group_clause(self, size: int = 2) -> Phrase:
        """Return a clause whose subject is a new group of people."""
        group, phrase, members = self.nominals.coordinated(size)
        predicate = self.predicates.suiting(group, embedded=True)
        return self.assembled(phrase, group, predicate, self.time(predicate, embedded=False), busy=members)

    def relative(self, entity: Entity, busy: frozenset[Entity]) -> Phrase:
        """Return a relative clause about an entity that leaves the busy ones alone."""
        discourse = self.discourse
        relativizer = Word(discourse.pick(("who", "that") if entity.kind == "person" else ("that", "which")), "PRON")
        relativizer.feats = "PronType=Rel"
        own = Phrase([relativizer], relativizer)
        verbs = UNDERGOING[entity.kind]
        if not verbs or discourse.chance(0.55):
            predicate = self.predicates.suiting(entity, embedded=True)
            return self.assembled(own, entity, predicate, self.time(predicate, embedded=True), busy=busy)
        predicate = Predicate("gap", discourse.pick(verbs))
        subject = discourse.choose(("person",), busy, new=0.4)
        phrase = self.nominals.phrase(subject, "nominative", busy, 0)
        front = [] if phrase.head.upos != "PROPN" and discourse.chance(0.25) else [(own, "obj")]
        return self.assembled(phrase, subject, predicate, self.time(predicate, embedded=True), front=front, busy=busy)

    def shared(self, subject: Entity, used: Collection[Verb], *, last: bool = True) -> Phrase:
        """Return a further verb phrase, with another verb, for a subject that is named already ("and opens the door").

        One that is not the last follows a comma.
        """
        verb = self.discourse.pick([verb for verb in VERBS["affects", subject.kind] if verb not in used])
        _, main = verb_group(verb, subject.plural, Time(self.tense), support=False)
        words = [Word("and", "CCONJ").under(main, "cc") if last else Word(",", "PUNCT").under(main, "punct"), main]
        for phrase, deprel in self.predicates.complements(subject, Predicate("affects", verb), frozenset((subject,))):
            words += phrase.under(main, deprel)
        return Phrase(words, main)

    def assembled(
        self,
        subject_phrase: Phrase,
        subject: Entity,
        predicate: Predicate,
        time: Time,
        *,
        front: Collection[Part] = (),
        busy: frozenset[Entity] = frozenset(),
        negated: bool = False,
        question: bool = False,
    ) -> Phrase:
        """Return the clause with its words in order; `front` comes before the subject."""
        busy |= {subject}
        if predicate.verb is None:
            own = self.predicates.description(subject, subject_phrase, busy)
            main, verbs = own.head, [be(subject.plural, time.tense).under(own.head, "cop")]
        else:
            support = negated or question
            verbs, main = verb_group(predicate.verb, subject.plural, time, support=support, passive=predicate.passive)
            own = Phrase([main], main)
        words = [word for phrase, deprel in front for word in phrase.under(main, deprel)]
        named = subject_phrase.under(main, "nsubj:pass" if predicate.passive else "nsubj")
        words += [*verbs[:1], *named] if question else [*named, *verbs[:1]]
        if negated:
            words.append(self.negation(verbs[0]).under(main, "advmod"))
        elif form := self.before_verb(predicate, time):
            words.append(adverb(form).under(main, "advmod"))
        words += [*verbs[1:], *own.words]
        for phrase, deprel in [
            *self.predicates.complements(subject, predicate, busy),
            *self.after(predicate, time, busy, front),
        ]:
            words += phrase.under(main, deprel)
        return Phrase(words, main)

    def time(self, predicate: Predicate, embedded: bool) -> Time:
        """Return the tense of the document with an aspect that suits the predicate."""
        verb, chance = predicate.verb, self.discourse.random.random()
        if verb is None or "stative" in verb.flags or chance < 0.52:
            return Time(self.tense)
        if not predicate.passive and chance < (0.9 if embedded else 0.77):
            return Time(self.tense, "progressive")
        if embedded or chance < 0.88 or self.tense == "Past":
            return Time(self.tense, "perfect")
        return Time(self.tense, self.discourse.pick(("will", "can", "must", "should", "may")))

    def negation(self, auxiliary: Word) -> Word:
        """Return not, or n't where it can follow the auxiliary."""
        short = auxiliary.feats.startswith("Mood") and self.discourse.chance(0.45)
        return Word("n't" if short else "not", "PART", "Polarity=Neg")

    def before_verb(self, predicate: Predicate, time: Time) -> str:
        """Return an adverb to go before the verb, "" for none."""
        stative = predicate.verb is not None and "stative" in predicate.verb.flags
        if stative or not self.discourse.chance(0.16):
            return ""
        if time.aspect == "simple" and self.timed != self.discourse.sentence:
            self.timed = self.discourse.sentence
            return self.discourse.pick(lexicon.FREQUENCY)
        return {"progressive": "still", "perfect": "already"}.get(time.aspect, "")

    def when(self, time: Time, predicate: Predicate) -> list[Part]:
        """Return an adverbial of time that suits the tense, nothing for a state or if the sentence has one."""
        if self.timed == self.discourse.sentence or (predicate.verb is not None and "stative" in predicate.verb.flags):
            return []
        self.timed = self.discourse.sentence
        key = (
            "past" if time.tense == "Past" else {"progressive": "now", "perfect": "perfect"}.get(time.aspect, "future")
        )
        if key == "future" and time.aspect == "simple":
            key = "now" if predicate.verb is None else "present"
        before, _, form = self.discourse.pick(lexicon.TIMES[key]).rpartition(" ")
        if form in ("now", "soon"):
            word = adverb(form)
            return [(Phrase([word], word), "advmod")]
        head = Word(form, "NOUN", "Number=Plur" if form == "days" else "Number=Sing")
        if not before:
            return [(Phrase([head], head), "obl:unmarked")]
        kind, deprel = ("ADJ", "amod") if before in ("last", "next") else ("DET", "det")
        return [(Phrase([Word(before, kind).under(head, deprel), head], head), "obl:unmarked")]

    def after(self, predicate: Predicate, time: Time, busy: frozenset[Entity], front: Collection[Part]) -> list[Part]:
        """Return what may follow the complements: a place, a manner, a time."""
        discourse, parts = self.discourse, list[Part]()
        verb = predicate.verb
        if verb is not None and predicate.frame == "acts" and "still" not in verb.flags and discourse.chance(0.5):
            parts.append((self.predicates.location(busy), "obl"))
        elif verb is not None and "manner" in verb.flags and predicate.frame != "gap" and discourse.chance(0.12):
            word = adverb(discourse.pick(lexicon.MANNER))
            parts.append((Phrase([word], word), "advmod"))
        if not front and predicate.frame in ("acts", "affects", "gives", "undergoes") and discourse.chance(0.14):
            parts += self.when(time, predicate)
        return parts
