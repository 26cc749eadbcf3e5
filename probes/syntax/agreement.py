"""Subject-verb agreement: attention from a finite verb to the subject whose number it carries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from probes.records import Document
from probes.registry import CONTROLS, register
from probes.targets import Targets


@dataclass(frozen=True)
class Agreement:
    """One verb that shows number, and the subject that it agrees with."""

    verb: int
    subject: int
    attractors: int
    "Nouns of the other number between the two."

    @property
    def distance(self) -> int:
        """Distance in words, 1 for neighbours."""
        return abs(self.verb - self.subject)


@register
@dataclass(frozen=True)
class SubjectVerbAgreement:
    """The most attended other word of a finite verb is its subject (or the reverse), by attractors and distance.

    The verb is the word that shows number: present tense, or was and were; for an auxiliary or copula the subject is
    that of its head. Of several subjects (nsubj and nsubj:outer) it is the nearest before the verb, else the nearest
    after it. Labels are attractors=0, 1 and >=2 (nouns of the other number in between; Linzen et al. 2016, section 2)
    and bands of distance. The number is that of the subject, or of the verb where the subject shows none (you, who);
    where neither does, no noun counts as an attractor.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("the", "ships", "are", "old"), ("det", "nsubj", "cop", "root")
    >>> feats = ("", "Number=Plur", "Number=Plur|Tense=Pres|VerbForm=Fin", "")
    >>> heads, upos = frozen_ints([1, 3, 3, -1]), ("DET", "NOUN", "AUX", "ADJ")
    >>> text = Document("d", (Sentence("s", words, heads, relations, upos, feats),))
    >>> asked = SubjectVerbAgreement().targets(text)["verb->subject"]
    >>> int(asked.query[0]), int(asked.gold[0][0]), asked.label[0]
    (2, 1, 'attractors=0 distance=1')
    """

    name: ClassVar[str] = "agreement"
    variants: ClassVar[tuple[str, ...]] = ("verb->subject", "subject->verb")
    scope: ClassVar[str] = "sentence"
    baselines: ClassVar[tuple[str, ...]] = ("offset", "previous word", "uniform")
    rules: ClassVar[tuple[str, ...]] = ("tag rule", "nearest noun", "nearest noun that fits", "first noun")
    controls: ClassVar[tuple[str, ...]] = CONTROLS
    needs: ClassVar[str] = "trees"
    source: ClassVar[str] = "Linzen et al. 2016, section 2; Voita et al. 2019, section 5.2"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a verb that shows number and has a subject in the text."""
        found = list(agreements(document))
        verb = np.array([one.verb for one in found], np.int64)
        subject = np.array([one.subject for one in found], np.int64)
        label = [f"attractors{_count(one.attractors)} distance{_band(one.distance)}" for one in found]
        return {
            "verb->subject": Targets.pairs(verb, subject, label),
            "subject->verb": Targets.pairs(subject, verb, label),
        }

    def pool(self, label: str) -> Sequence[str]:
        """An item counts among all, with its number of attractors, and in its band of distance."""
        return ("all", *label.split())


def _count(attractors: int) -> str:
    return f"={attractors}" if attractors < 2 else ">=2"


def _band(distance: int) -> str:
    return "=1" if distance == 1 else "=2-3" if distance <= 3 else "=4-6" if distance <= 6 else ">=7"


def agreements(document: Document) -> Iterator[Agreement]:
    """Yield every verb of a text that shows number, with its subject."""
    heads, deprels, upos, feats = document.heads, document.deprels, document.upos, document.feats
    subjects: dict[int, list[int]] = {}
    for i, relation in enumerate(deprels):
        if relation.partition(":")[0] == "nsubj" and heads[i] >= 0:
            subjects.setdefault(int(heads[i]), []).append(i)
    for verb, word in enumerate(document.words):
        if not shows_number(word, upos[verb], feats[verb]):
            continue
        owner = int(heads[verb]) if deprels[verb].partition(":")[0] in ("aux", "cop") else verb
        if owner not in subjects:
            continue
        subject = min(subjects[owner], key=lambda i: (i > verb, abs(i - verb)))
        number = morphology(feats[subject]).get("Number") or morphology(feats[verb]).get("Number")
        between = range(min(subject, verb) + 1, max(subject, verb))
        others = (
            upos[i] in ("NOUN", "PROPN") and number is not None and morphology(feats[i]).get("Number", number) != number
            for i in between
        )
        yield Agreement(verb, subject, sum(others))


def shows_number(word: str, upos: str, feats: str) -> bool:
    """Return whether an English word is a finite verb form that differs between singular and plural."""
    if upos not in ("VERB", "AUX"):
        return False
    shown = morphology(feats)
    if shown.get("VerbForm") != "Fin" or shown.get("Mood") == "Imp":
        return False
    return shown.get("Tense") == "Pres" or (shown.get("Tense") == "Past" and word.lower() in ("was", "were"))


@lru_cache(maxsize=4096)
def morphology(feats: str) -> dict[str, str]:
    """Return CoNLL-U FEATS as a dictionary; do not change it."""
    return dict(part.split("=", 1) for part in feats.split("|") if "=" in part)
