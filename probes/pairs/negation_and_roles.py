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
    """Yield, for every two nouns and each of their two verbs, the order that suits the verb and the other one.

    "he saw which patient the doctor had cured" against "he saw which doctor the patient had cured", and "he saw which
    doctor the patient had paid" against "he saw which patient the doctor had paid": it is the verb that is asked for,
    in both orders (Ettinger 2020, ROLE-88), and each noun is the agent of one of the verbs. Who does not hear the order
    gives a verb the same probability in both, which counts half; who gives any verb more after one of the nouns is
    right about one of the two verbs and wrong about the other. The seed changes nothing: all pairs are given.
    """
    openings = (("he", "saw"), ("they", "knew"), ("she", "asked"), ("i", "forgot"))
    for agent, patient, done, returned in ROLES:
        for opening in openings:
            for condition, verb, (subject, thing) in (
                ("usual", done, (agent, patient)),
                ("reversed", returned, (patient, agent)),
            ):
                good, bad = (
                    (*opening, "which", first, "the", second, "had", verb, ".")
                    for first, second in ((thing, subject), (subject, thing))
                )
                kind = Kind("role reversal", condition, phenomenon="role reversal")
                yield MinimalPair(f"{agent} {patient}", kind, good, bad, shared=good.index(verb))
