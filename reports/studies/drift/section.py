"""What a page says of how far a training moved the maps that it began with.

Its table is a summary of drift: of every layer the mean over heads and sentences, and two heads by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from reports.formats import count, decimal3
from reports.run.folder import RunFolder
from reports.tables.cells import columns_of
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

DRIFT: Final[Sequence[tuple[str, str]]] = (
    (
        "cosine",
        "Of a head’s map of a sentence before and after the training run, each taken as one vector, special tokens "
        "included: 1 where nothing moved (Kovaleva et al. 2019). Mean over sentences.",
    ),
)
"Term -> definition, for the section on drift."

LAYERS: Final = columns_of(("Layer", "Mean", "Moved most", "Moved least"))

MOVED: Final = 6
"Heads that are named as those that moved most."


@dataclass(frozen=True)
class Drift:
    """What a page says."""

    summary: str
    layers: TextTable
    "Of each layer: its number, mean cosine, and the heads that moved most and least, with theirs."


def drift(run: RunFolder) -> Drift | None:
    """Return what the page says of the model's last step; None where maps were not compared."""
    table = run.studies.get("drift")
    if table is None or table.empty:
        return None
    table = last_step(table)
    heads = table.groupby(["layer", "name"], as_index=False, sort=False)[["cosine"]].mean()
    heads = heads.sort_values("cosine", kind="stable")
    text = (
        f"On {count(table['text'].nunique())} sentences of the report split the maps moved most in these heads: "
        f"{', '.join(_named(heads)[:MOVED])}. This does not show whether the model needs what moved."
    )
    layers = heads["layer"].drop_duplicates().sort_values().tolist()
    rows = [_layer(layer, heads[heads["layer"] == layer]) for layer in layers]
    return Drift(text, TextTable.of("Cosine of maps before and after the training run", LAYERS, rows))


def _named(heads: pd.DataFrame) -> list[str]:
    return [f"{head['name']} ({decimal3(head['cosine'])})" for head in heads.to_dict("records")]


def _layer(layer: int, heads: pd.DataFrame) -> tuple[str, str, str, str]:
    named = _named(heads)
    return f"{layer + 1}", decimal3(float(heads["cosine"].mean())), named[0], named[-1]
