"""Subject-verb agreement: attention from a finite verb to the subject whose number it carries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np

from probes.records import Document, basic
from probes.registry import TreeProbe, register
from probes.syntax.clause import relative_pronouns
from probes.targets import Targets, key_sets

FORTH, BACK, AMONG_NOUNS = "verb->subject", "subject->verb", "verb->subject among nouns"

UNASKED = "subject that is not asked about, since its verb shows no number"

NOUNS: Final = ("NOUN", "PROPN", "PRON")
"Parts of speech that a subject has."

INFLECTED: Final = ("DET", "ADJ", "NOUN")
"Parts of speech that no English treebank gives case, and of which it gives gender to nouns alone."


@dataclass(frozen=True)
class Agreement:
    """One verb that shows number, and the subject that it agrees with."""

    verb: int
    subject: int
    noun: int | None
    "The word that the subject stands for, where it is a relative pronoun."
    between: tuple[int, ...]
    "Attractors: nouns of the other number between verb and subject, ascending."

    @property
    def attractors(self) -> int:
        """Number of attractors."""
        return len(self.between)

    @property
    def distance(self) -> int:
        """Distance in words, 1 for neighbours."""
        return abs(self.verb - self.subject)

    @property
    def subjects(self) -> tuple[int, ...]:
        """The words whose number the verb shows, ascending: the subject, and the noun of a relative pronoun."""
        return (self.subject,) if self.noun is None else tuple(sorted((self.noun, self.subject)))


@register
@dataclass(frozen=True)
class SubjectVerbAgreement(TreeProbe):
    """The most attended other word of a finite verb is its subject (or the reverse), by attractors and distance.

    The verb is the word that shows number: in English present tense, or was and were; in other languages every finite
    verb to which FEATS give a number. Where the corpus does not say its language, a sentence is taken for English if
    no noun, adjective or article in it is inflected. For an auxiliary or copula the subject is
    that of its head. Of several subjects (nsubj and nsubj:outer) it is the nearest before the verb, else the nearest
    after it. Where it is a relative pronoun ("the keys that are"), the pronoun and the noun that its clause modifies
    are both right; in reverse the pronoun alone is asked. `among nouns` has the subject and all other nouns and
    pronouns of the sentence as candidates, so that distance alone leads to a noun; verbs without another one are left
    out.

    Labels: attractors=0, 1 and >=2 (nouns of the other number in between; Linzen et al. 2016, section 2) and bands of
    distance. The kind of subject: relative, pronoun or noun. Its person: after I, we and you a verb other than be has
    one form and shows no number ("I think", "you know"; 343 of the 1,440 items of EWT dev), so that a head can be right
    at person=1 and person=2 without regard to number. Of the attractor nearest to the verb the number, and how it
    hangs: in a clause that modifies the subject (`attractor=relative clause`), else by a preposition, else otherwise.
    Where the corpus says of which construction a sentence is (`Sentence.kind`), that is a label; and so are
    `attractor=before`, a noun of the other number before the subject, and `attractor=any`, one there or in between:
    over all constructions neither the first noun nor the nearest one is always right.
    The number is that of the subject, or of the verb where the subject shows none (you, who); where neither does, no
    noun counts as an attractor.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("the", "ships", "are", "old"), ("det", "nsubj", "cop", "root")
    >>> feats = ("", "Number=Plur", "Number=Plur|Tense=Pres|VerbForm=Fin", "")
    >>> heads, upos = frozen_ints([1, 3, 3, -1]), ("DET", "NOUN", "AUX", "ADJ")
    >>> text = Document("d", (Sentence("s", words, heads, relations, upos, feats),))
    >>> asked = SubjectVerbAgreement().targets(text)["verb->subject"]
    >>> int(asked.query[0]), int(asked.gold[0][0]), asked.label[0]
    (2, 1, 'attractors=0, distance=1, subject=noun, person=3')
    """

    name: ClassVar[str] = "agreement"
    variants: ClassVar[tuple[str, ...]] = (FORTH, BACK, AMONG_NOUNS)
    baselines: ClassVar[tuple[str, ...]] = (
        "offset",
        "likeliest distance",
        "previous word",
        "nearest candidate",
        "uniform",
    )
    rules: ClassVar[tuple[str, ...]] = (
        "nearest word of a tag set",
        *("nearest noun or pronoun", "nearest noun that agrees", "first noun or pronoun"),
        *("next verb", "next verb that agrees", "first verb"),
    )
    needs: ClassVar[str] = "subjects"
    source: ClassVar[str] = "Linzen et al. 2016, section 2; Voita et al. 2019, section 5.2"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a verb that shows number and has a subject in the text."""
        found = list(agreements(document))
        verb, label = [one.verb for one in found], [_label(document, one) for one in found]
        subjects = [one.subjects for one in found]
        nouns = {i for i, tag in enumerate(document.upos) if tag in NOUNS}
        among = [sorted(nouns.union(right)) for right in subjects]
        choice = [i for i, candidates in enumerate(among) if len(candidates) > len(subjects[i])]
        return {
            FORTH: Targets.sets(verb, subjects, label),
            BACK: Targets.pairs(np.array([one.subject for one in found], np.int64), np.array(verb, np.int64), label),
            AMONG_NOUNS: Targets.sets(
                [verb[i] for i in choice],
                [subjects[i] for i in choice],
                [label[i] for i in choice],
                key_sets([among[i] for i in choice]),
            ),
        }

    def left_out(self, document: Document) -> Iterator[str]:
        """Yield why for each predicate with a subject that no verb agrees with as far as its form shows."""
        asked = {_owner(document, verb) for verb in number_verbs(document)}
        verbs: dict[int, list[int]] = {}
        for word, tag in enumerate(document.upos):
            if tag in ("VERB", "AUX"):
                verbs.setdefault(_owner(document, word), []).append(word)
        for predicate in sorted(_subjects(document).keys() - asked):
            numbers = [morphology(document.feats[verb]).get("Number") for verb in verbs.get(predicate, ())]
            shown = "not finite, or one form for both" if any(numbers) else "no Number in FEATS"
            yield f"{UNASKED}: {shown if numbers else 'no verb'}"

    def pool(self, label: str) -> Sequence[str]:
        """An item counts among all, and with each part of its label."""
        return ("all", *label.split(", "))


def _label(document: Document, one: Agreement) -> str:
    count = f"={one.attractors}" if one.attractors < 2 else ">=2"
    parts = [f"attractors{count}", f"distance{_band(one.distance)}"]
    parts += [f"subject={_kind(document, one)}", f"person={_person(document, one)}", *_construction(document, one)]
    if one.between:
        nearest = min(one.between, key=lambda word: abs(word - one.verb))
        parts.append(f"attractor={_way(document, one, nearest)}")
        number = morphology(document.feats[nearest])["Number"]
        parts += [f"attractor={number}"] if number in ("Sing", "Plur") else []
    return ", ".join(parts)


def _construction(document: Document, one: Agreement) -> list[str]:
    """Return the labels of a sentence whose construction the corpus knows; none for others."""
    place = int(np.searchsorted(document.starts, one.verb, "right")) - 1
    if not (kind := document.sentences[place].kind):
        return []
    start = int(document.starts[place])
    before = _of_other_number(document, one.verb, one.subject, range(start, min(one.subject, one.verb)))
    where = ["attractor=before"] if before else []
    return [f"construction={kind}", *where, *(["attractor=any"] if before or one.between else [])]


def _band(distance: int) -> str:
    return "=1" if distance == 1 else "=2-3" if distance <= 3 else "=4-6" if distance <= 6 else ">=7"


def _kind(document: Document, one: Agreement) -> str:
    if one.noun is not None:
        return "relative"
    return "pronoun" if document.upos[one.subject] in ("PRON", "DET") else "noun"


def _person(document: Document, one: Agreement) -> str:
    """Return the person of the subject, or of its noun: of a pronoun the one that it shows, of all else the third."""
    word = one.subject if one.noun is None else one.noun
    return morphology(document.feats[word]).get("Person", "3") if document.upos[word] == "PRON" else "3"


def _way(document: Document, one: Agreement, attractor: int) -> str:
    """Return how an attractor hangs: in a clause that modifies the subject, by a preposition, or otherwise."""
    word = attractor
    while (above := int(document.heads[word])) >= 0:
        if above == one.subject and basic(document.deprels[word]) == "acl":
            return "relative clause"
        word = above
    hangs = document.deprels[attractor]
    if hangs == "pobj":  # in the labels of spaCy, where the preposition is its head
        return "preposition"
    if basic(hangs) not in ("nmod", "obl") or hangs == "nmod:poss":
        return "other"
    return "preposition" if any(noun == attractor for _, noun in document.arcs("case")) else "other"


def agreements(document: Document) -> Iterator[Agreement]:
    """Yield every verb of a text that shows number, with its subject."""
    subjects = _subjects(document)
    nouns = dict(relative_pronouns(document))
    for verb in number_verbs(document):
        if (owner := _owner(document, verb)) not in subjects:
            continue
        subject = min(subjects[owner], key=lambda i: (i > verb, abs(i - verb)))
        between = range(min(subject, verb) + 1, max(subject, verb))
        yield Agreement(verb, subject, nouns.get(subject), _of_other_number(document, verb, subject, between))


def _subjects(document: Document) -> dict[int, list[int]]:
    """Return the subjects of every predicate that has some."""
    subjects: dict[int, list[int]] = {}
    for dependent, head in document.arcs("nsubj"):
        subjects.setdefault(head, []).append(dependent)
    return subjects


def _owner(document: Document, verb: int) -> int:
    """Return the predicate whose subject a verb has: of an auxiliary or copula its head."""
    return int(document.heads[verb]) if basic(document.deprels[verb]) in ("aux", "cop") else verb


def _of_other_number(document: Document, verb: int, subject: int, places: range) -> tuple[int, ...]:
    """Return the nouns at some places whose number is another than that of a verb and its subject."""
    own, shown = (morphology(document.feats[word]).get("Number") for word in (subject, verb))
    number = own or shown
    if number is None:
        return ()
    nouns = (i for i in places if document.upos[i] in ("NOUN", "PROPN"))
    return tuple(i for i in nouns if morphology(document.feats[i]).get("Number", number) != number)


def number_verbs(document: Document) -> list[int]:
    """Return the verbs of a text whose form shows number: in English by tense, in other languages by FEATS."""
    known = enumerate(zip(document.words, document.upos, document.feats, strict=True))
    if is_english(document):
        return [i for i, (word, upos, feats) in known if shows_number(word, upos, feats)]
    return [i for i, (_, upos, feats) in known if has_number(upos, feats)]


def is_english(document: Document) -> bool:
    """Return whether a text is English, whose treebanks give number also to a past tense that has one form for both.

    Where the corpus does not say the language it is, if no article, adjective or noun shows case, or one of the former
    two gender, as in no English treebank.
    """
    if document.language:
        return document.language == "en"
    shown = ((tag, morphology(feats)) for tag, feats in zip(document.upos, document.feats, strict=True))
    inflected = ("Case" in one or ("Gender" in one and tag != "NOUN") for tag, one in shown if tag in INFLECTED)
    return not any(inflected)


def has_number(upos: str, feats: str) -> bool:
    """Return whether FEATS give a number to a finite verb; without VerbForm one has a mood or a person."""
    shown = morphology(feats)
    finite = shown.get("VerbForm", "" if shown.keys() & {"Mood", "Person"} else "none") in ("Fin", "")
    return upos in ("VERB", "AUX") and finite and shown.get("Mood") != "Imp" and "Number" in shown


def shows_number(word: str, upos: str, feats: str) -> bool:
    """Return whether an English word is a finite verb form that differs between singular and plural, by its tense."""
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
