"""Minimal pairs about negation and role reversal, of our own words, after two tests of Ettinger 2020."""

from __future__ import annotations

from collections.abc import Iterator

from probes.minimal_pairs import Kind, MinimalPair

KINDS = {
    "bird": ("eagle", "swallow", "crow", "hawk", "owl", "dove"),
    "tree": ("oak", "pine", "elm", "willow", "palm", "birch"),
    "metal": ("iron", "steel", "zinc", "nickel", "aluminium", "tin"),
    "colour": ("red", "green", "blue", "yellow", "purple", "black"),
    "weapon": ("sword", "spear", "gun", "rifle", "bow", "dagger"),
    "drink": ("wine", "beer", "tea", "coffee", "milk", "rum"),
}
"Category -> words that belong to it and to no other here."

AFFIRMED, NEGATED = "affirmed", "negated"
"Conditions of the pairs about negation."

ROLES = (
    ("doctor", "patient", "cured", "paid"),
    ("teacher", "pupil", "taught", "feared"),
    ("king", "servant", "ordered", "served"),
    ("hunter", "lion", "shot", "eaten"),
    ("cat", "mouse", "caught", "fled"),
    ("judge", "thief", "sentenced", "robbed"),
    ("officer", "soldier", "commanded", "obeyed"),
    ("police", "thief", "arrested", "fled"),
    ("mother", "child", "fed", "obeyed"),
    ("farmer", "horse", "fed", "carried"),
    ("captain", "sailor", "commanded", "obeyed"),
    ("lawyer", "client", "defended", "paid"),
    ("nurse", "patient", "nursed", "thanked"),
    ("shepherd", "sheep", "led", "followed"),
    ("queen", "servant", "ordered", "obeyed"),
)
"Two nouns, what the first is likely to have done to the second, and what the second to the first."


def negation_pairs(seed: int = 0) -> Iterator[MinimalPair]:
    """Yield, for every word and category beside its own, a true and a false sentence, affirmed and negated.

    "oak is a kind of tree" is true and "oak is a kind of bird" false; "oak is not a kind of bird" is true and "oak is
    not a kind of tree" false. A model that does not hear "not" prefers the same word in both: it is right in one
    condition and wrong in the other (Ettinger 2020, NEG-88). The seed changes nothing: all pairs are given.
    """
    for category, words in KINDS.items():
        for word in words:
            for other in KINDS:
                if other == category:
                    continue
                for condition, inserted in ((AFFIRMED, ()), (NEGATED, ("not",))):
                    true, false = (_is(word, named, inserted) for named in (category, other))
                    pair = (false, true) if inserted else (true, false)
                    kind = Kind("negation", condition, phenomenon="negation")
                    yield MinimalPair(f"{word} {category}", kind, *pair)


def _is(word: str, category: str, inserted: tuple[str, ...]) -> tuple[str, ...]:
    return (word, "is", *inserted, "a", "kind", "of", category, ".")


def role_pairs(seed: int = 0) -> Iterator[MinimalPair]:
    """Yield, for every two nouns in either order, the verb that suits this order and the one that suits the other.

    "he saw which patient the doctor had cured" against "... had paid", and "he saw which doctor the patient had paid"
    against "... had cured": the words before the verb are the same in both orders, so who does not hear the order is
    right in half of them (Ettinger 2020, ROLE-88). The seed changes nothing: all pairs are given.
    """
    openings = (("he", "saw"), ("they", "knew"), ("she", "asked"), ("i", "forgot"))
    for agent, patient, done, returned in ROLES:
        for opening in openings:
            for condition, (subject, thing), (right, wrong) in (
                ("usual", (agent, patient), (done, returned)),
                ("reversed", (patient, agent), (returned, done)),
            ):
                good, bad = ((*opening, "which", thing, "the", subject, "had", verb, ".") for verb in (right, wrong))
                kind = Kind("role reversal", condition, phenomenon="role reversal")
                yield MinimalPair(f"{agent} {patient}", kind, good, bad)
