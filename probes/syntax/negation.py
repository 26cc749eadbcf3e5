"""Negation: a negated word and its negation word, and the auxiliaries of negated and of plain predicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from probes.records import Document
from probes.registry import TreeProbe, register
from probes.targets import Targets, both_ways

FORMS = {"not": "not", "n't": "n't", "n’t": "n't", "nt": "n't", "never": "never", "no": "no"}
"English negation words, for corpora whose morphology does not name them, and the label of each."


@register
@dataclass(frozen=True)
class Negation(TreeProbe):
    """The most attended other word of a negated word is its negation word, and of a predicate its auxiliary.

    A negation word is one with Polarity=Neg or PronType=Neg, or one of a closed list, that modifies another word
    (advmod or det). Labels say what it negates (a verb, a predicate with a copula, or a phrase: "no ship") and by which
    word. Auxiliaries (aux, cop) are those of negated and those of plain predicates ("did" in "didn't cross").

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("it", "did", "n't", "cross"), ("nsubj", "aux", "advmod", "root")
    >>> upos = ("PRON", "AUX", "PART", "VERB")
    >>> asked = Negation().targets(Document("d", (Sentence("s", words, frozen_ints([3, 3, 3, -1]), relations, upos),)))
    >>> [(name, int(part.query[0]), int(part.gold[0][0]), part.label[0]) for name, part in list(asked.items())[::2]]
    [('negated->negation', 3, 2, "verb n't"), ('auxiliary->predicate', 1, 3, 'negated')]
    """

    name: ClassVar[str] = "negation"
    variants: ClassVar[tuple[str, ...]] = (
        "negated->negation",
        "negation->negated",
        "auxiliary->predicate",
        "predicate->auxiliary",
    )
    source: ClassVar[str] = "negation in Universal Dependencies; Clark et al. 2019, table 1 (neg, aux), as a probe"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a negated word or negation word, and one an auxiliary or predicate."""
        auxiliaries = document.arcs("aux", "cop")
        copular = {predicate for word, predicate in auxiliaries if document.deprels[word] == "cop"}
        found = list(negations(document))
        negated = {word for word, _ in found}
        kinds = {word: _kind(document.upos[word], word in copular) for word in negated}
        pairs = [(word, by, f"{kinds[word]} {FORMS.get(document.words[by].lower(), 'another')}") for word, by in found]
        helped = [(word, of, "negated" if of in negated else "plain") for word, of in auxiliaries]
        return both_ways(self.variants[:2], pairs) | both_ways(self.variants[2:], helped)

    def pool(self, label: str) -> Sequence[str]:
        """An item counts by what is negated and by which word, or by whether its predicate is, and among all."""
        return (*label.split(), "all")


def negations(document: Document) -> Iterator[tuple[int, int]]:
    """Yield every negated word with its negation word."""
    for word, head in document.arcs("advmod", "det"):
        if "=Neg" in document.feats[word] or document.words[word].lower() in FORMS:  # Polarity or PronType
            yield head, word


def _kind(upos: str, copular: bool) -> str:
    return "predicate" if copular else "verb" if upos in ("VERB", "AUX") else "phrase"
