"""How much of the trees of several languages the heads and states of one encoder hold, trained or untrained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from pydantic import Field

from experiments.claims.claim import ClaimSection
from experiments.inputs.corpora import open_corpus
from mha import Model, load_model
from probes import Corpus
from probes.maps.spanning_trees import attached_arcs, gold_tree
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.states.structural import StructuralProbe
from probes.states.trees import in_a_row
from probes.states.word_states import WordStates, whole_texts

TRAINED, RANDOM, PERMUTED = "trained", "random", "permuted"

SOURCES = {TRAINED: "pretrained", RANDOM: "random", PERMUTED: "shuffled"}
"Kind of weights -> `source` of the model."


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

    def arcs(self) -> list[int]:
        """Return the number of arcs between words of each text; 0 where it has no tree."""
        trees = [gold_tree(document) for document in self.aligned.texts.take(self.aligned.kept)]
        return [0 if tree is None else len(tree.arcs) for tree in trees]

    def in_a_row(self) -> float:
        """Return the share of arcs between neighbours, punctuation aside: the tree of words in a row."""
        trees = [gold_tree(document) for document in self.aligned.texts.take(self.aligned.kept)]
        hits = [hit for tree in trees if tree is not None for hit in tree.attached(in_a_row(len(tree.depths)))]
        return float(np.mean(hits))

    def heads(self, model: Model) -> list[float]:
        """Return the share of arcs that the spanning tree of each head has, layer by layer."""
        found = attached_arcs(model, self.aligned, Settings())
        hits = np.sum([one for one in found if one is not None], axis=0)
        return [float(share) for share in (hits / sum(self.arcs())).ravel()]


def read_language(section: LanguageTreesSection, model: Model, treebank: str) -> dict[str, Any]:
    """Return what the heads of a model attach in one language, on either half, and what words in a row do."""
    select, report = Half.both(model, open_corpus(treebank), section.sentences)
    return {"select": select.heads(model), "report": report.heads(model), "row": report.in_a_row()}


def transferred(section: LanguageTreesSection, model: Model) -> dict[str, dict[str, float]]:
    """Return learned language -> evaluated language -> share of arcs attached by the projected states of a layer.

    A projection is learned on the selection half of a language and evaluated on the report half of each.
    """
    learned, report = {}, {}
    for language, treebank in section.treebanks.items():
        halves = Half.both(model, open_corpus(treebank), section.sentences)
        states = [_layer(WordStates.of(model, half.aligned, Settings()), section.layer) for half in halves]
        trees = [text for text, document in enumerate(states[0].documents) if gold_tree(document) is not None]
        learned[language] = StructuralProbe.fit(states[0], trees, section.probe_seed)
        report[language] = states[1]
    return {
        language: {other: _attached(probe, states) for other, states in report.items()}
        for language, probe in learned.items()
    }


def _attached(probe: StructuralProbe, states: WordStates) -> float:
    hits: list[float] = []
    for text, document in enumerate(states.documents):
        tree = gold_tree(document)
        if tree is not None:
            hits += tree.attached(probe.predicted_distances(states, text)[0])
    return float(np.mean(hits))


def _layer(states: WordStates, layer: int) -> WordStates:
    return WordStates(states.documents, states.vectors[layer : layer + 1].copy(), states.starts)


def opened(section: LanguageTreesSection, kind: str, seed: int) -> Model:
    """Return the model with weights of a kind."""
    torch.manual_seed(0)
    return load_model(section.model, SOURCES[kind], seed)


def best(shares: Sequence[float]) -> int:
    """Return the number of the head that attaches most, from 0."""
    return int(np.argmax(shares))
