"""The tables of trained classifiers and parsers."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from reports.formats import decimal, percent, signed
from reports.tables.column import Column
from reports.tables.shared_columns import (
    CLUSTERS,
    CORRELATIONS,
    FRACTIONS,
    ITEMS,
    LABEL,
    LAYER,
    NOT_NEGATIVE,
    ONE_HEAD,
    N,
    difference,
    ends,
    flag,
    fraction,
    number,
    p_column,
    place,
    run_table,
    text,
    whole,
)

COMPONENTS: Final = 32
"Principal components of a layer that classifiers are given, learned on the selection split."

RANK: Final = 64
"Of the projections of structural probes, at the most."

_TASK: Final = text("task", "What the classifier predicts, such as part of speech.")
_N_SELECT: Final = whole("n_select", "Number of examples of the selection split that it learned from.")
_SELECTIVE: Final = (
    difference(
        "selectivity", "Accuracy minus that on the control task, whose labels are random by word form.", "selectivity"
    ),
    *ends("selectivity", "selectivity", signed, CORRELATIONS),
)
_CONTROL_ACCURACY: Final = fraction("control_accuracy", "Accuracy of the same classifier on the control task.")
_MEASURED: Final = (
    *ITEMS,
    fraction("accuracy", "Share of examples of the report split that are classified correctly.", "ci"),
    *ends("ci", "accuracy", percent, FRACTIONS),
    _CONTROL_ACCURACY,
    *_SELECTIVE,
)


def _compression(name: str, of: str) -> Column:
    """Return a column of how much shorter labels become; 1 is no gain."""
    meaning = f"How many times shorter the online code makes the labels {of}; 1 is no gain."
    return number(name, meaning, NOT_NEGATIVE, write=decimal)


_COMPRESSIONS: Final = (
    _compression("compression", "of the task"),
    _compression("control_compression", "of the control task"),
)


def _lead(baseline: str, over: str) -> tuple[Column, ...]:
    """Return the columns of the paired test of heads against a rival."""
    meaning = f"Accuracy minus that of {over}, on the same examples; missing where nothing was fitted."
    return (
        difference(f"{baseline}_lead", meaning, f"{baseline}_lead"),
        *ends(f"{baseline}_lead", f"the lead over {over}", signed),
        p_column(f"{baseline}_p", f"p of no lead over {over}, by documents and corrected for all heads (Holm)."),
    )


CLASSIFIERS: Final = run_table(
    "One row for each task, label and head: a classifier fitted on the head's outputs before W_O, or for arcs on its "
    "attention.",
    ("corpus", "task", "label", "name"),
    (
        _TASK,
        replace(LABEL, meaning="Label of the task that the numbers are about, or all of them."),
        *ONE_HEAD,
        flag("selected", "Whether it is the head with the shortest code on the selection split."),
        whole("classes", "Number of labels of the task."),
        _N_SELECT,
        *_MEASURED,
        number(
            "codelength",
            "Online code length of the selection split's labels, in bits; shorter is better.",
            NOT_NEGATIVE,
        ),
        *_COMPRESSIONS,
        fraction("majority", "Accuracy of always predicting the most frequent label."),
        fraction("control_majority", "The same on the control task."),
        fraction(
            "embedding_accuracy",
            "Accuracy of a classifier on the word's embedding; missing where nothing was fitted.",
        ),
        difference("embedding_selectivity", "Selectivity of that classifier; missing where nothing was fitted."),
        *_lead("embedding", "the embedding"),
        fraction("random_accuracy", "Accuracy of the best head of randomly initialised weights; missing without them."),
        difference("random_selectivity", "Selectivity of that head; missing without such weights."),
    ),
)

PAIRS: Final = run_table(
    "One row for each task about pairs of words, kind of features and head.",
    ("corpus", "task", "features", "name"),
    (
        _TASK,
        text("features", "What the classifier is given of a head.", ("attention", "outputs")),
        *ONE_HEAD,
        flag("selected", "Whether it is the head with the shortest code on the selection split."),
        _N_SELECT,
        *_MEASURED,
        number("codelength", "Online code length of the selection split's labels, in bits.", NOT_NEGATIVE),
        _COMPRESSIONS[0],
        fraction("embedding_accuracy", "Accuracy of a classifier on the embeddings of both words."),
        *_lead("embedding", "the embedding"),
        fraction("random_accuracy", "Accuracy of the head in the same place of randomly initialised weights."),
        *_lead("random", "the head in the same place of randomly initialised weights"),
        fraction("together_accuracy", "Accuracy of a classifier on these features of all heads at once."),
        fraction("random_embedding_accuracy", "Accuracy on the embeddings of randomly initialised weights."),
        fraction("random_together_accuracy", "Accuracy on all heads of randomly initialised weights at once."),
    ),
)

CODES: Final = run_table(
    "One row for each task, random draw of examples and head.",
    ("corpus", "task", "draw", "name"),
    (_TASK, place("draw", "Number of the draw of examples, order and control task."), *ONE_HEAD, *_COMPRESSIONS),
)

LAYERS: Final = run_table(
    "One row for each task and layer, layer 0 being the embedding.",
    ("corpus", "task", "layer"),
    (
        _TASK,
        replace(LAYER, meaning="Layer, counted from 1; 0 is the embedding."),
        *_MEASURED,
        fraction("cumulative", "Accuracy of a classifier that is given layers 0 to this one."),
        difference("cumulative_selectivity", "Selectivity of that classifier."),
        difference("gain", "Cumulative accuracy minus that of the layer below."),
        number(
            "expected_layer",
            "Mean layer weighted by gain, one number a task; missing where no gain of all layers is significant.",
            None,
            "expected",
            decimal,
        ),
        *ends("expected", "the expected layer", decimal),
    ),
)

PARSER: Final = run_table(
    "One row for each parser that is given the attention of all heads.",
    ("corpus", "parser", "weights"),
    (
        text("parser", "What the parser is given, or the name of a baseline."),
        text("weights", "Weights of the model whose attention it is given: trained, random, or no weights at all."),
        whole("parameters", "Number of parameters of the parser."),
        replace(_N_SELECT, meaning="Number of words of the selection split that it learned from."),
        replace(N, meaning="Number of words of the report split, punctuation aside."),
        CLUSTERS,
        fraction("uas", "Unlabelled attachment score: share of words whose head is predicted correctly.", "ci"),
        *ends("ci", "the unlabelled attachment score", percent, FRACTIONS),
        difference("margin", "Its score minus that of the next word as the head of every word.", "margin"),
        *ends("margin", "the margin", signed, CORRELATIONS),
        fraction("control_uas", "Score of the same parser on the control task."),
        *_SELECTIVE,
    ),
)
