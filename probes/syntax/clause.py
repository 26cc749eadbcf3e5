"""Clauses in clauses: relative pronouns and their nouns, markers and the verbs above, embedding and embedded verbs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from probes.records import Document, basic
from probes.registry import TreeProbe, register
from probes.targets import Targets, both_ways

EMBEDDED = ("ccomp", "xcomp", "advcl")
"Relations of an embedded verb to the one above it."

ROLES = {"nsubj": "subject", "obj": "object"}
"Relation of a relative pronoun -> label; all others are other."

RELATIVE = frozenset(("who", "whom", "whose", "which", "that"))
"Relative pronouns, for corpora without morphology."


@register
@dataclass(frozen=True)
class Clause(TreeProbe):
    """The most attended other word of a relative pronoun is its noun, of a marker or embedded verb the verb above.

    All are asked in reverse as well. A relative pronoun (PronType=Rel; without morphology a pronoun of a closed list)
    stands for the noun that its relative clause modifies; labels by its own role, subject, object or other. A marker
    (mark: that, to, because) is paired with the verb that embeds its clause, by the relation of the clause; an
    embedding verb with the verb of its clause (ccomp, xcomp, advcl), by whether there is a marker. Noun and verb of a
    relative clause, marker and verb of its own clause, and each relation alone are labels of `dependency`. Free
    relatives ("what she saw") have no noun.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("ships", "that", "sank", "burned"), ("nsubj", "nsubj", "acl:relcl", "root")
    >>> upos, feats = ("NOUN", "PRON", "VERB", "VERB"), ("", "PronType=Rel", "", "")
    >>> text = Document("d", (Sentence("s", words, frozen_ints([3, 2, 0, -1]), relations, upos, feats),))
    >>> asked = Clause().targets(text)["relative pronoun->noun"]
    >>> int(asked.query[0]), int(asked.gold[0][0]), asked.label[0]
    (1, 0, 'subject')
    """

    name: ClassVar[str] = "clause"
    variants: ClassVar[tuple[str, ...]] = (
        "relative pronoun->noun",
        "noun->relative pronoun",
        "marker->matrix",
        "matrix->marker",
        "matrix->embedded",
        "embedded->matrix",
    )
    source: ClassVar[str] = "Clark et al. 2019, section 4.2 (ccomp, mark, rcmod, advcl), across clause borders"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a relative pronoun, marker, embedding and embedded verb, and a noun with such a pronoun."""
        embedded = {verb: (above, relation) for relation in EMBEDDED for verb, above in document.arcs(relation)}
        marks = [arc for arc in document.arcs("mark") if arc[1] in embedded] if embedded else []
        marked = {verb for _, verb in marks}
        pronouns = [
            (word, noun, ROLES.get(basic(document.deprels[word]), "other"))
            for word, noun in relative_pronouns(document)
        ]
        markers = [(mark, *embedded[verb]) for mark, verb in marks]
        verbs = [(above, verb, "marked" if verb in marked else "bare") for verb, (above, _) in embedded.items()]
        first, second, third = (self.variants[i : i + 2] for i in (0, 2, 4))
        return both_ways(first, pronouns) | both_ways(second, markers) | both_ways(third, verbs)


def relative_pronouns(document: Document) -> Iterator[tuple[int, int]]:
    """Yield every relative pronoun with the noun that it stands for."""
    clauses = {verb: noun for verb, noun in document.arcs("acl", "advcl") if document.deprels[verb].endswith(":relcl")}
    if not clauses:
        return
    free, heads = set(clauses.values()), document.heads
    for word, feats in enumerate(document.feats):
        if word in free or not _is_relative(document.words[word], document.upos[word], feats):
            continue
        verb = word
        while verb >= 0 and verb not in clauses:
            verb = int(heads[verb])
        if verb >= 0 and basic(document.deprels[verb]) == "acl":  # the others stand for a whole clause
            yield word, clauses[verb]


def _is_relative(word: str, upos: str, feats: str) -> bool:
    return "PronType=Rel" in feats if feats else upos == "PRON" and word.lower() in RELATIVE
