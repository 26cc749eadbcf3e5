"""The labels of Universal Dependencies (version 2), and the remarks on those that are none of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from probes.records import basic

_RELATIONS = """
    acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed
    flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp
"""
RELATIONS = frozenset(_RELATIONS.split())
"The universal relations; subtypes, after a colon, are free."

_TAGS = """
    ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X
"""
TAGS = frozenset(_TAGS.split())
"The universal parts of speech."

NO_TREE = "sentence without a tree (its heads are _)"
NO_RELATION = "word without a relation to its head"
ROOT_BELOW = "word with the relation root that depends on another word"
OTHER_ROOT = "root of a tree whose relation is not root"
NO_UD_RELATION = "relation that is none of Universal Dependencies"
NO_UD_TAG = "part of speech that is none of Universal Dependencies"


def label_remarks(heads: Sequence[int], relations: Sequence[str], tags: Sequence[str]) -> Iterator[str]:
    """Yield a remark for every label of a tree that is odd; `heads` as in `Sentence`, "" for what is not given.

    >>> [*label_remarks([1, -1, 1], ["dobj", "ROOT", ""], ["NOUN", "VERB", "SPACE"])][:2]
    ['relation that is none of Universal Dependencies: dobj', 'root of a tree whose relation is not root: ROOT']
    """
    for head, relation in zip(heads, relations, strict=True):
        if not relation:
            yield NO_RELATION
        elif head < 0 and relation != "root":
            yield f"{OTHER_ROOT}: {relation}"
        elif head >= 0 and basic(relation) == "root":
            yield ROOT_BELOW
        elif basic(relation) not in RELATIONS:
            yield f"{NO_UD_RELATION}: {relation}"
    yield from (f"{NO_UD_TAG}: {tag}" for tag in tags if tag and tag not in TAGS)
