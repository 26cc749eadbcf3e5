"""The tables of probing: tasks by layer, pairs of words, and what is lost without a property."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.formats import percent, signed
from reports.tables.shared_columns import CORRELATIONS, RUN, N, difference, ends, fraction, number, place, text, whole
from reports.tables.table import Table

LAYER_PROBES: Final = Table(
    "One row for each task, measure and layer: what a linear probe of the layer's states achieves on the report split.",
    ("model", "step", "task", "measure", "layer"),
    (
        *RUN,
        text(
            "task",
            "tree distances, tree depths: the structural probe (Hewitt and Manning 2019); the others are about whole "
            "sentences, from the mean of their words' states (Jawahar et al. 2019).",
        ),
        text(
            "measure",
            "undirected attachment, rank correlation, root (accuracy) of the structural probe; accuracy of the others.",
            ("undirected attachment", "rank correlation", "root", "accuracy"),
        ),
        place("layer", "0 is what the first layer reads; layer l is the output of the l-th layer."),
        number("value", "What the measure comes to on the report split.", CORRELATIONS, ""),
        *ends("", "the measure"),
        N,
        number(
            "held_out", "The same on held-out documents of the selection split; missing of sentences.", CORRELATIONS
        ),
        number(
            "baseline",
            "Of tree distances: how far words stand apart. Of sentences: the accuracy of the most frequent label.",
            CORRELATIONS,
        ),
    ),
)

PAIR_PROBES: Final = Table(
    "One row for each task about two words: a linear classifier sees the attention of all heads from one to the other, "
    "and back (Reif et al. 2019).",
    ("model", "step", "task"),
    (
        *RUN,
        text(
            "task",
            "relation or not: whether one word is the other's head, as in half of the pairs; which relation: of that "
            "half.",
            ("relation or not", "which relation"),
        ),
        whole("labels", "Number of labels."),
        number("value", "Accuracy on the report split.", (0.0, 1.0), "", percent),
        *ends("", "the accuracy", percent),
        N,
        fraction("distance", "Accuracy of a classifier that sees how far apart the words stand."),
        fraction("majority", "Accuracy of the most frequent label of the selection split."),
    ),
)

AMNESIC: Final = Table(
    "One row for each property of words that is removed from the states of the last layer (Elazar et al. 2021).",
    ("model", "step", "property"),
    (
        *RUN,
        text("property", "What is removed: part of speech, dependency label, start of a noun's phrase."),
        whole("directions", "Directions that were removed until no linear classifier could predict the property."),
        fraction("accuracy", "Accuracy of a linear classifier of the property, before.", "accuracy"),
        *ends("accuracy", "the accuracy", percent),
        fraction("majority", "Accuracy of the most frequent label."),
        fraction("left", "Accuracy of the last classifier of the property."),
        fraction("intact", "Accuracy with which frequent words are predicted from the intact states."),
        fraction("amnesic", "The same without the directions of the property."),
        fraction("random", "The same without as many random directions, the mean over several sets."),
        difference("effect", "random minus amnesic.", "effect"),
        *ends("effect", "the effect", signed),
        difference("lost", "intact minus amnesic.", "lost"),
        *ends("lost", "the loss", signed),
        N,
    ),
)

PROBING_TABLES: Final[Mapping[str, Table]] = {
    "layer_probes": LAYER_PROBES,
    "pair_probes": PAIR_PROBES,
    "amnesic": AMNESIC,
}
