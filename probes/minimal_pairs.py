"""Minimal pairs: two sentences of which one is right (records, as a reader yields them)."""

from __future__ import annotations

from dataclasses import dataclass, field

SINGULAR, PLURAL = "singular", "plural"

AGREEMENT = "subject-verb agreement"
"The phenomenon of all corpora of agreement."

REFLEXIVES, PRONOUN_CHOICE = "reflexives", "pronoun choice"
"What the grammar's pairs of reflexives and of pronouns test."


@dataclass(frozen=True, slots=True)
class Kind:
    """What a pair is about; "" where the corpus does not say."""

    paradigm: str = ""
    "The construction: a file of most corpora."
    condition: str = ""
    "A case of the paradigm."
    attractors: int | None = None
    """Nouns of the other number (Linzen et al. 2016, section 2); of a reflexive, entities that the wrong form suits.
    None where they were not counted."""
    number: str = ""
    """SINGULAR or PLURAL, of the verb or pronoun in the right sentence: a model that always prefers one form is right
    on all pairs of one of them, and on none of the other."""
    phenomenon: str = ""
    "What several paradigms test."
    field: str = ""
    "Part of grammar that the phenomenon belongs to."


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """A right sentence and a wrong one, as words."""

    source: str
    "The sentence or template that it was made from: pairs with the same source are one cluster of the bootstrap."
    kind: Kind
    good: tuple[str, ...]
    bad: tuple[str, ...]
    shared: int | None = field(default=None, repr=False)  # what is drawn depends on the rest alone, as it did before
    """Place of a word that both sentences have there, and whose probability in the two is compared; None where the
    sentences themselves are."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A sentence that no pair could be made of, or a pair that a model could not be asked."""

    source: str
    kind: Kind
    reason: str


Item = MinimalPair | LeftOut
