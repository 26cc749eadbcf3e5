"""How much of the trees of several languages the heads and states of one encoder hold, trained or untrained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import Field

from experiments.inputs.corpora import open_corpus
from experiments.statements.claim import ClaimSection
from mha import Model, load_model
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.states.structural import StructuralProbe
from probes.states.trees import arc_ends, attached_arcs, gold_tree, in_a_row
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


def halves(section: LanguageTreesSection, model: Model, treebank: str) -> dict[str, Aligned]:
    """Return the halves on which heads are selected and evaluated, as a model reads them.

    Translations lie in the same half.
    """
    both = zip(("select", "report"), open_corpus(treebank).halves(), strict=True)
    return {name: whole_texts(model, half.sentences(), section.sentences) for name, half in both}


def read_language(section: LanguageTreesSection, model: Model, treebank: str) -> dict[str, Any]:
    """Return the share of arcs that the spanning tree of each head has in one language, on either half.

    Layer by layer, of all arcs, and under "far" of those between words that are no neighbours. The tree of words in a
    row ("row") has those between neighbours, punctuation aside.
    """
    found: dict[str, Any] = {}
    for name, aligned in halves(section, model, treebank).items():
        every = [gold_tree(document) for document in aligned.texts.take(aligned.kept)]
        hits = attached_arcs(model, aligned, every, Settings())
        trees = [tree for tree in every if tree is not None]
        apart = np.concatenate([np.diff(arc_ends(tree))[:, 0] for tree in trees])
        found[name] = (hits[0] / len(apart)).ravel().tolist()
        found[f"far {name}"] = (hits[1] / (apart > 1).sum()).ravel().tolist()
    in_order = [hit for tree in trees for hit in tree.attached(in_a_row(len(tree.depths)))]  # of the report half
    return found | {"row": float(np.mean(in_order))}


def transferred(section: LanguageTreesSection, model: Model, *, together: bool) -> dict[str, Any]:
    """Return what projections of the states of one layer attach, learned on one half and evaluated on the other.

    Under "pairs" learned in each language and evaluated in each; `together`, under that name, learned in all languages
    but the one in which they are evaluated.
    """
    select: dict[str, WordStates] = {}
    report: dict[str, WordStates] = {}
    for language, treebank in section.treebanks.items():
        select[language], report[language] = (
            _layer(WordStates.of(model, aligned, Settings()), section.layer)
            for aligned in halves(section, model, treebank).values()
        )
    probes = {language: _learned(states, section.probe_seed) for language, states in select.items()}
    pairs = {
        language: {other: _attached(probe, states) for other, states in report.items()}
        for language, probe in probes.items()
    }
    if not together:
        return {"pairs": pairs}
    joint = {
        language: _attached(
            _learned(_joined([one for other, one in select.items() if other != language]), section.probe_seed), states
        )
        for language, states in report.items()
    }
    return {"pairs": pairs, "together": joint}


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
