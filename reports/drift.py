"""What a page says of how far a training moved the maps that it began with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from reports.formats import count, decimal3
from reports.run import Run
from reports.study_table import last_step

DRIFT: Final[Sequence[tuple[str, str]]] = (
    (
        "cosine",
        "Of a head’s map of a sentence before and after the training, each taken as one vector, special tokens "
        "included: 1 where nothing moved (Kovaleva et al. 2019). Mean over sentences.",
    ),
)
"Term -> definition, for the section on drift."

MOVED: Final = 6
"Heads that are named as those that moved most."


@dataclass(frozen=True)
class Drift:
    """What a page says."""

    said: str
    layers: Sequence[tuple[str, str, str, str]]
    "Of each layer: its number, mean cosine, and the heads that moved most and least, with theirs."


def drift(run: Run) -> Drift | None:
    """Return what the page says of the model's last step; None where maps were not compared."""
    table = run.studies.get("drift")
    if table is None or table.empty:
        return None
    table = last_step(table)
    heads = table.groupby(["layer", "name"], sort=False)["cosine"].mean().sort_values(kind="stable")
    moved = ", ".join(f"{name} ({decimal3(cosine)})" for (_, name), cosine in heads.head(MOVED).items())
    said = (
        f"On {count(table['text'].nunique())} sentences of the report split the maps moved most in these heads: "
        f"{moved}. Whether the model needs what moved, this does not say."
    )
    return Drift(said, [_layer(int(layer), of) for layer, of in heads.groupby("layer")])


def _layer(layer: int, heads: pd.Series) -> tuple[str, str, str, str]:
    most, least = (f"{heads.index[end][1]} ({decimal3(heads.iloc[end])})" for end in (0, -1))
    return f"{layer + 1}", decimal3(float(heads.mean())), most, least
