"""Reflexives: attention from a reflexive pronoun to the subject of its clause, past nouns that agree with it or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from probes.records import Document, basic
from probes.registry import TreeProbe, register
from probes.syntax.agreement import morphology
from probes.syntax.clause import relative_pronouns
from probes.targets import Targets, key_sets

_SINGULAR = ("myself", "yourself", "himself", "herself", "itself", "oneself")
FORMS = frozenset((*_SINGULAR, "ourselves", "yourselves", "themselves"))
"English reflexives, for corpora without morphology."

BARRIERS = ("advcl", "acl", "ccomp", "csubj", "parataxis", "root")
"Relations of a clause whose subject, if it is not said, may be anyone."

NOMINAL = ("NOUN", "PROPN", "PRON")
AGREEING = ("Number", "Gender", "Person")


@dataclass(frozen=True)
class Anaphor:
    """A reflexive pronoun and what stands beside it."""

    word: int
    subjects: list[int]
    "The words that stand for the subject of its clause, ascending."
    named: list[int]
    "Those of them that are nouns or pronouns, relative ones aside."
    distractors: list[int]
    "The other nouns and pronouns."
    label: str


@register
@dataclass(frozen=True)
class Reflexive(TreeProbe):
    """The most attended other word of a reflexive pronoun is the subject of its clause, or the reverse.

    Reflexives have Reflex=Yes (without morphology: a closed list); "she herself" (PronType=Emp) is not asked. The
    subject is that of the nearest predicate above, also of the verb of an infinitive without object ("she tried to hide
    herself"), unless it cannot agree ("like myself"); all conjuncts of a subject are right, and beside a relative
    pronoun its noun. Candidates are a named variant: all other words, or the other nouns and pronouns without relative
    ones; with fewer than two of these nothing is asked there. Labels go by the other ones of the sentence: none,
    agreeing (one or more that may have the number, gender and person of the reflexive; what morphology leaves open may
    be anything), differing.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("ships", "near", "it", "turn", "themselves"), ("nsubj", "case", "nmod", "root", "obj")
    >>> upos, plural = ("NOUN", "ADP", "PRON", "VERB", "PRON"), "Number=Plur|Person=3"
    >>> feats = ("Number=Plur", "", "Number=Sing", "", f"{plural}|Reflex=Yes")
    >>> text = Document("d", (Sentence("s", words, frozen_ints([3, 2, 0, -1, 3]), relations, upos, feats),))
    >>> asked = Reflexive().targets(text)["among nominals"]
    >>> int(asked.query[0]), int(asked.gold[0][0]), asked.label[0], asked.candidates[0].tolist()
    (4, 0, 'differing', [0, 2])
    """

    name: ClassVar[str] = "reflexive"
    variants: ClassVar[tuple[str, ...]] = ("reflexive->subject", "among nominals", "subject->reflexive")
    rules: ClassVar[tuple[str, ...]] = (
        *("nearest word of a tag set", "nearest noun or pronoun", "nearest noun that agrees", "first noun or pronoun"),
        "nearest subject",
    )
    source: ClassVar[str] = "Lin, Tan and Frank 2019, section 3 (reflexive anaphora), on trees"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a reflexive with a subject in its clause, and one a subject."""
        found = list(reflexives(document))
        listed = [one for one in found if one.named and one.distractors]
        reverse = ((subject, one.word, one.label) for one in found for subject in one.subjects)
        words, nominals, back = self.variants
        return {
            words: Targets.sets([one.word for one in found], [one.subjects for one in found], [o.label for o in found]),
            nominals: Targets.sets(
                [one.word for one in listed],
                [one.named for one in listed],
                [one.label for one in listed],
                key_sets([sorted([*one.named, *one.distractors]) for one in listed]),
            ),
            back: Targets.grouped(reverse),
        }


def reflexives(document: Document) -> Iterator[Anaphor]:
    """Yield every reflexive whose clause has a subject."""
    words = [word for word, form in enumerate(document.words) if _is_reflexive(form, document.feats[word])]
    if not words:
        return
    nouns = dict(relative_pronouns(document))
    nominals = [word for word in range(len(document)) if document.upos[word] in NOMINAL]
    nominals = [word for word in nominals if word not in words and "PronType=Rel" not in document.feats[word]]
    for word in words:
        sentences = [subject for subject in _subjects(document, word) if subject != word]
        right = {*sentences, *(nouns[subject] for subject in sentences if subject in nouns)}
        right |= {other for other, first in document.arcs("conj") if first in right and other != word}
        baselines = [other for other in nominals if other not in right]
        agreeing = any(_may_agree(document.feats[word], document.feats[other]) for other in baselines)
        label = "agreeing" if agreeing else "differing" if baselines else "none"
        logophoric = len(right) == 1 and not _may_agree(document.feats[word], document.feats[min(right)])
        if right and not logophoric:
            yield Anaphor(word, sorted(right), [other for other in nominals if other in right], baselines, label)


def _is_reflexive(form: str, feats: str) -> bool:
    return ("Reflex=Yes" in feats and "PronType=Emp" not in feats) if feats else form.lower() in FORMS


def _subjects(document: Document, word: int) -> list[int]:
    """Return the subjects of the nearest predicate above that has any, unless another clause begins before."""
    with_object = {verb for _, verb in document.arcs("obj", "iobj")}
    predicate = int(document.heads[word])
    while predicate >= 0:
        if found := [subject for subject, verb in document.arcs("nsubj") if verb == predicate]:
            return found
        relation, above = basic(document.deprels[predicate]), int(document.heads[predicate])
        if relation in BARRIERS or (relation == "xcomp" and above in with_object):
            return []
        predicate = above
    return []


def _may_agree(one: str, other: str) -> bool:
    """Return whether no feature that agreement shows differs, as far as both are known; nouns are third person."""
    left, right = ({"Person": "3", **morphology(feats)} for feats in (one, other))
    return all(left.get(name, right.get(name)) == right.get(name, left.get(name)) for name in AGREEING)
