"""Who has been mentioned in a generated document, and when a pronoun says clearly whom it means."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from probes.grammar.lexicon import GENERAL, NAMES, NOUNS, RELATIVES, Noun
from probes.grammar.phrases import Phrase

T = TypeVar("T")
_BY_KIND = {kind: tuple(noun for noun in NOUNS if noun.kind == kind) for kind in {noun.kind for noun in NOUNS}}
MAN_AND_WOMAN = {noun.gender: noun for noun in NOUNS if noun.singular in ("man", "woman")}
_NEVER = -2


@dataclass(eq=False, slots=True)
class Entity:
    """Someone or something that a document talks about."""

    id: str
    kind: str
    plural: bool
    gender: str
    '"Masc" or "Fem" for a person, also where the noun does not show it; "" for everything else.'
    noun: Noun | None = None
    "None for groups and for people known by name only."
    name: str = ""
    introduced: bool = True
    "Whether the document has said who the bearer of a name is (Mary, a teacher)."
    last: int = _NEVER
    "Number of the sentence with the latest mention."

    @property
    def pronoun(self) -> str:
        """The pronoun for this entity."""
        if self.plural:
            return "they"
        return "it" if self.kind != "person" else "he" if self.gender == "Masc" else "she"

    @property
    def readings(self) -> tuple[str, ...]:
        """The pronouns that a reader would accept: he or she for a person whose noun does not show gender."""
        unshown = self.kind == "person" and not self.plural and not self.name and self.noun and not self.noun.gender
        return ("he", "she") if unshown else (self.pronoun,)

    @property
    def group(self) -> bool:
        """Whether this is a group named by coordination, which only a pronoun can mention again."""
        return self.noun is None and not self.name


class Discourse:
    """The entities of one document and the mentions of its current sentence."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.entities: list[Entity] = []
        self.sentence = 0
        self.mentions: list[tuple[Phrase, str]] = []
        self.used: set[str] = set()
        "Nouns and names that stand for one entity."
        self.reserved: set[str] = set()
        "General nouns that have stood for an entity, and must not become another's own."

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return self.random.random() < probability

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options, all equally likely."""
        return options[int(self.random.random() * len(options))]

    def next_sentence(self) -> None:
        """Forget the mentions of the sentence before; its entities stay known."""
        self.sentence += 1
        self.mentions = []

    def mention(self, entity: Entity, phrase: Phrase) -> Phrase:
        """Note a mention and return its phrase, whose words may still grow."""
        self.mentions.append((phrase, entity.id))
        entity.last = self.sentence
        return phrase

    def clear(self, entity: Entity) -> bool:
        """Return whether a pronoun can only mean this entity.

        It must have been mentioned in this sentence or the one before, and be the only one of those so mentioned that
        a reader would call by its pronoun.
        """
        recent = self.sentence - 1
        return entity.last >= recent and not any(
            other is not entity and other.last >= recent and entity.pronoun in other.readings for other in self.entities
        )

    def general(self, entity: Entity) -> Noun | None:
        """Return a general noun that can only mean this entity (the animal, the woman), None if there is none.

        It must have been mentioned in this sentence or the one before, as the only one of its kind and number.
        """
        recent = self.sentence - 1
        person = entity.kind == "person"
        noun = MAN_AND_WOMAN.get(entity.gender) if person else GENERAL.get(entity.kind)
        if noun is None or entity.plural or entity.last < recent or noun.singular in self.used:
            return None
        for other in self.entities:
            baseline = entity.pronoun in other.readings if person else other.kind == entity.kind and not other.plural
            if other is not entity and other.last >= recent and baseline:
                return None
        self.reserved.add(noun.singular)
        return noun

    @property
    def groups(self) -> frozenset[Entity]:
        """The groups named by coordination."""
        return frozenset(entity for entity in self.entities if entity.group)

    def choose(self, kinds: Collection[str], busy: Collection[Entity], new: float) -> Entity:
        """Return an entity of one of the kinds, a new one with probability `new`, and none of the busy ones.

        One that this sentence has mentioned, and a group, is chosen only where a pronoun would be clear.
        """
        if not self.chance(new):
            known = [
                entity
                for entity in self.entities
                if entity.kind in kinds
                and entity not in busy
                and ((entity.last != self.sentence and not entity.group) or self.clear(entity))
            ]
            if known:
                clear = [entity for entity in known if self.clear(entity)]
                if not clear or self.chance(0.2):
                    clear = [] if self.chance(0.5) else known
                if clear:
                    return self.pick(clear)
        return self.new(self.pick(tuple(kinds)))

    def new(self, kind: str, plural: bool | None = None, gender: str = "", named: float = 0.35) -> Entity:
        """Return a new entity of a kind, with a noun or, for a person, a name that the document has not used."""
        plural = self.chance(0.42) if plural is None else plural
        gender = gender or self.pick(("Masc", "Fem")) if kind == "person" and not plural else ""
        name = self._unused(NAMES[gender]) if gender and self.chance(named) else ""
        if name and self.chance(0.4):
            return self._add(Entity("", kind, plural, gender, name=name))
        shown = not name and self.chance(0.5)
        nouns = {
            noun.singular: noun for noun in _BY_KIND[kind] if not gender or noun.gender == (gender if shown else "")
        }
        noun = nouns[self._unused(tuple(nouns))]
        return self._add(Entity("", kind, plural, gender, noun, name, introduced=not name))

    def new_relative(self) -> tuple[Entity, Noun]:
        """Return a new person who is someone's relative or friend, and the noun that says so."""
        nouns = {noun.singular: noun for noun in RELATIVES}
        noun = nouns[self._unused(tuple(nouns))]
        return self._add(Entity("", "person", False, noun.gender or self.pick(("Masc", "Fem")), noun)), noun

    def new_group(self) -> Entity:
        """Return a new group of people, to be mentioned by coordination."""
        return self._add(Entity("", "person", True, ""))

    def _add(self, entity: Entity) -> Entity:
        entity.id = f"e{len(self.entities) + 1}"
        self.entities.append(entity)
        return entity

    def _unused(self, words: Sequence[str]) -> str:
        """Return a word that the document has not used for an entity, if there is one left."""
        word = self.pick(words)
        for _ in range(20):
            if word not in self.used and word not in self.reserved:
                break
            word = self.pick(words)
        self.used.add(word)
        return word
