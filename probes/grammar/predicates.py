"""What the embedded grammar says about its subjects: frames, verbs that suit them, and what these verbs need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from probes.grammar import lexicon
from probes.grammar.discourse import Discourse, Entity
from probes.grammar.lexicon import Verb
from probes.grammar.nominals import Nominals
from probes.grammar.phrases import Phrase, Word, prepositional

Part = tuple[Phrase, str]
"A phrase and its relation to the verb."
_FRAMES = {
    "person": ("acts",) * 8
    + ("affects",) * 17
    + ("gives",) * 7
    + ("is",) * 6
    + ("claims",) * 6
    + ("tries",) * 5
    + ("self",) * 3,
    "animal": ("acts",) * 4 + ("affects",) * 7 + ("is",) * 3 + ("tries",) * 2 + ("self",),
    "thing": ("acts",) * 2 + ("is",) * 5 + ("undergoes",) * 5,
}
_ACTIVE_ONLY = ("have", "need", "fear", "surprise", "know", "like", "keep", "meet")
_TABLES = {
    "acts": lexicon.INTRANSITIVE,
    "affects": lexicon.TRANSITIVE,
    "gives": lexicon.GIVING,
    "claims": lexicon.CLAUSAL,
    "tries": lexicon.CONTROL,
    "self": lexicon.REFLEXIVE,
    "takes": lexicon.TAKING,
    "tries self": lexicon.CONTROL,
}
VERBS = {
    (frame, kind): tuple(verb for verb in table if kind in verb.subjects)
    for frame, table in _TABLES.items()
    for kind in lexicon.ATTRIBUTIVE
}
UNDERGOING = {
    kind: tuple(
        verb
        for verb in lexicon.TRANSITIVE
        if kind in verb.objects and "person" in verb.subjects and verb.base not in _ACTIVE_ONLY
    )
    for kind in lexicon.ATTRIBUTIVE
}
_CONTROLLED = {
    kind: tuple(
        verb
        for verb in (*lexicon.INTRANSITIVE, *lexicon.TRANSITIVE)
        if kind in verb.subjects and "stative" not in verb.flags and verb.base not in ("disappear", "fall", "surprise")
    )
    for kind in ("person", "animal")
}


@dataclass(frozen=True, slots=True)
class Predicate:
    """What a clause says about its subject, before it is put into words."""

    frame: str
    verb: Verb | None = None
    "None for a predicate with is."

    @property
    def passive(self) -> bool:
        """Whether the subject is the one affected."""
        return self.frame == "undergoes"


class Predicates:
    """Chooses predicates and writes what follows their verbs."""

    def __init__(self, discourse: Discourse, nominals: Nominals, clause: Callable[[Entity], Phrase]) -> None:
        self.discourse = discourse
        self.nominals = nominals
        self.clause = clause
        "Returns an embedded clause about an entity."

    def suiting(self, subject: Entity, embedded: bool) -> Predicate:
        """Return a predicate that suits a subject; an embedded one embeds no further clause."""
        pick = self.discourse.pick
        frame = pick(_FRAMES.get(subject.kind, _FRAMES["thing"]))
        if embedded and frame == "claims":
            frame = "affects"
        if frame == "undergoes" and UNDERGOING[subject.kind]:
            return Predicate(frame, pick(UNDERGOING[subject.kind]))
        verbs = VERBS.get((frame, subject.kind), ())
        return Predicate(frame, pick(verbs)) if verbs else Predicate("is")

    def complements(self, subject: Entity, predicate: Predicate, busy: frozenset[Entity]) -> list[Part]:
        """Return what the verb needs after it."""
        verb = predicate.verb
        if verb is None:
            return []
        make: dict[str, Callable[[], list[Part]]] = {
            "affects": lambda: self.affected(verb, busy),
            "gives": lambda: self.given(verb, busy),
            "claims": self.claimed,
            "tries": lambda: self.tried(subject, busy),
            "self": lambda: [(self.nominals.reflexive(subject), "obj")],
            "undergoes": lambda: self.agent(busy),
            "takes": lambda: self.taken(verb, busy),
            "tries self": lambda: self.tried_on_oneself(subject),
        }
        return make[predicate.frame]() if predicate.frame in make else []

    def affected(self, verb: Verb, busy: frozenset[Entity]) -> list[Part]:
        """Return the object of a verb."""
        discourse = self.discourse
        if "person" in verb.objects and discourse.chance(0.2) and (found := self.nominals.relative_of(busy)):
            return [(found, "obj")]
        other = discourse.choose(verb.objects, busy, new=0.3)
        modifiers = discourse.pick((0, 0, 0, 1))
        return [(self.nominals.phrase(other, "accusative", busy, modifiers), "obj")]

    def given(self, verb: Verb, busy: frozenset[Entity]) -> list[Part]:
        """Return the one who receives and the thing that is given, in either order."""
        discourse, phrase = self.discourse, self.nominals.phrase
        person = discourse.choose(("person",), busy | discourse.groups, new=0.2)
        thing = discourse.choose(verb.objects, busy, new=0.6)
        busy |= {person, thing}
        if discourse.clear(thing) or discourse.chance(0.4):
            first = phrase(thing, "accusative", busy, 0)
            return [(first, "obj"), (prepositional("to", phrase(person, "accusative", busy, 0)), "obl")]
        first = phrase(person, "accusative", busy, 0)
        return [(first, "iobj"), (phrase(thing, "accusative", busy, 0), "obj")]

    def taken(self, verb: Verb, busy: frozenset[Entity]) -> list[Part]:
        """Return the thing that is taken and the one who had it."""
        thing = self.discourse.choose(verb.objects, busy, new=0.6)
        person = self.discourse.choose(("person",), busy | self.discourse.groups | {thing}, new=0.2)
        busy |= {person, thing}
        first = self.nominals.phrase(thing, "accusative", busy, 0)
        return [(first, "obj"), (prepositional("from", self.nominals.phrase(person, "accusative", busy, 0)), "obl")]

    def claimed(self) -> list[Part]:
        """Return the clause that is thought or said."""
        discourse = self.discourse
        kind = discourse.pick(("person", "person", "person", "animal", "object", "place"))
        clause = self.clause(discourse.choose((kind,), (), new=0.35))
        if discourse.chance(0.75):
            clause.words.insert(0, Word("that", "SCONJ").under(clause.head, "mark"))
        return [(clause, "ccomp")]

    def tried(self, subject: Entity, busy: frozenset[Entity]) -> list[Part]:
        """Return an infinitive, whose subject is that of the verb before."""
        verb = self.discourse.pick(_CONTROLLED[subject.kind])
        head = Word(verb.base, "VERB", "VerbForm=Inf")
        words = [Word("to", "PART").under(head, "mark"), head]
        if verb.objects:
            for phrase, deprel in self.affected(verb, busy):
                words += phrase.under(head, deprel)
        elif self.discourse.chance(0.5):
            words += self.location(busy).under(head, "obl")
        return [(Phrase(words, head), "xcomp")]

    def tried_on_oneself(self, subject: Entity) -> list[Part]:
        """Return an infinitive whose object is its subject ("to hide herself")."""
        head = Word(self.discourse.pick(VERBS["self", subject.kind]).base, "VERB", "VerbForm=Inf")
        oneself = self.nominals.reflexive(subject).under(head, "obj")
        return [(Phrase([Word("to", "PART").under(head, "mark"), head, *oneself], head), "xcomp")]

    def agent(self, busy: frozenset[Entity]) -> list[Part]:
        """Return who does it to the subject of a passive, if that is said."""
        if not self.discourse.chance(0.5):
            return []
        person = self.discourse.choose(("person",), busy, new=0.25)
        return [(prepositional("by", self.nominals.phrase(person, "accusative", busy, 0)), "obl:agent")]

    def description(self, subject: Entity, named: Phrase, busy: frozenset[Entity]) -> Phrase:
        """Return what the subject is, who has just been named: an adjective, two, or a place."""
        discourse = self.discourse
        if subject.kind not in ("place", "landmark") and discourse.chance(0.3):
            return self.location(busy, lexicon.PLACES.get(subject.kind, lexicon.LOCATIONS))
        said = {word.form for word in named.words}
        options = [form for form in lexicon.PREDICATIVE[subject.kind] if form not in said]
        head = Word(discourse.pick(options), "ADJ", "Degree=Pos")
        second = Word(discourse.pick(options), "ADJ", "Degree=Pos").under(head, "conj")
        if second.form == head.form or not discourse.chance(0.2):
            return Phrase([head], head)
        return Phrase([head, Word("and", "CCONJ").under(second, "cc"), second], head)

    def location(self, busy: frozenset[Entity], options: Sequence[str] = lexicon.LOCATIONS) -> Phrase:
        """Return a prepositional phrase that says where."""
        preposition, kind = self.discourse.pick(options).split()
        place = self.discourse.choose((kind,), busy, new=0.85)
        preposition = "near" if place.plural and preposition == "in" else preposition
        return prepositional(preposition, self.nominals.phrase(place, "accusative", busy, 0, pronouns=0.0))
