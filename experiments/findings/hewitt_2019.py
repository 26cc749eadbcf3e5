"""Hewitt and Liang 2019: a classifier says something of a model if it does not learn labels drawn at random as well."""

from __future__ import annotations

import pandas as pd

from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import estimate_of, minus, rows

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
        return dict.fromkeys(("linear", "beyond the word"), Missing("no classifier of parts of speech was trained"))
    row = first.iloc[0]
    above = estimate_of(row, "selectivity", "selectivity_low", "selectivity_high")
    told = f"accuracy {row['accuracy']:.1%}, control {row['control_accuracy']:.1%}"
    return {"linear": Measured(above, note=told), "beyond the word": _beyond_the_word(layers, row)}


def _beyond_the_word(layers: pd.DataFrame, first: pd.Series) -> Measured | Missing:
    embedding = layers[layers.layer == 0]
    if not len(embedding):
        return Missing("no classifier of the embedding was trained")
    ours, theirs = (estimate_of(row, "accuracy", "ci_low", "ci_high") for row in (first, embedding.iloc[0]))
    return Measured(minus(ours, theirs), ours, theirs.value, note="the baseline is the embedding")


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
                text="On the first layer a linear classifier is 26 points better at parts of speech than at control.",
                number="selectivity",
                rule=LearnedRule(above=0.26),
                weaker=LearnedRule(above=0.0),
                published=Published(0.26, text="accuracy 97.2 %", provenance="memory"),
            ),
            Statement(
                name="beyond the word",
                text="It is better there than on the embedding of the word alone.",
                number="accuracy on the first layer minus that on the embedding",
                rule=LearnedRule(above=0.0),
                published=Published(text="accuracy 97.2 % on the first layer", provenance="memory"),
            ),
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
                rule=LearnedRule(above=0.0),
                published=Published(0.045, text="its selectivity; accuracy 97.3 %", provenance="memory"),
            )
        ],
        missing="the classifiers that are trained here are linear",
    ),
)
