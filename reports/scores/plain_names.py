"""What labels, variants and baselines are called in plain words; what is not known here is shown as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

RELATIONS: Final[Mapping[str, tuple[str, str]]] = {
    "all": ("word", "syntactic head"),
    "acl": ("modifying clause", "noun"),
    "acl:relcl": ("relative clause", "noun"),
    "advcl": ("adverbial clause", "main verb"),
    "advmod": ("adverb", "modified word"),
    "amod": ("adjective", "noun"),
    "appos": ("apposition", "noun"),
    "aux": ("auxiliary", "verb"),
    "case": ("preposition or case marker", "noun"),
    "cc": ("conjunction such as “and”", "joined word"),
    "ccomp": ("complement clause", "main verb"),
    "compound": ("part of a compound", "main word"),
    "conj": ("joined word", "first of the joined words"),
    "cop": ("form of “be”", "predicate"),
    "csubj": ("clause as subject", "verb"),
    "det": ("article or other determiner", "noun"),
    "discourse": ("interjection", "main verb"),
    "expl": ("empty “it” or “there”", "verb"),
    "fixed": ("later part of a fixed expression", "first word"),
    "flat": ("later part of a name", "first word"),
    "iobj": ("indirect object", "verb"),
    "list": ("item of a list", "first item"),
    "mark": ("subordinating word", "verb of the clause"),
    "nmod": ("modifying noun", "noun"),
    "nmod:poss": ("possessor", "possessed noun"),
    "nsubj": ("subject", "verb"),
    "nsubj:pass": ("passive subject", "verb"),
    "nummod": ("number", "noun"),
    "obj": ("object", "verb"),
    "obl": ("adverbial phrase", "verb"),
    "parataxis": ("inserted clause", "main verb"),
    "punct": ("punctuation mark", "syntactic head"),
    "vocative": ("form of address", "verb"),
    "xcomp": ("complement without a subject", "main verb"),
    "acomp": ("adjective after a verb", "verb"),
    "agent": ("“by” of a passive", "verb"),
    "attr": ("noun after a form of “be”", "form of “be”"),
    "dative": ("preposition of an indirect object", "verb"),
    "npadvmod": ("noun as an adverb", "modified word"),
    "oprd": ("complement of an object", "verb"),
    "pcomp": ("clause after a preposition", "preposition"),
    "pobj": ("object of a preposition", "preposition"),
    "prep": ("preposition", "modified word"),
    "quantmod": ("modifier of a number", "number"),
}
"""Relation -> what the dependent is called, and what its head is: of Universal Dependencies, then those of spaCy's
English labels that are none of them."""

PLACES: Final[Mapping[str, str]] = {
    "previous": "attends to the word before",
    "next": "attends to the next word",
    "same": "attends to the word itself",
    "first": "attends to the first word",
    "last": "attends to the last word",
    "broad": "spreads its attention over many words",
    "rarest": "attends to the rarest word of the sentence",
    "first half": "attends to a word in the first half of the sentence",
    "second half": "attends to a word in the second half of the sentence",
    "two rarest": "attends to one of the two rarest words of the sentence",
}
"Label of a place, or of a rare word -> what the head does."

MENTIONS: Final[Mapping[str, str]] = {
    "pronoun": "pronoun",
    "proper": "name",
    "nominal": "noun phrase",
    "pronoun, 1st or 2nd person": "pronoun of the first or second person",
    "pronoun, 3rd person": "pronoun of the third person",
    "cataphora": "pronoun that comes before its noun",
}
"Label of coreference -> what kind of mention it is about."

CANDIDATES: Final[Mapping[str, str]] = {
    "preceding mention heads": "head words of preceding mentions",
    "preceding mention heads without singletons": "head words of preceding mentions, singletons aside",
    "following mention heads": "head words of following mentions",
    "all mention heads": "head words of all other mentions",
    "all words": "all other words",
}
"Variant of coreference -> which words are candidates."

SUBSETS: Final[Mapping[tuple[str, str], str]] = {
    ("preposition", "noun"): "phrase governed by a noun",
    ("preposition", "verb"): "phrase governed by a verb",
    ("preposition", "other"): "phrase governed by another word",
}
"(probe, label) -> what a label leaves of the items, where its name does not say it."

TASKS: Final[Mapping[tuple[str, str], str]] = {
    ("agreement", "verb->subject"): "attends from a verb to the subject that it agrees with",
    ("agreement", "verb->subject among nouns"): "attends from a verb to the subject that it agrees with, among nouns",
    ("agreement", "subject->verb"): "attends from a subject to the verb that agrees with it",
    ("antecedent", "pronoun->candidate"): "attends from a pronoun to its antecedent, not to the other candidate",
    ("antecedent", "pronoun<-candidate"): "attends to a pronoun more from its antecedent than from the other candidate",
    ("distractors", "noun groups"): "attends to the noun group that agrees, not at another one",
    ("distractors", "head nouns"): "attends to the noun that agrees, not at another one",
    ("preposition", "preposition->object"): "attends from a preposition to its object",
    ("preposition", "object->preposition"): "attends from the object of a preposition to the preposition",
    ("preposition", "governor->preposition"): "attends from the governor of a prepositional phrase to the preposition",
    ("preposition", "preposition->governor"): "attends from a preposition to the governor of its phrase",
    ("reflexive", "among nominals"): "attends from a reflexive pronoun to the subject, among nouns alone",
    ("repetition", "same word"): "attends to the same word elsewhere",
    ("repetition", "word after"): "attends to what followed the same word before",
    ("same-atom", "product->reactant"): "attends from an atom of the product to the same atom of the reactants",
    ("same-atom", "reactant->product"): "attends from an atom of the reactants to the same atom of the product",
    ("same-word-across", "first text->second text"): "attends from the first text to the same word of the second",
    ("same-word-across", "second text->first text"): "attends from the second text to the same word of the first",
    ("same-position-across", "first text->second text"): "attends from the first text to the same place in the second",
    ("same-position-across", "second text->first text"): "attends from the second text to the same place in the first",
    (
        "sense",
        "noun->cue or rival",
    ): "attends from an ambiguous noun to the word that decides its sense, not to a distractor",
}
"(probe, variant) -> what the head does, where an arrow does not say it."

BASELINES: Final[Mapping[str, str]] = {
    "offset": "a fixed offset",
    "previous word": "the previous word",
    "nearest mention": "the nearest mention",
    "same head word": "the nearest mention with the same head word",
    "nearest candidate": "the nearest candidate",
    "first candidate": "the first candidate",
    "same word, nearest": "the nearest of the same word",
    "same word, same rank": "the n-th of the same word for the n-th",
    "uniform": "uniform attention",
    "likeliest distance": "the likeliest distance",
}
"Baseline -> what it does; controls have names that say it."


_OFFSET: Final = re.compile(r"offset=([+-])(\d+)")


def _place(label: str) -> str:
    """Return what a head does that is right on a label of a place.

    >>> _place("offset=-2"), _place("within=4"), _place("previous")
    ('attends to the word 2 places before', 'attends to a word at most 4 places away', 'attends to the word before')
    """
    if offset := _OFFSET.fullmatch(label):
        return f"attends to the word {offset[2]} places {'before' if offset[1] == '-' else 'after'}"
    if label.startswith("within="):
        return f"attends to a word at most {label.removeprefix('within=')} places away"
    return PLACES.get(label, f"attends to {label}")


def task(probe: str, label: str, variant: str) -> str:
    """Return what a head does that is right on a label, read as a variant says, as a verb and what follows.

    >>> task("dependency", "obj", "dependent->head"), task("dependency", "obl:agent", "head->dependent")
    ('attends from an object to its verb', 'attends from a verb to its adverbial phrase (obl:agent)')
    >>> task("agreement", "attractors=1", "verb->subject"), task("mine", "odd", "every way")
    ('attends from a verb to the subject that it agrees with (attractors=1)', 'does best on odd (every way)')
    """
    if probe in ("position", "rare"):
        return _place(label)
    if probe == "coreference":
        return _mention(label, variant)
    if probe == "dependency" and (found := _relation(label, variant)):
        return found
    more = "" if label == "all" else f" ({SUBSETS.get((probe, label), label)})"
    if (probe, variant) in TASKS:
        return TASKS[probe, variant] + more
    asked, row, other = variant.partition("->")
    if row:
        return f"attends from {_a(asked)} to the {other}{more}"
    reader, column, asked = variant.partition("<-")
    return f"attends to {_a(asked)} most from the {reader}{more}" if column else f"does best on {label} ({variant})"


def role(probe: str, label: str, variant: str) -> str:
    """Return the same behind "the head attends".

    >>> role("dependency", "obj", "dependent->head")
    'from an object to its verb'
    """
    return task(probe, label, variant).removeprefix("attends ")


def role_name(probe: str, label: str) -> str:
    """Return what a label is called, in whatever direction it is read.

    >>> role_name("dependency", "obl:agent"), role_name("position", "offset=-2"), role_name("coreference", "proper")
    ('adverbial phrase (obl:agent)', 'the word 2 places before', 'name')
    """
    if label == "all":
        return "any relation" if probe == "dependency" else "any label"
    if probe in ("position", "rare"):
        return _place(label).removeprefix("attends to ")
    if probe == "coreference":
        return MENTIONS.get(label, label)
    base = label if label in RELATIONS else label.partition(":")[0]
    if probe != "dependency" or base not in RELATIONS:
        return label
    return RELATIONS[base][0] + ("" if base == label else f" ({label})")


def _mention(label: str, variant: str) -> str:
    """Return what a head does that is right on a label of coreference, with bands of distance behind it.

    >>> _mention("words>=21", "all words")
    'attends from a mention to another mention of the same entity (words>=21; candidates: all other words)'
    >>> _mention("proper", "preceding mention heads by column").partition(" (")[0]
    'attends to a name most strongly from another mention of the same entity'
    """
    more = "" if label in MENTIONS or label == "all" else f"{label}; "
    named, column, _ = variant.partition(" by column")
    mention = MENTIONS.get(label, "mention")
    way = f"attends to a {mention} most strongly from" if column else f"attends from a {mention} to"
    return f"{way} another mention of the same entity ({more}candidates: {CANDIDATES.get(named, named)})"


def _relation(label: str, variant: str) -> str:
    """Return what a head does that is right on a relation; "" where relation or variant have no plain name."""
    base = label if label in RELATIONS else label.partition(":")[0]
    if base not in RELATIONS:
        return ""
    dependent, head = RELATIONS[base]
    more = "" if base == label else f" ({label})"
    told = {
        "dependent->head": f"attends from {_a(dependent)} to its {head}",
        "head->dependent": f"attends from {_a(head)} to its {dependent}",
        "head<-dependent": f"attends to {_a(dependent)} most from its {head}",
    }
    return told[variant] + more if variant in told else ""


def _a(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def baseline_name(baseline: str) -> str:
    """Return a baseline or control in few words.

    >>> baseline_name("offset"), baseline_name("permuted weights")
    ('a fixed offset', 'permuted weights')
    """
    return BASELINES.get(baseline, baseline)
