"""The tables of mixing: by depth, by head and length of text, and by head and text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.formats import decimal3
from reports.tables.shared_columns import (
    FRACTIONS,
    ONE_HEAD,
    RUN,
    correlation,
    ends,
    fraction,
    number,
    place,
    text,
    whole,
)
from reports.tables.table import Table

RATIOS: Final = (
    "weights",
    "weights, residual",
    "norms",
    "norms, residual",
    "norms, residual, LayerNorm",
)
"Mixing ratios, by what is taken into account."

STATES: Final = (
    "states: all parts",
    "states: no feed-forward nets",
    "states: no skip connections",
    "states: attention alone",
)
"Relative residuals of states, by the parts that the layers have."

IDENTIFIED: Final = "identified pieces"

MIXING: Final = Table(
    "One row for each measure and depth: how much of the output of an attention block comes from other pieces, and how "
    "far the states of a text are from being all the same.",
    ("model", "step", "measure", "depth"),
    (
        *RUN,
        text(
            "measure",
            "weights ... LayerNorm: mixing ratio, by what of the attention block is taken into account; states: "
            "relative residual of the states without their mean, by the parts that layers have; identified pieces: "
            "share that a linear map finds again.",
            (*RATIOS, *STATES, IDENTIFIED),
        ),
        place("depth", "Layer, counted from 1; 0 is the input of the first layer."),
        number("value", "Mean over texts.", interval="", write=decimal3),
        *ends("", "the mean over documents", decimal3),
        whole("n", "Number of texts."),
    ),
)

LENGTH: Final = place("sizes", "Length of the text in sizes of a head, rounded up; 4 for all that are longer.", 1)

MEASURES: Final = (
    correlation("pearson", "Correlation of attention and effective attention over the cells of a map."),
    fraction("removed", "Share of the squared norm of attention that changes nothing."),
    *(
        number(f"{name}{kind}", f"Mean {what} of a query to {told}.", bounds, write=decimal3)
        for name, told in (("cls", "[CLS]"), ("sep", "[SEP]"), ("words", "all words together"))
        for kind, what, bounds in (("", "attention", FRACTIONS), ("_effective", "effective attention", None))
    ),
)
"Of effective attention, of one text or mean over texts."

EFFECTIVE: Final = Table(
    "One row for each head and length of text: attention, and effective attention, its part that changes what the head "
    "writes.",
    ("model", "step", "name", "sizes"),
    (
        *RUN,
        *ONE_HEAD,
        LENGTH,
        whole("n", "Number of texts."),
        *MEASURES,
    ),
)

EFFECTIVE_TEXTS: Final = Table(
    "One row for each head and text: attention and effective attention, for intervals over heads and documents.",
    ("model", "step", "text", "name"),
    (
        *RUN,
        place("text", "Number of the text, from 0."),
        place("document", "Number of its document, from 0: texts of one document are resampled together."),
        *ONE_HEAD,
        LENGTH,
        *MEASURES,
    ),
    csv=False,
)

MIXING_TABLES: Final[Mapping[str, Table]] = {
    "mixing": MIXING,
    "effective_attention": EFFECTIVE,
    "effective_texts": EFFECTIVE_TEXTS,
}
