"""Hewitt and Manning 2019: distances between words in a projection of their states are distances in the tree."""

from __future__ import annotations

import pandas as pd

from experiments.statements.estimates import Estimate
from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import estimate_of, floats, minus, rows

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

MODEL = "ELMo, BERT base and large"

DATA = "Penn Treebank"

STANDS_IN = "UD English EWT, 800 sentences of train, 800 of dev"

DIFFERS = (
    "Dependencies of UD; projections of rank 64, fitted to 640 sentences where the paper has 40,000; the layer is "
    "selected on held-out documents. The paper's random model, Proj0, is a recurrence over ELMo's embeddings: here "
    "random weights go through the same probe as a model of their own."
)

PUBLISHED = " Published: " + ", ".join(f"{name} {100 * value:.1f}" for name, value in TREES.items()) + "."

NO_PROBE = Missing("no structural probe was fitted: the corpora have no trees, or too few")


def _rows(evidence: Evidence, task: str, measure: str) -> pd.DataFrame:
    table = evidence["probing"].studies.get("layer_probes", pd.DataFrame(columns=["task", "measure"]))
    return rows(table, task=task, measure=measure)


def _selected(evidence: Evidence, task: str, measure: str) -> pd.Series | None:
    """Return the row of the layer that is best on the held-out documents of the selection split."""
    found = _rows(evidence, task, measure)
    return found.sort_values("held_out", ascending=False, kind="stable").iloc[0] if len(found) else None


def _number(evidence: Evidence, task: str, measure: str) -> Measured | Missing:
    row = _selected(evidence, task, measure)
    if row is None:
        return NO_PROBE
    baseline = float(row["baseline"])
    return Measured(_estimate(row), baseline=baseline, note=f"layer {row['layer']}, selected on held-out documents")


def _estimate(row: pd.Series) -> Estimate:
    return estimate_of(row, "value", "low", "high")


def _trees(evidence: Evidence) -> Numbers:
    found = {"trees": _number(evidence, "tree distances", "undirected attachment")}
    found["distances"] = _number(evidence, "tree distances", "rank correlation")
    row = _selected(evidence, "tree distances", "undirected attachment")
    embedded = rows(_rows(evidence, "tree distances", "undirected attachment"), layer=0)
    if row is None or not len(embedded):
        return found | {"beyond the input": NO_PROBE}
    ours, theirs = _estimate(row), _estimate(embedded.iloc[0])
    return found | {"beyond the input": Measured(minus(ours, theirs), ours, theirs.value, note="baseline: layer 0")}


def _depths(evidence: Evidence) -> Numbers:
    measures = {"root": "root", "depths": "rank correlation"}
    return {name: _number(evidence, "tree depths", measure) for name, measure in measures.items()}


def _drawn(evidence: Evidence) -> Figure:
    found = _rows(evidence, "tree distances", "undirected attachment")
    points: list[Point] = [(row[0], row[1], row[2], row[3]) for row in floats(found, "layer", "value", "low", "high")]
    level = float(found["baseline"].iloc[0])
    series = {"structural probe": points}
    return Figure(
        "lines",
        "Trees by layer",
        "layer (0: input)",
        "undirected attachment",
        series,
        level=level,
        level_name="in a row",
    )


FINDINGS = (
    Finding(
        id="hewitt-structural-probe",
        claim="A linear projection of a model's states holds whole trees, and one of untrained states does not.",
        where="main results, table 1",
        model=MODEL,
        data=DATA,
        metric="Undirected attachment (UUAS) of the minimum spanning tree of squared distances between projected "
        "words, without punctuation, and Spearman's rho of these distances with those in the tree." + PUBLISHED,
        stands_in=STANDS_IN,
        differs=DIFFERS,
        statements=[
            Statement(
                name="trees",
                text="More arcs are found than by the strongest baseline of the paper, a random recurrence.",
                number="undirected attachment of the selected layer",
                rule=LearnedRule(above=TREES[PROJECTED]),
                weaker=LearnedRule(above=TREES[LINEAR]),
                unit="%",
                published=Published(TREES[OURS], TREES[LINEAR], OURS, "memory"),
            ),
            Statement(
                name="distances",
                text="Projected distances rank words as distances in the tree do.",
                number="Spearman's rho of distances, by length, averaged over lengths from 5 to 50",
                rule=LearnedRule(above=DISTANCES["Proj0"]),
                weaker=LearnedRule(above=DISTANCES["linear"]),
                unit="",
                published=Published(DISTANCES[OURS], DISTANCES["linear"], OURS, "memory"),
                shown="",
            ),
            Statement(
                name="beyond the input",
                text="More arcs are found than in what the first layer reads.",
                number="undirected attachment of the selected layer minus that of the input",
                rule=LearnedRule(above=0.0),
                published=Published(
                    TREES["ELMo, layer 1"] - 0.268, text="ELMo, layer 1 and its embeddings", provenance="memory"
                ),
            ),
        ],
        readings=("probing",),
        measure=_trees,
        figure=_drawn,
    ),
    Finding(
        id="hewitt-depth-probe",
        revised="a weaker bar was removed after untrained weights had passed it",
        claim="In another projection the length of a word's state is its depth in the tree: the root is the shortest.",
        where="main results, table 1",
        model=MODEL,
        data=DATA,
        metric="Accuracy of the word with the least projected length as the root, and Spearman's rho of squared "
        "lengths with depths.",
        stands_in=STANDS_IN,
        differs=DIFFERS,
        statements=[
            Statement(
                name="root",
                text="The root is found more often than by a random recurrence.",
                number="accuracy of the root",
                rule=LearnedRule(above=ROOTS["Proj0"]),
                unit="%",
                published=Published(ROOTS[OURS], ROOTS["Proj0"], OURS, "memory"),
            ),
            Statement(
                name="depths",
                text="Projected lengths rank words as depths do.",
                number="Spearman's rho of depths, by length, averaged over lengths from 5 to 50",
                rule=LearnedRule(above=DEPTHS["Proj0"]),
                unit="",
                published=Published(DEPTHS[OURS], DEPTHS["Proj0"], OURS, "memory"),
                shown="",
            ),
        ],
        readings=("probing",),
        measure=_depths,
    ),
)
