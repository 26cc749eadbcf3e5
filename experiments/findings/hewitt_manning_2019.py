"""Hewitt and Manning 2019: distances between words in a projection of their states are distances in the tree."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pandas as pd

from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import compared, estimate_of, points, rows, table
from experiments.statements.rule import LearnedRule
from reports.statements.figure import Figure
from reports.tables.classifiers import RANK

PAPER = Paper(
    "hewitt-manning-2019",
    "Hewitt and Manning 2019",
    "A Structural Probe for Finding Syntax in Word Representations",
)

TREES = {
    "ELMo, layer 1": 0.770,
    "BERT base, layer 7": 0.798,
    "BERT large, layer 15": 0.825,
    "BERT large, layer 16": 0.817,
    "baseline: ELMo's embeddings (ELMo0)": 0.268,
    "baseline: decaying recurrence (Decay0)": 0.517,
    "baseline: random recurrence (Proj0)": 0.598,
    "baseline: words in a row (linear)": 0.489,
}
"What is projected -> undirected attachment. Clark et al. 2019 quote 80 for BERT base, layer 7."

DISTANCES = {"BERT base, layer 7": 0.85, "Proj0": 0.73, "linear": 0.58}
"What is projected -> Spearman's rho of distances."

ROOTS = {"BERT base, layer 7": 0.880, "Proj0": 0.644, "linear": 0.029}
"What is projected -> accuracy of the root."

DEPTHS = {"BERT base, layer 7": 0.87, "Proj0": 0.75, "linear": 0.27}
"What is projected -> Spearman's rho of depths."

OURS, PROJECTED, LINEAR = (
    "BERT base, layer 7",
    "baseline: random recurrence (Proj0)",
    "baseline: words in a row (linear)",
)

ARCS = ("tree distances", "undirected attachment")

PUBLISHED = " Published: " + ", ".join(f"{name} {100 * value:.1f}" for name, value in TREES.items()) + "."


def _layers(evidence: Evidence, task: str, measure: str) -> pd.DataFrame:
    """Return a row a layer, from the one that is best on the held-out documents of the selection split."""
    why = "no structural probe was fitted: the corpora have no trees, or too few"
    found = table(evidence, "probing", "layer_probes", why, task=task, measure=measure)
    return found.sort_values("held_out", ascending=False, kind="stable")


def _selected(task: str, measure: str, evidence: Evidence) -> Measured:
    row = _layers(evidence, task, measure).iloc[0]
    note = f"layer {row['layer']}, selected on held-out documents"
    return Measured(estimate_of(row, "value", "low", "high"), baseline=float(row["baseline"]), note=note)


def _beyond_the_input(evidence: Evidence) -> Measured:
    found = _layers(evidence, *ARCS)
    if not len(rows(found, layer=0)):
        raise Missing("no structural probe was fitted: the corpora have no trees, or too few")
    both = found.iloc[0], rows(found, layer=0).iloc[0]
    ours, theirs = (estimate_of(row, "value", "low", "high") for row in both)
    return compared(ours, theirs, note="baseline: layer 0")


def _drawn(evidence: Evidence) -> Figure:
    found = _layers(evidence, *ARCS).sort_values("layer")
    series = {"structural probe": points(found, "layer", "value", "low", "high")}
    about = Figure("lines", "Trees by layer", "layer (0: input)", "undirected attachment", series)
    return replace(about, level=float(found["baseline"].iloc[0]), level_name="in a row")


finding = partial(
    Finding,
    model="ELMo, BERT base and large",
    where="main results, table 1",
    data="Penn Treebank",
    stands_in="UD English EWT, 800 sentences of train, 800 of dev",
    differs=f"Dependencies of UD; projections of rank {RANK}, fitted to 640 sentences where the paper has 40,000; the "
    "layer is selected on held-out documents. The paper's random model, Proj0, is a recurrence over ELMo's embeddings: "
    "here random weights go through the same probe as a model of their own.",
    readings=("probing",),
)

FINDINGS = (
    finding(
        id="hewitt-structural-probe",
        claim="A linear projection of a model's states holds whole trees, and one of untrained states does not.",
        metric="Undirected attachment (UUAS) of the minimum spanning tree of squared distances between projected "
        "words, without punctuation, and Spearman's rho of these distances with those in the tree." + PUBLISHED,
        statements=[
            Statement(
                name="trees",
                text="More arcs are found than by the strongest baseline of the paper, a random recurrence.",
                number="undirected attachment of the selected layer",
                rule=LearnedRule(above=TREES[PROJECTED], unit="%"),
                weaker=LearnedRule(above=TREES[LINEAR]),
                published=Published(TREES[OURS], TREES[LINEAR], OURS, "memory"),
                measure=partial(_selected, *ARCS),
            ),
            Statement(
                name="distances",
                text="Projected distances rank words as distances in the tree do.",
                number="Spearman's rho of distances, by length, averaged over lengths from 5 to 50",
                rule=LearnedRule(above=DISTANCES["Proj0"], unit=""),
                weaker=LearnedRule(above=DISTANCES["linear"]),
                published=Published(DISTANCES[OURS], DISTANCES["linear"], OURS, "memory"),
                measure=partial(_selected, "tree distances", "rank correlation"),
            ),
            Statement(
                name="beyond the input",
                text="More arcs are found than in what the first layer reads.",
                number="undirected attachment of the selected layer minus that of the input",
                rule=LearnedRule(above=0.0),
                published=Published(
                    TREES["ELMo, layer 1"] - 0.268, text="ELMo, layer 1 and its embeddings", provenance="memory"
                ),
                measure=_beyond_the_input,
            ),
        ],
        figure=_drawn,
    ),
    finding(
        id="hewitt-depth-probe",
        revised="a weaker bar was removed after untrained weights had passed it",
        claim="In another projection the length of a word's state is its depth in the tree: the root is the shortest.",
        metric="Accuracy of the word with the least projected length as the root, and Spearman's rho of squared "
        "lengths with depths.",
        statements=[
            Statement(
                name="root",
                text="The root is found more often than by a random recurrence.",
                number="accuracy of the root",
                rule=LearnedRule(above=ROOTS["Proj0"], unit="%"),
                published=Published(ROOTS[OURS], ROOTS["Proj0"], OURS, "memory"),
                measure=partial(_selected, "tree depths", "root"),
            ),
            Statement(
                name="depths",
                text="Projected lengths rank words as depths do.",
                number="Spearman's rho of depths, by length, averaged over lengths from 5 to 50",
                rule=LearnedRule(above=DEPTHS["Proj0"], unit=""),
                published=Published(DEPTHS[OURS], DEPTHS["Proj0"], OURS, "memory"),
                measure=partial(_selected, "tree depths", "rank correlation"),
            ),
        ],
    ),
)
