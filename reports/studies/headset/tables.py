"""The tables of relations between heads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from reports.formats import decimal, percent, signed
from reports.tables.shared_columns import (
    BASELINE,
    BASELINE_ACCURACY,
    CORRELATIONS,
    FRACTIONS,
    ITEMS,
    ONE_HEAD,
    QUESTION,
    RUN,
    difference,
    ends,
    flag,
    fraction,
    number,
    p_column,
    place,
    text,
    whole,
)
from reports.tables.table import Table

_NATS: Final = (0.0, math.log(2))
"What a Jensen-Shannon divergence can be."

_PAIR: Final = (
    *ONE_HEAD,
    place("other_layer", "Layer of the other head, counted from 0."),
    place("other_head", "The other head in its layer, counted from 0."),
    text("other", "The other head as layer-head, both counted from 1."),
)
_WHAT: Final = text(
    "what", "What is compared: W_V (read subspaces), W_O (written subspaces), outputs (linear CKA), or maps."
)
_WEIGHTS: Final = text("weights", "own, or random for randomly initialised weights.", ("own", "random"))
_DISTANCE: Final = number(
    "distance", "Mean Jensen-Shannon divergence of the two heads' maps, in nats; lower is more alike.", _NATS
)

DISTANCES: Final = Table("One row for every two heads.", ("model", "step", "name", "other"), (*RUN, *_PAIR, _DISTANCE))

SUBSPACES: Final = Table(
    "One row for every two heads, what is compared, and weights.",
    ("model", "step", "what", "weights", "name", "other"),
    (
        *RUN,
        _WHAT,
        _WEIGHTS,
        *_PAIR,
        number(
            "overlap",
            "Mean squared cosine of the principal angles, or CKA; 1 is the same subspace.",
            FRACTIONS,
            write=decimal,
        ),
        number("nearest", "Cosine of the smallest principal angle; missing for outputs.", FRACTIONS, write=decimal),
    ),
)

PAIR_CONTRASTS: Final = Table(
    "One row for what is compared and weights: pairs of heads of one layer against pairs of two layers.",
    ("model", "step", "what", "weights"),
    (
        *RUN,
        _WHAT,
        _WEIGHTS,
        number("within", "Mean over pairs of heads of one layer: overlap, or distance in nats of maps.", FRACTIONS),
        number("between", "Mean over pairs of heads of two layers, as within.", FRACTIONS),
        whole("pairs_within", "Number of pairs of heads of one layer."),
        whole("pairs_between", "Number of pairs of heads of two layers."),
        p_column("p", "Permutation p-value of the difference of both means; missing where nothing was tested."),
    ),
)

PLACES: Final = Table(
    "One row for each head, on a plane that keeps the distances of maps as well as it can.",
    ("model", "step", "name"),
    (
        *RUN,
        *ONE_HEAD,
        number("x", "First coordinate on the plane, in nats."),
        number("y", "Second coordinate on the plane, in nats."),
        place("group", "Number of the cluster of alike heads, from 1."),
        text("nearest", "The head whose maps are most alike."),
        replace(_DISTANCE, meaning="Mean Jensen-Shannon divergence from that head's maps, in nats."),
    ),
)

ENSEMBLES: Final = Table(
    "One row for each label, direction and number of heads whose maps are averaged.",
    ("model", "step", "probe", "label", "variant", "size"),
    (
        *RUN,
        *QUESTION,
        whole("size", "Number of heads."),
        text("heads", "Their names, in the order in which they were added on the selection split."),
        fraction("select_accuracy", "Accuracy of the mean map on the selection split."),
        flag("selected", "Whether this number of heads has the highest accuracy on the selection split."),
        *ITEMS,
        fraction("accuracy", "Accuracy of the mean map on the report split.", "ci"),
        *ends("ci", "accuracy", percent, FRACTIONS),
        difference("gain", "Accuracy minus that of the first head alone.", "gain"),
        *ends("gain", "the gain", signed, CORRELATIONS),
        BASELINE,
        BASELINE_ACCURACY,
        difference("margin", "Accuracy minus that of the strongest baseline or control.", "margin"),
        *ends("margin", "the margin", signed, CORRELATIONS),
    ),
)

HEADSET_TABLES: Final[Mapping[str, Table]] = {
    "distances": DISTANCES,
    "subspaces": SUBSPACES,
    "contrasts": PAIR_CONTRASTS,
    "places": PLACES,
    "ensembles": ENSEMBLES,
}
