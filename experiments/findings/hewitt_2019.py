"""Hewitt and Liang 2019: a classifier says something of a model if it does not learn labels drawn at random as well."""

from __future__ import annotations

from functools import partial

import pandas as pd

from experiments.statements.finding import Evidence, Finding, Measured, Paper, Published, Statement
from experiments.statements.numbers import compared, estimate_of, points, table
from experiments.statements.rule import LearnedRule
from reports.statements.figure import Figure
from reports.tables.classifiers import COMPONENTS

PAPER = Paper("hewitt-2019", "Hewitt and Liang 2019", "Designing and Interpreting Probes with Control Tasks")

TASK = "part of speech"

METRIC = "Selectivity: accuracy minus that in a control task, in which every word form has one label that is drawn at "
METRIC += "random, as often as labels occur."


def _layer(evidence: Evidence, layer: int, what: str) -> pd.Series:
    why = f"no classifier of {what} was trained"
    return table(evidence, "classifiers", "layers", why, task=TASK, layer=layer).iloc[0]


def _linear(evidence: Evidence) -> Measured:
    row = _layer(evidence, 1, "parts of speech")
    note = f"accuracy {row['accuracy']:.1%}, control {row['control_accuracy']:.1%}"
    return Measured(estimate_of(row, "selectivity", "selectivity_low", "selectivity_high"), note=note)


def _beyond_the_word(evidence: Evidence) -> Measured:
    both = _layer(evidence, 1, "parts of speech"), _layer(evidence, 0, "the embedding")
    ours, theirs = (estimate_of(row, "accuracy", "ci_low", "ci_high") for row in both)
    return compared(ours, theirs, note="the baseline is the embedding")


def _drawn(evidence: Evidence) -> Figure:
    layers = table(evidence, "classifiers", "layers", task=TASK)
    columns = (("task", "accuracy"), ("control task", "control_accuracy"))
    series = {name: points(layers, "layer", column) for name, column in columns}
    return Figure("lines", "Parts of speech, and labels drawn at random", "layer (0: embedding)", "accuracy", series)


finding = partial(
    Finding,
    model="ELMo, first layer",
    where="results on parts of speech",
    data="Penn Treebank, parts of speech",
    metric=METRIC,
)

FINDINGS = (
    finding(
        id="hewitt-linear",
        claim="A linear classifier of parts of speech is selective.",
        stands_in="the outputs of all heads of the first layer, on UD English GUM",
        differs="Another model, few examples, 16 labels in the place of those of the Penn Treebank; reduced to "
        f"{COMPONENTS} principal components.",
        statements=[
            Statement(
                name="linear",
                text="On the first layer a linear classifier is 26 points better at parts of speech than at control.",
                number="selectivity",
                rule=LearnedRule(above=0.26),
                weaker=LearnedRule(above=0.0),
                published=Published(0.26, text="accuracy 97.2 %", provenance="memory"),
                measure=_linear,
            ),
            Statement(
                name="beyond the word",
                text="It is better there than on the embedding of the word alone.",
                number="accuracy on the first layer minus that on the embedding",
                rule=LearnedRule(above=0.0),
                published=Published(text="accuracy 97.2 % on the first layer", provenance="memory"),
                measure=_beyond_the_word,
            ),
        ],
        readings=("classifiers",),
        figure=_drawn,
    ),
    finding(
        id="hewitt-mlp",
        claim="A classifier with a hidden layer is as accurate as a linear one, but hardly selective.",
        statements=[
            Statement(
                name="MLP-1",
                text="A classifier with one hidden layer is less selective than a linear one.",
                number="selectivity of the linear classifier minus that of the one with a hidden layer",
                rule=LearnedRule(above=0.0),
                published=Published(0.045, text="its selectivity; accuracy 97.3 %", provenance="memory"),
            )
        ],
        missing="the classifiers that are trained here are linear",
    ),
)
