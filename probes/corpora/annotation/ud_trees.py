"""Trees of Universal Dependencies: heads checked to make one tree, and remarks on labels that are odd."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from probes.corpora.annotation.written_words import PlacedError
from probes.records import basic

SHOWN = 10
"How many words of a circle an error names."


def check_tree(heads: Sequence[int]) -> None:
    """Raise PlacedError where heads, from 0 and -1 for the root, do not make one tree."""
    n = len(heads)
    for word, head in enumerate(heads):
        if head >= n:
            raise PlacedError(word, f"head {head + 1} is outside the sentence ({n} words)")
    roots = [word for word, head in enumerate(heads) if head < 0]
    if not roots:
        raise PlacedError(0, f"no root: none of the {n} words of this sentence has head 0")
    if len(roots) > 1:
        raise PlacedError(roots[1], f"a second root: word {roots[1] + 1}, after word {roots[0] + 1}")
    if cycle := _cycle(heads):
        shown = [str(word + 1) for word in cycle]
        path = " -> ".join(shown if len(shown) <= SHOWN else [*shown[: SHOWN - 1], "…", shown[-1]])
        raise PlacedError(cycle[0], f"the heads go in a circle: {path}")


def _cycle(heads: Sequence[int]) -> list[int]:
    """Return the words of a cycle, the first repeated at the end; empty if every word reaches the root."""
    safe = {-1}
    for word in range(len(heads)):
        path: dict[int, None] = {}  # in the order in which they were come by
        while word not in safe:
            if word in path:
                behind = [*path]
                return [*behind[behind.index(word) :], word]
            path[word] = None
            word = heads[word]
        safe.update(path)
    return []


def outermost(words: Sequence[int], heads: Sequence[int]) -> int:
    """Return the first of `words` whose head is none of them."""
    inside = set(words)
    return next(word for word in words if heads[word] not in inside)


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
NO_TAG = "word without a part of speech, in a sentence in which others have one"


def label_remarks(heads: Sequence[int], relations: Sequence[str], tags: Sequence[str]) -> Iterator[str]:
    """Yield a remark for every label of a tree that is odd; `heads` as in `Sentence`, "" for what is not given.

    >>> [*label_remarks([1, -1, 1], ["dobj", "ROOT", ""], ["NOUN", "VERB", "SPACE"])][:2]
    ['relation that is none of Universal Dependencies: dobj', 'root of a tree whose relation is not root: ROOT']
    >>> [*label_remarks([-1, 0], ["root", "obj"], ["VERB", ""])]
    ['word without a part of speech, in a sentence in which others have one']
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
    for tag in tags if any(tags) else ():
        if tag not in TAGS:
            yield f"{NO_UD_TAG}: {tag}" if tag else NO_TAG
