"""What a page reports of states: their geometry by layer, and what outlier dimensions are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from reports.formats import count, percent
from reports.run.folder import RunFolder
from reports.tables.by_layer import by_layer
from reports.tables.cells import columns_of
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

STATES_TERMS: Final[Sequence[tuple[str, str]]] = (
    (
        "self-similarity",
        "Mean cosine of the states of one word in different sentences; adjusted: minus the mean cosine of random words "
        "of different sentences, which is the anisotropy of the layer (Ethayarajh 2019).",
    ),
    (
        "outlier dimension",
        "A dimension whose scaling factor or bias in the LayerNorm at the end of a layer is more than three standard "
        "deviations from the mean in at least half of the layers (Kovaleva et al. 2021).",
    ),
)

WORTH: Final = columns_of(("Measure", "Dimensions set to zero", "Value", "95 % interval"))


@dataclass(frozen=True)
class StatesResults:
    """What a page reports."""

    text: str
    tables: Sequence[TextTable]


def states(run: RunFolder) -> StatesResults | None:
    """Return what the page reports of the model's last step; None where states were not measured."""
    geometry, ablated = run.studies.get("states"), run.studies.get("ablated_dimensions")
    if geometry is None or geometry.empty or ablated is None:
        return None
    outliers, rows = run.studies.get("outlier_dimensions"), last_step(geometry)
    found = 0 if outliers is None else len(last_step(outliers))
    text = (
        f"{count(found)} dimensions of the states are outliers. The random words of the last layer have a mean cosine "
        f"of {rows[rows['measure'] == 'random words'].sort_values('layer')['value'].iloc[-1]:.3f}."
    )
    by_depth = by_layer("Cosines of states by layer, with 95 % intervals", rows, ["measure"])
    return StatesResults(text, (by_depth, _worth(last_step(ablated))) if len(ablated) else (by_depth,))


def _worth(ablated: pd.DataFrame) -> TextTable:
    rows = [
        (one["measure"], one["kind"], f"{percent(one['value'])} %", f"[{percent(one['low'])}, {percent(one['high'])}]")
        for one in ablated.to_dict("records")
    ]
    return TextTable.of("Accuracy with dimensions set to zero in the output of every layer", WORTH, rows)
