"""How much of the trees of several languages the heads and states of one encoder hold, trained or untrained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import Field

from experiments.inputs.corpora import open_corpus
from experiments.statements.claim import ClaimSection
from mha import Model, load_model
from probes import Corpus
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.states.structural import StructuralProbe
from probes.states.trees import GoldTree, arc_ends, attached_arcs, gold_tree, in_a_row
from probes.states.word_states import WordStates, whole_texts

TRAINED, RANDOM, PERMUTED = "trained", "random", "permuted"


class LanguageTreesSection(ClaimSection):
    """The config of the claim."""

    model: str
    'A short name, a folder or "hub:owner/name".'
    treebanks: Mapping[str, str] = Field(min_length=3)
    "Language -> name of its corpus; the documents of all have the same ids where they are translations."
    sentences: int = Field(default=500, ge=10)
    "Of each half of a treebank, at the most."
    seeds: tuple[int, ...] = Field(default=(0, 1, 2), min_length=2)
    "Of randomly initialised and of permuted weights."
    layer: int = Field(default=7, ge=0)
    "Layer whose states are projected; 0 is what the first layer reads."
    probe_seed: int = 0
    "Of the projections."


@dataclass(frozen=True)
class Half:
    """One half of a treebank, as a model reads it."""

    aligned: Aligned

    @classmethod
    def both(cls, model: Model, corpus: Corpus, sentences: int) -> tuple[Half, Half]:
        """Return the halves on which heads are selected and evaluated: translations lie in the same half."""
        select, report = corpus.halves()
        return cls(whole_texts(model, select.sentences(), sentences)), cls(
            whole_texts(model, report.sentences(), sentences)
        )

    @cached_property
    def trees(self) -> list[GoldTree | None]:
        """The tree of each text; None where it has none."""
        return [gold_tree(document) for document in self.aligned.texts.take(self.aligned.kept)]

    def in_a_row(self) -> float:
        """Return the share of arcs between neighbours, punctuation aside: the tree of words in a row."""
        hits = [hit for tree in self.trees if tree is not None for hit in tree.attached(in_a_row(len(tree.depths)))]
        return float(np.mean(hits))

    def heads(self, model: Model) -> tuple[list[float], list[float]]:
        """Return the share of arcs that the spanning tree of each head has, layer by layer.

        First of all arcs, then of those between words that are no neighbours.
        """
        hits = attached_arcs(model, self.aligned, self.trees, Settings())
        apart = np.concatenate([np.diff(arc_ends(tree))[:, 0] for tree in self.trees if tree is not None])
        every, far = hits[0] / len(apart), hits[1] / (apart > 1).sum()
        return every.ravel().tolist(), far.ravel().tolist()


def read_language(section: LanguageTreesSection, model: Model, treebank: str) -> dict[str, Any]:
    """Return what the heads of a model attach in one language, on either half, and what words in a row do."""
    select, report = Half.both(model, open_corpus(treebank), section.sentences)
    (selected, far_selected), (evaluated, far_evaluated) = select.heads(model), report.heads(model)
    far = {"far select": far_selected, "far report": far_evaluated}
    return {"select": selected, "report": evaluated, "row": report.in_a_row(), **far}


@dataclass(frozen=True)
class LanguageStates:
    """The states of one layer on the two halves of every language."""

    select: Mapping[str, WordStates]
    report: Mapping[str, WordStates]

    @classmethod
    def of(cls, section: LanguageTreesSection, model: Model) -> LanguageStates:
        """Read all languages."""
        select, report = {}, {}
        for language, treebank in section.treebanks.items():
            halves = Half.both(model, open_corpus(treebank), section.sentences)
            select[language], report[language] = (
                _layer(WordStates.of(model, half.aligned, Settings()), section.layer) for half in halves
            )
        return cls(select, report)

    def pairs(self, seed: int) -> dict[str, dict[str, float]]:
        """Return learned language -> evaluated language -> share of arcs that projected states attach."""
        return {
            language: {other: _attached(probe, states) for other, states in self.report.items()}
            for language, probe in ((language, _learned(states, seed)) for language, states in self.select.items())
        }

    def together(self, seed: int) -> dict[str, float]:
        """Return for each language what a projection attaches that was learned in all others together."""
        return {
            language: _attached(
                _learned(_joined([one for other, one in self.select.items() if other != language]), seed), states
            )
            for language, states in self.report.items()
        }


def transferred(section: LanguageTreesSection, model: Model, *, together: bool) -> dict[str, Any]:
    """Return what projections of states attach, learned on one half and evaluated on the other.

    Under "pairs" learned in each language and evaluated in each; `together`, under that name, learned in all languages
    but the one in which they are evaluated.
    """
    states = LanguageStates.of(section, model)
    found: dict[str, Any] = {"pairs": states.pairs(section.probe_seed)}
    return found | {"together": states.together(section.probe_seed)} if together else found


def _learned(states: WordStates, seed: int) -> StructuralProbe:
    trees = [text for text, document in enumerate(states.documents) if gold_tree(document) is not None]
    return StructuralProbe.fit(states, trees, seed)


def _joined(parts: Sequence[WordStates]) -> WordStates:
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    return WordStates(
        [document for part in parts for document in part.documents],
        np.concatenate([part.vectors for part in parts], axis=1),
        np.concatenate([[0], lengths.cumsum()]),
    )


def _attached(probe: StructuralProbe, states: WordStates) -> float:
    hits: list[float] = []
    for text, document in enumerate(states.documents):
        tree = gold_tree(document)
        if tree is not None:
            hits += tree.attached(probe.predicted(states, text)[0][0])
    return float(np.mean(hits))


def _layer(states: WordStates, layer: int) -> WordStates:
    return WordStates(states.documents, states.vectors[layer : layer + 1].copy(), states.starts)


def opened(section: LanguageTreesSection, kind: str, seed: int) -> Model:
    """Return the model with weights of a kind."""
    return load_model(section.model, "pretrained" if kind == TRAINED else kind, seed)


def best(shares: Sequence[float]) -> int:
    """Return the number of the head that attaches most, from 0."""
    return int(np.argmax(shares))
