"""What a page reports of mixing: ratios and states by layer, and effective attention by length of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from reports.formats import count, decimal, percent
from reports.run.folder import RunFolder
from reports.studies.mixing.tables import IDENTIFIED, RATIOS, STATES
from reports.tables.by_layer import by_layer
from reports.tables.cells import columns_of
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

MIXING_TERMS: Final[Sequence[tuple[str, str]]] = (
    (
        "mixing ratio",
        "Length of what an attention block takes from other pieces over the sum of this length and that of what it "
        "keeps of the piece itself, mean over pieces (Kobayashi et al. 2021). With weights alone: the attention that "
        "goes to other pieces, or half of it where the residual counts as the other half.",
    ),
    (
        "relative residual",
        "Norm of the states of a text without their mean over that of the states: 0 where all pieces have one state "
        "(Dong et al. 2021). Parts of the layers are left out in the whole pass, nothing is retrained.",
    ),
    (
        "identified pieces",
        "Share of pieces whose embedding, of those of the text, is nearest to what a linear map makes of their state "
        "(Brunner et al. 2020).",
    ),
    (
        "effective attention",
        "Attention without the part that changes nothing of what the head writes: it exists where a text has more "
        "pieces than a head has dimensions (Brunner et al. 2020).",
    ),
)

LENGTHS: Final = columns_of(
    (
        *("Length of text in sizes of a head", "Texts", "Correlation", "Removed"),
        *("[CLS]", "[CLS], effective", "[SEP]", "[SEP], effective"),
    )
)


@dataclass(frozen=True)
class MixingResults:
    """What a page reports."""

    text: str
    tables: Sequence[TextTable]


def mixing(run: RunFolder) -> MixingResults | None:
    """Return what the page reports of the model's last step; None where mixing was not measured."""
    table, heads = run.studies.get("mixing"), run.studies.get("effective_attention")
    if table is None or heads is None or table.empty:
        return None
    rows, heads = last_step(table), last_step(heads)
    means = rows[rows["depth"] > 0].groupby("measure")["value"].mean()
    last = rows[rows["depth"] == rows["depth"].max()].set_index("measure")["value"]
    text = (
        f"On {count(int(rows['n'].max()))} texts attention blocks mix {percent(means[RATIOS[-1]])} % from other "
        f"pieces, where weights and half a residual give {percent(means[RATIOS[1]])} %. The relative residual of the "
        f"last states is {decimal(last[STATES[0]])}; in a pass of attention alone it is {decimal(last[STATES[-1]])}."
    )
    return MixingResults(text, (_by_depth(rows), _by_length(heads)))


def _by_depth(rows: pd.DataFrame) -> TextTable:
    order = [*RATIOS, *STATES, IDENTIFIED]
    title = "Mixing ratios, relative residuals of states and identified pieces by layer, with 95 % intervals"
    shown = rows[rows["measure"].isin(order)].sort_values("measure", key=lambda column: column.map(order.index))
    return by_layer(title, shown, ["measure"], "depth")


def _by_length(heads: pd.DataFrame) -> TextTable:
    shown = ["pearson", "removed", "cls", "cls_effective", "sep", "sep_effective"]
    rows = [
        (str(sizes), count(int(part["n"].iloc[0])), *(decimal(part[name].mean()) for name in shown))
        for sizes, part in heads.groupby("sizes")
    ]
    return TextTable.of("Attention and effective attention by length of text, mean over heads", LENGTHS, rows)
