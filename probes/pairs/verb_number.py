"""The number of a verb as a question: which it will be is told from the words before it (Linzen et al. 2016)."""

from __future__ import annotations

from collections.abc import Iterator

from probes.minimal_pairs import PLURAL, SINGULAR
from probes.records import Document
from probes.syntax.agreement import agreements, morphology

ANSWERS = {"Sing": SINGULAR, "Plur": PLURAL}
"Number of a verb in FEATS -> the word that stands for it, before all others."


def verb_questions(sentence: Document) -> Iterator[tuple[str, ...]]:
    """Yield the answer, then the words before the verb, for each verb behind its subject whose form shows number.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("the", "ships", "are", "old"), ("det", "nsubj", "cop", "root")
    >>> feats = ("", "Number=Plur", "Number=Plur|Tense=Pres|VerbForm=Fin", "")
    >>> heads, upos = frozen_ints([1, 3, 3, -1]), ("DET", "NOUN", "AUX", "ADJ")
    >>> list(verb_questions(Document("d", (Sentence("s", words, heads, relations, upos, feats),))))
    [('plural', 'the', 'ships')]
    """
    for found in agreements(sentence):
        number = morphology(sentence.feats[found.verb]).get("Number", "")
        if number in ANSWERS and found.subject < found.verb:
            yield ANSWERS[number], *sentence.words[: found.verb]
