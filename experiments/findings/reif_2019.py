"""Reif, Yuan, Wattenberg, Viegas, Coenen, Pearce and Kim 2019: the attention of all heads holds dependencies."""

from __future__ import annotations

from functools import partial

from experiments.statements.finding import Evidence, Finding, Measured, Paper, Published, Statement
from experiments.statements.numbers import estimate_of, table
from experiments.statements.rule import LearnedRule

PAPER = Paper(
    "reif-2019",
    "Reif, Yuan, Wattenberg, Viegas, Coenen, Pearce and Kim 2019",
    "Visualizing and Measuring the Geometry of BERT",
)


def _accuracy(task: str, evidence: Evidence) -> Measured:
    why = "no classifier of pairs was trained: the corpora have no trees, or too few"
    row = table(evidence, "probing", "pair_probes", why, task=task).iloc[0]
    told = f"{row['labels']} labels, the most frequent one {row['majority']:.1%}; baseline: how far words stand apart"
    return Measured(estimate_of(row, "value", "low", "high"), baseline=float(row["distance"]), note=told)


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
                rule=LearnedRule(above=0.858, unit="%"),
                published=Published(0.858, provenance="memory"),
                measure=partial(_accuracy, "relation or not"),
            ),
            Statement(
                name="which relation",
                text="Which of the relations it is is told as well as in the paper.",
                number="accuracy among the most frequent relations",
                rule=LearnedRule(above=0.719, unit="%"),
                published=Published(0.719, text="of 30 relations", provenance="memory"),
                measure=partial(_accuracy, "which relation"),
            ),
        ],
        readings=("probing",),
    ),
)
