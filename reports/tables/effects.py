"""What tables of the effects of heads on behaviours share, and the tables of ablation."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pandas as pd

from reports.tables.column import outside
from reports.tables.shared_columns import (
    BEHAVIOUR,
    ITEMS,
    MEASURE,
    NAME,
    P_ADJUSTED,
    UNIT,
    P,
    ends,
    number,
    optional,
    p_column,
    run_table,
    text,
    whole,
)
from reports.tables.table import Refuse

KINDS: Final = ("head", "layer", "selected", "random")
"Kinds of sets of heads."

SELECTED_BY: Final = ("specialised", "largest margin")
"What heads of a label are selected by: stable grades, or their margins on the selection split."

OF_BEHAVIOUR: Final = (BEHAVIOUR, UNIT)
"What the columns of a table about behaviours begin with, behind those of the run."

TOKENS: Final = ("[CLS]", "[SEP]", "other")
"""What attention weights are on: the special tokens before and after the words of a text, of any model, and the pieces
of words."""

ORDERS: Final = ("importance", "cost", "random")
"""In which order heads are taken out: the least important first (gradient importance), those first that cost least when
they alone are ablated (scored once, with all others there), or at random."""

ATTENTION_VERDICTS: Final = (
    "attends, with effect",
    "attends, no effect",
    "effect without attention",
    "neither",
    "not known",
)
"""attends: the head has a grade in a label of a role's probe, in its variant. effect: without the head the behaviour is
significantly worse (adjusted p below the level). not known: the one or the other was not tested."""

ALL_PLACES: Final = "all places"
"The role of a row of patching that is about all places at once."

_WAY: Final = text(
    "way",
    "What the heads' output is replaced by: zero, that of uniform attention, its mean (by position), that on "
    "another text (resample), or its values mixed by the attention of the next head of the set (interchange).",
)
_ABOUT: Final = ("behaviour", "way", "measure")


def _check_ablations(frame: pd.DataFrame, refuse: Refuse) -> None:
    share = frame["measure"].str.startswith("accuracy")
    for column in ("intact", "ablated"):
        refuse(share & outside(frame[column], 0, 1), f"`{column}` of an accuracy lies outside [0, 1]")


ABLATIONS: Final = run_table(
    "One row for each behaviour, way of ablation, measure and set of heads that is ablated.",
    (*_ABOUT, "kind", "name", "draw"),
    (
        *OF_BEHAVIOUR,
        _WAY,
        MEASURE,
        text("kind", "What is ablated: one head, a layer, the heads selected by a label, or random heads.", KINDS),
        replace(NAME, meaning="The head or the layer, counted from 1, or the label that selected the heads."),
        whole("draw", "Number of the random set, from 1; 0 for sets that are not random."),
        optional("layer", "Layer, counted from 0; missing for heads of several layers."),
        optional("head", "Head in its layer, counted from 0; missing for several heads."),
        whole("heads", "Number of heads that are ablated."),
        *ITEMS,
        number("intact", "The measure with all heads, in the unit."),
        number("ablated", "The measure without these heads, in the unit."),
        number("cost", "Intact minus ablated, in the unit; above 0 where the model does worse without.", None, "ci"),
        *ends("ci", "the cost"),
        replace(
            P,
            meaning="Two-sided p-value of the cost; of a cosine, one-sided against the median head; missing where "
            "nothing was tested.",
        ),
        replace(P_ADJUSTED, meaning="p corrected for all sets of its kind; missing where nothing was tested."),
    ),
    _check_ablations,
)

ABLATION_CONTRASTS: Final = run_table(
    "One row for each behaviour, way of ablation, measure and label whose heads were ablated together, and as many "
    "random heads of the same layers several times.",
    (*_ABOUT, "name"),
    (
        *OF_BEHAVIOUR,
        _WAY,
        MEASURE,
        replace(NAME, meaning="The label that selected the heads."),
        text("by", "What the heads were selected by: stable grades, or the largest margin.", SELECTED_BY),
        text("heads", "Names of the heads that the label selected."),
        whole("elsewhere", "Heads of a random set that are of other layers than the selected ones."),
        whole("draws", "Number of random sets."),
        *ITEMS,
        number("cost", "What the behaviour loses without the selected heads, in the unit."),
        number("random_cost", "Mean of what it loses without the heads of a random set, in the unit."),
        number("random_least", "Least cost of a random set, in the unit."),
        number("random_most", "Largest cost of a random set, in the unit."),
        number(
            "difference",
            "Cost minus random cost, in the unit; above 0 where the label's heads matter more.",
            None,
            "ci",
        ),
        *ends("ci", "the difference"),
        p_column("p", "Share of the sets, the selected one among them, that cost at least as much as it."),
    ),
)
