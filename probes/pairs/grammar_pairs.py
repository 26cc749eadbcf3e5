"""The number of verbs: minimal pairs of the embedded grammar, and questions about any text (Linzen et al. 2016)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from probes.grammar import generate, lexicon
from probes.minimal_pairs import AGREEMENT, PLURAL, SINGULAR, Kind, MinimalPair
from probes.records import Document
from probes.syntax.agreement import Agreement, agreements, morphology

WITHOUT_END = 2**31
"Documents that are generated at the most."

CLAUSES = {"acl": "relative clause", "advcl": "adverbial clause", "ccomp": "complement clause"}
"Relation of a clause's head -> condition of its verb."


def grammar_pairs(seed: int) -> Iterator[MinimalPair]:
    """Yield a pair for every verb that shows number, sentence by sentence, without end; `seed` decides all.

    A pair's cluster is its document, whose sentences share a cast. The subject of a coordination is plural though
    its first noun may not be: no noun is counted as an attractor there.
    """
    for document in generate(WITHOUT_END, seed):
        for sentence in document.split_sentences():
            for found in agreements(sentence):
                right = sentence.words[found.verb]
                wrong = other_number(right, plural=morphology(sentence.feats[found.verb])["Number"] == "Plur")
                words = sentence.words
                bad = (*words[: found.verb], wrong, *words[found.verb + 1 :])
                yield MinimalPair(document.id, kind_of(sentence, found), words, bad)


def kind_of(sentence: Document, agreement: Agreement) -> Kind:
    """Return what a pair about a verb is about."""
    verb, subject = (morphology(sentence.feats[word]).get("Number") for word in (agreement.verb, agreement.subject))
    number = PLURAL if verb == "Plur" else SINGULAR
    if subject not in (None, verb):
        return Kind("agreement", "coordinated subject", None, number, AGREEMENT)
    return Kind("agreement", _clause(sentence, agreement), agreement.attractors, number, AGREEMENT)


def _clause(sentence: Document, found: Agreement) -> str:
    """Return where the verb stands: a question, a kind of clause, or the main clause."""
    if found.verb < found.subject:
        return "question"
    owner = found.verb
    if sentence.deprels[owner].partition(":")[0] in ("aux", "cop"):
        owner = int(sentence.heads[owner])
    return CLAUSES.get(sentence.deprels[owner].partition(":")[0], "main clause")


def other_number(form: str, *, plural: bool) -> str:
    """Return a finite verb form of the grammar in the other number; `plural` says which number `form` is in.

    >>> other_number("Has", plural=False), other_number("were", plural=True), other_number("sleep", plural=True)
    ('Have', 'was', 'sleeps')
    """
    found = _forms()[plural][form.lower()]
    return found.capitalize() if form[0].isupper() else found


@cache
def _forms() -> tuple[dict[str, str], dict[str, str]]:
    tables = (lexicon.INTRANSITIVE, lexicon.TRANSITIVE, lexicon.GIVING, lexicon.CLAUSAL)
    verbs = [verb for table in (*tables, lexicon.CONTROL, lexicon.REFLEXIVE) for verb in table]
    singular = {"is": "are", "was": "were", "has": "have", "does": "do", **{verb.third: verb.base for verb in verbs}}
    return singular, {other: one for one, other in singular.items()}


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
