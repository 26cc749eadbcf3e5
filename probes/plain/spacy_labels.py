"""The labels of spaCy's pipelines beside those of Universal Dependencies: what is renamed, and what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from probes.corpora.annotation.ud_trees import RELATIONS
from probes.records import basic

RENAMED: Final[Mapping[str, str]] = {
    "ROOT": "root",
    "auxpass": "aux:pass",
    "csubjpass": "csubj:pass",
    "dobj": "obj",
    "intj": "discourse",
    "neg": "advmod",
    "nsubjpass": "nsubj:pass",
    "poss": "nmod:poss",
    "preconj": "cc:preconj",
    "predet": "det:predet",
    "prt": "compound:prt",
    "relcl": "acl:relcl",
}
"""Labels of spaCy's English pipelines (those of ClearNLP) that link the same words as one of Universal Dependencies.

`dative` is beside these iobj where it is no preposition. All others keep their names, since they link other words:
prep, pobj, pcomp and agent, for a preposition is the head of its noun; attr, acomp and oprd, for a form of be is the
head of what it links; npadvmod, quantmod and nmod."""

UD, CLEAR, OWN = "Universal Dependencies", "spaCy's English labels (ClearNLP)", "labels of its own"


def scheme_of(labels: Iterable[str]) -> str:
    """Return what the labels of a pipeline's parser are: UD, CLEAR or OWN.

    >>> scheme_of(["ROOT", "nsubj", "obl:arg"]), scheme_of(["ROOT", "dobj", "pobj"]), scheme_of(["ROOT", "sb", "oa"])
    ('Universal Dependencies', "spaCy's English labels (ClearNLP)", 'labels of its own')
    """
    known = set(labels)
    if {"dobj", "pobj"} <= known:
        return CLEAR
    return UD if all(basic(label) in RELATIONS | {"ROOT", ""} for label in known) else OWN


ABOUT: Final[Mapping[str, str]] = {
    UD: "",
    CLEAR: f"; those that link the same words are called as in Universal Dependencies "
    f"({', '.join(f'{own} {other}' for own, other in RENAMED.items())}; dative of a noun iobj), and coordination is "
    "attached as there; all other labels keep their names, for a preposition is the head of its pobj, and a form of be "
    "that of its subject and of its attr or acomp",
    OWN: "; but for root they keep their names, and link what that scheme says",
}
"What a reader should know of the labels of each scheme."


def relations(labels: Sequence[str], upos: Sequence[str], scheme: str) -> list[str]:
    """Return what each word's label is called here.

    >>> relations(["ROOT", "dative", "dobj", "dative"], ["VERB", "PRON", "NOUN", "ADP"], CLEAR)
    ['root', 'iobj', 'obj', 'dative']
    """
    if scheme != CLEAR:
        return ["root" if label == "ROOT" else label for label in labels]
    datives = ("iobj" if label == "dative" and tag != "ADP" else label for label, tag in zip(labels, upos, strict=True))
    return [RENAMED.get(label, label) for label in datives]


def coordinated(heads: Sequence[int], labels: Sequence[str]) -> list[int]:
    """Return heads with coordination as in Universal Dependencies, of heads as ClearNLP has them.

    There each conjunct hangs on the one before, and a conjunction on that too; here all conjuncts hang on the first,
    and a conjunction on the conjunct after it.

    >>> coordinated([1, -1, 1, 1, 3, 3], ["nsubj", "root", "punct", "conj", "cc", "conj"])  # ships sail , sink and rot
    [1, -1, 1, 1, 5, 1]
    """
    found = list(heads)
    for word, label in enumerate(labels):
        if label == "conj":
            first = heads[word]
            while labels[first] == "conj":
                first = heads[first]
            found[word] = first
        elif label == "cc":
            after = [i for i in range(word + 1, len(heads)) if labels[i] == "conj" and heads[i] == heads[word]]
            found[word] = after[0] if after else heads[word]
    return found
