"""Local and global layers: what tables and cards say of a model that has local ones."""

from __future__ import annotations

from typing import Final

import pandas as pd

GLOBAL: Final = "global"
"What `layer_attention` of the scores says of a layer in which pieces attend to all pieces."


def layer_attention(scores: pd.DataFrame) -> dict[int, str]:
    """Return layer, counted from 0 -> its attention; {} where all layers are global, or where that is not known."""
    layers = scores.drop_duplicates("layer").sort_values("layer")
    kinds = {int(layer): str(kind) for layer, kind in zip(layers["layer"], layers["layer_attention"], strict=True)}
    return kinds if {*kinds.values()} - {"", GLOBAL} else {}


def alternates(kinds: dict[int, str]) -> bool:
    """Return whether a model has layers of both kinds, from what `layer_attention` says."""
    return GLOBAL in kinds.values()
