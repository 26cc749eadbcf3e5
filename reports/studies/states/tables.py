"""The tables of states: their geometry by layer, outlier dimensions, and what these are worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.tables.column import Column
from reports.tables.shared_columns import CORRELATIONS, RUN, N, ends, number, place, text, whole
from reports.tables.table import Table

GEOMETRY: Final = (
    "random words",
    "self-similarity",
    "self-similarity, adjusted",
    "intra-sentence similarity",
    "intra-sentence similarity, adjusted",
    "intra-sentence similarity, beyond random sentences",
    "explained variance",
    "explained variance, adjusted",
)

KINDS: Final = ("intact", "outliers", "random", "outliers beyond random")

LAYER: Final = place("layer", "0 is what the first layer reads; layer l is the output of the l-th layer.")


def value_columns(meaning: str) -> tuple[Column, ...]:
    """Return a number in [-1, 1] with its interval, and what it is a mean over."""
    return (number("value", meaning, CORRELATIONS, ""), *ends("", "the value"), N)


STATES: Final = Table(
    "One row for each layer and measure of the states of words, on the report split (Ethayarajh 2019).",
    ("model", "step", "layer", "measure"),
    (
        *RUN,
        LAYER,
        text(
            "measure",
            "random words: mean cosine of two words of different texts; self-similarity: of two occurrences of a word; "
            "intra-sentence similarity: of a word and the mean of its text; explained variance: share of a word's "
            "occurrences on their first principal component. Adjusted: minus what random words have; beyond random "
            "sentences: minus the cosine of as many words of other texts and their mean.",
            GEOMETRY,
        ),
        *value_columns("Cosine, share or difference."),
    ),
)

OUTLIER_DIMENSIONS: Final = Table(
    "One row for each dimension whose scaling factor or bias in the LayerNorm at the end of a layer is more than three "
    "standard deviations from the mean in at least half of the layers (Kovaleva et al. 2021).",
    ("model", "step", "dimension"),
    (
        *RUN,
        place("dimension", "Dimension of the states, counted from 0."),
        whole("scale_layers", "Layers in which the scaling factor is an outlier."),
        whole("bias_layers", "Layers in which the bias is an outlier."),
        whole("state_layers", "Layers in which the mean of the states of words is an outlier."),
        whole("size", "Dimensions of the states."),
    ),
)

ABLATED_DIMENSIONS: Final = Table(
    "One row for each measure and kind of dimensions that are zero in the output of every layer, on the report split.",
    ("model", "step", "measure", "kind"),
    (
        *RUN,
        text(
            "measure",
            "part of speech: accuracy of a classifier that learned from the last layer of the intact model; masked "
            "word: accuracy of the masked-LM head at one masked piece a text.",
            ("part of speech", "masked word"),
        ),
        text(
            "kind",
            "intact; outliers: all outlier dimensions are zero; random: as many others, the mean over several sets; "
            "outliers beyond random: how much more accuracy the outliers cost.",
            KINDS,
        ),
        *value_columns("Accuracy, or a difference of accuracies."),
    ),
)

STATES_TABLES: Final[Mapping[str, Table]] = {
    "states": STATES,
    "outlier_dimensions": OUTLIER_DIMENSIONS,
    "ablated_dimensions": ABLATED_DIMENSIONS,
}
