"""Noun phrases of the embedded grammar: pronouns, names, descriptions with possessors and modifiers, coordination."""

from __future__ import annotations

from collections.abc import Callable, Collection

from probes.grammar.discourse import Discourse, Entity
from probes.grammar.lexicon import ATTRIBUTIVE, PREPOSITIONS, Noun
from probes.grammar.phrases import Phrase, Word, noun, prepositional, pronoun, the

RelativeClause = Callable[[Entity, frozenset[Entity]], Phrase]
_PLURAL_DETERMINERS = ("the", "the", "the", "two", "three", "some", "many", "several")
_UNIQUE = ("place", "landmark")


class Nominals:
    """Writes noun phrases for the entities of a discourse, and notes every one as a mention."""

    def __init__(self, discourse: Discourse, relative: RelativeClause) -> None:
        self.discourse = discourse
        self.relative = relative
        "Returns a relative clause about an entity that mentions none of the others it is given."

    def phrase(
        self,
        entity: Entity,
        case: str,
        busy: Collection[Entity],
        modifiers: int = 0,
        *,
        pronouns: float = 0.85,
        outer: bool | None = None,
    ) -> Phrase:
        """Return a mention of an entity: a pronoun where that is clear, its name, or its noun.

        `busy` are the entities of the clause, which modifiers leave alone; `modifiers` is the most nouns that
        prepositional phrases may add, `pronouns` the probability of a clear pronoun, and `outer` the number of the
        phrase around this one (True for plural), which modifiers tend to differ from.
        """
        discourse = self.discourse
        if discourse.clear(entity) and (
            entity.group or entity.last == discourse.sentence or discourse.chance(pronouns)
        ):
            word = pronoun(entity.pronoun, case)
            return discourse.mention(entity, Phrase([word], word))
        if entity.last >= 0 and discourse.chance(0.5) and (general := discourse.general(entity)):
            return self._described(entity, general, [the()], frozenset(busy) | {entity}, 0)
        if entity.noun is None or (entity.name and (not entity.introduced or discourse.chance(0.5))):
            return self._name(entity, case == "nominative" and modifiers > 0)
        return self._description(entity, entity.noun, frozenset(busy) | {entity}, modifiers, outer)

    def _name(self, entity: Entity, introduce: bool) -> Phrase:
        """Return a mention by name, with a description between commas where it can be the first ("Mary, a nurse,")."""
        name = Word(entity.name, "PROPN", f"Animacy=Hum|Gender={entity.gender}|Number=Sing")
        phrase = self.discourse.mention(entity, Phrase([name], name))
        if introduce and not entity.introduced and entity.noun is not None:
            entity.introduced = True
            article = Word("a", "DET", "Definite=Ind|PronType=Art")
            apposed = self._described(entity, entity.noun, [article], frozenset((entity,)), 0)
            commas = [Word(",", "PUNCT").under(apposed.head, "punct") for _ in range(2)]
            phrase.words += [commas[0], *apposed.under(name, "appos"), commas[1]]
        return phrase

    def reflexive(self, entity: Entity) -> Phrase:
        """Return himself, herself, itself or themselves."""
        word = pronoun(entity.pronoun, "reflexive")
        return self.discourse.mention(entity, Phrase([word], word))

    def relative_of(self, busy: Collection[Entity]) -> Phrase | None:
        """Return a mention of a new relative of someone whom a pronoun names ("her brother"), None if nobody is."""
        owners = [one for one in self.discourse.entities if one.kind == "person" and self.discourse.clear(one)]
        if not owners:
            return None
        owner = self.discourse.pick(owners)
        entity, lexeme = self.discourse.new_relative()
        return self._described(entity, lexeme, self._possessor(owner, busy), frozenset(busy) | {entity}, 0)

    def coordinated(self, members: int = 2) -> tuple[Entity, Phrase, frozenset[Entity]]:
        """Return a new group, the phrase that names its members ("Mary and the farmers"), and these."""
        discourse = self.discourse
        people = [discourse.choose(("person",), discourse.groups, new=0.2)]
        first = self.phrase(people[0], "accusative", (), pronouns=0.0)
        whole = Phrase(list(first.words), first.head)
        while len(people) < members:
            person = discourse.choose(("person",), discourse.groups | set(people), new=0.3)
            named = self.phrase(person, "accusative", people, pronouns=0.0)
            people.append(person)
            last = len(people) == members
            form, upos, deprel = ("and", "CCONJ", "cc") if last else (",", "PUNCT", "punct")
            whole.words += [Word(form, upos).under(named.head, deprel), *named.under(first.head, "conj")]
        group = discourse.new_group()
        return group, discourse.mention(group, whole), frozenset(people)

    def _description(
        self, entity: Entity, lexeme: Noun, busy: frozenset[Entity], modifiers: int, outer: bool | None
    ) -> Phrase:
        """Return a mention by noun, with a possessor, an article or a number if it is the first."""
        discourse = self.discourse
        if entity.last >= 0:
            return self._described(entity, lexeme, [the()], busy, modifiers, outer)
        owners = [
            other for other in discourse.entities if other.kind == "person" and self._can_own(other, entity, busy)
        ]
        if owners and entity.kind in ("animal", "object", "text", "vehicle") and discourse.chance(0.45):
            return self._described(entity, lexeme, self._possessor(discourse.pick(owners), busy), busy, 0)
        if entity.plural:
            form = "the" if entity.kind in _UNIQUE else discourse.pick(_PLURAL_DETERMINERS)
        else:
            form = "a" if discourse.chance(0.45) and entity.kind not in _UNIQUE else "the"
        if form in ("two", "three"):
            determiner = Word(form, "NUM", "NumForm=Word|NumType=Card")
        elif form == "the":
            determiner = the()
        elif form == "a":
            determiner = Word(form, "DET", "Definite=Ind|PronType=Art")
        else:
            determiner = Word(form, "ADJ" if form in ("many", "several") else "DET")
        return self._described(entity, lexeme, [determiner], busy, modifiers, outer)

    def _can_own(self, owner: Entity, owned: Entity, busy: Collection[Entity]) -> bool:
        """Return whether a person can be named as the owner here."""
        if owner is owned or owner.last < 0:
            return False
        return self.discourse.clear(owner) or (
            owner not in busy and not owner.group and owner.last < self.discourse.sentence
        )

    def _possessor(self, owner: Entity, busy: Collection[Entity]) -> list[Word]:
        """Return the words for an owner, whose head is to become a nmod:poss: a pronoun, or a name or noun with 's."""
        phrase = self.phrase(owner, "possessive", busy, 0)
        if phrase.head.upos != "PRON":
            mark = "'" if phrase.words[-1].form.endswith("s") and owner.plural else "'s"
            phrase.words.append(Word(mark, "PART").under(phrase.head, "case"))
        return phrase.words

    def _described(
        self,
        entity: Entity,
        lexeme: Noun,
        before: list[Word],
        busy: frozenset[Entity],
        modifiers: int = 0,
        outer: bool | None = None,
    ) -> Phrase:
        """Return determiner or possessor, adjective, noun and modifiers."""
        discourse = self.discourse
        head = noun(lexeme, entity.plural)
        if discourse.chance(0.28 if entity.last < 0 else 0.06):
            adjective = Word(discourse.pick(ATTRIBUTIVE[entity.kind]), "ADJ", "Degree=Pos")
            before = [*before, adjective.under(head, "amod")]
        words = [*before, head]
        if words[0].form == "a" and words[1].form[0] in "aeiou":
            words[0].form = "an"
        for word in before:
            if word.head is None:
                word.under(head, _relation(word))
        phrase = discourse.mention(entity, Phrase(words, head))
        if modifiers > 0 and entity.kind != "landmark" and discourse.chance(0.85):
            phrase.words += self._modifier(entity, head, busy, modifiers, entity.plural if outer is None else outer)
        return phrase

    def _modifier(self, entity: Entity, head: Word, busy: frozenset[Entity], modifiers: int, outer: bool) -> list[Word]:
        """Return a prepositional phrase or a relative clause for a noun; nouns are mostly plural if `outer` is not."""
        discourse = self.discourse
        if discourse.chance(0.4):
            return self.relative(entity, busy).under(head, "acl:relcl")
        preposition, kind = discourse.pick(PREPOSITIONS[entity.kind]).split()
        if discourse.chance(0.12):
            other = discourse.choose((kind,), busy, new=0.0)
        else:
            other = discourse.new(kind, plural=outer != discourse.chance(0.8), named=0.2)
        inner = self.phrase(other, "accusative", busy, modifiers - 1, outer=outer)
        return prepositional(preposition, inner).under(head, "nmod")


def _relation(word: Word) -> str:
    """Return the relation of a word before a noun, by its part of speech."""
    return {"NUM": "nummod", "DET": "det", "ADJ": "amod"}.get(word.upos, "nmod:poss")
