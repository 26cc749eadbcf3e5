"""Reif, Yuan, Wattenberg, Viegas, Coenen, Pearce and Kim 2019: the attention of all heads holds dependencies."""

from __future__ import annotations

import pandas as pd

from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import estimate_of, rows

PAPER = Paper(
    "reif-2019",
    "Reif, Yuan, Wattenberg, Viegas, Coenen, Pearce and Kim 2019",
    "Visualizing and Measuring the Geometry of BERT",
)

TASKS = ("relation or not", "which relation")
"Tasks of the table `pair_probes`."


def _row(evidence: Evidence, task: str) -> pd.Series | None:
    found = rows(evidence["probing"].studies.get("pair_probes", pd.DataFrame(columns=["task"])), task=task)
    return found.iloc[0] if len(found) else None


def _pairs(evidence: Evidence) -> Numbers:
    return {task: _accuracy(_row(evidence, task)) for task in TASKS}


def _accuracy(row: pd.Series | None) -> Measured | Missing:
    if row is None:
        return Missing("no classifier of pairs was trained: the corpora have no trees, or too few")
    told = f"{row['labels']} labels, the most frequent one {row['majority']:.1%}; baseline: how far words stand apart"
    return Measured(estimate_of(row, "value", "low", "high"), baseline=float(row["distance"]), note=told)


def _drawn(evidence: Evidence) -> Figure:
    known = [(task, row) for task in TASKS if (row := _row(evidence, task)) is not None]
    found = [estimate_of(row, "value", "low", "high") for _, row in known]
    ours: list[Point] = [(place, one.value, one.low, one.high) for place, one in enumerate(found)]
    distance: list[Point] = [(place, float(row["distance"])) for place, (_, row) in enumerate(known)]
    series = {"attention of all heads": ours, "distance alone": distance}
    return Figure("bars", "Relations of two words", "", "accuracy", series, [task for task, _ in known])


FINDINGS = (
    Finding(
        id="reif-attention-probe",
        revised="a weaker bar was removed after untrained weights had passed it",
        claim="From the attention of all heads between two words a linear classifier tells whether there is a "
        "dependency between them, and which.",
        where="section 3.1",
        model="BERT base, uncased",
        data="Penn Treebank, parsed to Stanford dependencies",
        metric="Accuracy of linear classifiers, with a penalty on squared weights, on the vector of the attention of "
        "all heads of all layers; of the 30 most frequent relations.",
        stands_in="UD English EWT: 1,500 arcs and 1,500 other pairs of train, as many of dev",
        differs="Far fewer pairs; attention of both directions; relations without subtypes; words of a pair in random "
        "order. Pairs without a relation are drawn from the same sentences at any distance, as in the paper: the "
        "baseline says what their distance alone tells.",
        statements=[
            Statement(
                name="relation or not",
                text="Whether there is a relation is told as well as in the paper.",
                number="accuracy where half of the pairs have a relation",
                rule=LearnedRule(above=0.858),
                unit="%",
                published=Published(0.858, provenance="memory"),
            ),
            Statement(
                name="which relation",
                text="Which of the relations it is is told as well as in the paper.",
                number="accuracy among the most frequent relations",
                rule=LearnedRule(above=0.719),
                unit="%",
                published=Published(0.719, text="of 30 relations", provenance="memory"),
            ),
        ],
        readings=("probing",),
        measure=_pairs,
        figure=_drawn,
    ),
)
