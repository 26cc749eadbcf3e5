"""Hewitt and Liang 2019: a classifier says something of a model if it does not learn labels drawn at random as well."""

from __future__ import annotations

import pandas as pd

from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.numbers import estimate_of, rows
from experiments.statements.rule import Rule

PAPER = Paper("hewitt-2019", "Hewitt and Liang 2019", "Designing and Interpreting Probes with Control Tasks")

TASK = "part of speech"

MODEL = "ELMo, first layer"

DATA = "Penn Treebank, parts of speech"

METRIC = "Selectivity: accuracy minus that in a control task, in which every word form has one label that is drawn at "
METRIC += "random, as often as labels occur."


def _layers(evidence: Evidence) -> pd.DataFrame:
    return rows(evidence["classifiers"].studies.get("layers"), task=TASK)


def _linear(evidence: Evidence) -> Numbers:
    layers = _layers(evidence)
    first = layers[layers.layer == 1] if len(layers) else layers
    if not len(first):
        return {"linear": Missing("no classifier of parts of speech was trained")}
    row = first.iloc[0]
    above = estimate_of(row, "selectivity", "selectivity_low", "selectivity_high")
    return {"linear": Measured(above, note=f"accuracy {row['accuracy']:.1%}, control {row['control_accuracy']:.1%}")}


def _drawn(evidence: Evidence) -> Figure:
    layers = _layers(evidence)
    series: dict[str, list[Point]] = {
        name: list(zip(layers.layer.tolist(), layers[column].tolist(), strict=True))
        for name, column in (("task", "accuracy"), ("control task", "control_accuracy"))
    }
    return Figure("lines", "Parts of speech, and labels drawn at random", "layer (0: embedding)", "accuracy", series)


FINDINGS = (
    Finding(
        id="hewitt-linear",
        claim="A linear classifier of parts of speech is selective.",
        where="results on parts of speech",
        model=MODEL,
        data=DATA,
        metric=METRIC,
        stands_in="the outputs of all heads of the first layer, on UD English GUM",
        differs="Another model, few examples, 16 labels in the place of those of the Penn Treebank; reduced to 32 "
        "principal components.",
        statements=[
            Statement(
                name="linear",
                text="On the first layer a linear classifier is ten points better at parts of speech than at control.",
                number="selectivity",
                rule=Rule(above=0.1),
                published=Published(0.26, text="accuracy 97.2 %", provenance="memory"),
            )
        ],
        readings=("classifiers",),
        measure=_linear,
        figure=_drawn,
    ),
    Finding(
        id="hewitt-mlp",
        claim="A classifier with a hidden layer is as accurate as a linear one, but hardly selective.",
        where="results on parts of speech",
        model=MODEL,
        data=DATA,
        metric=METRIC,
        statements=[
            Statement(
                name="MLP-1",
                text="A classifier with one hidden layer is less selective than a linear one.",
                number="selectivity of the linear classifier minus that of the one with a hidden layer",
                rule=Rule(above=0.0),
                published=Published(0.045, text="its selectivity; accuracy 97.3 %", provenance="memory"),
            )
        ],
        missing="the classifiers that are trained here are linear",
    ),
)
