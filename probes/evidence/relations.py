"""Which labels of a run further measures take up: those with the most items, each in its best direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pandas as pd

from probes.scoring.tally import Question

if TYPE_CHECKING:
    from probes.registry import Probe

FEWEST: Final = 50
"Items that a relation has on each split, at the least."

KEY: Final = ["probe", "variant", "label"]


@dataclass(frozen=True)
class Relation:
    """A question for which an ensemble is sought."""

    question: Question
    first: int
    "The head that was selected on the selection split, as a flat index."
    baseline: str
    "The strongest baseline or control on the report split."


def choose_relations(scores: pd.DataFrame, probes: Sequence[Probe], count: int, heads: int) -> list[Relation]:
    """Return the `count` labels with the most items on the selection split, each in its best variant there.

    Of probes that need more than words, and of labels with FEWEST items on both splits and something to beat; not of
    those that pool subtypes ("nsubj:*"), whose items other labels ask about. The variant is the one in which the chosen
    head has the largest margin on the selection split.
    """
    rows = scores[scores.selected & (scores.n >= FEWEST) & (scores.baseline != "")]
    rows = rows[
        ~rows.label.str.endswith(":*") & rows.probe.isin([probe.name for probe in probes if probe.needs != "words"])
    ]
    report = rows[rows.split == "report"].set_index(KEY).baseline
    select = rows[(rows.split == "select") & rows.set_index(KEY).index.isin(report.index)]
    best = select.sort_values(["margin", *KEY], ascending=[False, True, True, True]).drop_duplicates(["probe", "label"])
    kept = best.sort_values(["n", *KEY], ascending=[False, True, True, True]).head(count)
    places = zip(*(kept[column].tolist() for column in (*KEY, "layer", "head")), strict=True)
    return [
        Relation((probe, variant, label), layer * heads + head, str(report[probe, variant, label]))
        for probe, variant, label, layer, head in places
    ]
