"""The numbers behind the head-by-layer heat maps, compact enough to be embedded in a page."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reports.formats import tenths
from reports.scores.best_heads import BestHead


def heat_map_data(scores: pd.DataFrame, probe: str, best: tuple[BestHead, ...]) -> dict[str, Any]:
    """Return layers, heads and one map for every label and variant of `probe`, on the report split.

    Fractions are whole tenths of a percent, None where missing, rounded exactly as in the tables; a map's lists run
    over layer x head, row by row. `first` is the index of the map
    that a page shows first, the one with the largest margin; None where nothing was reported.
    """
    rows = scores[(scores["probe"] == probe) & (scores["split"] == "report")]
    layers, heads = (int(rows[column].max()) + 1 if len(rows) else 0 for column in ("layer", "head"))
    groups = {(str(pair[0]), str(pair[1])): group for pair, group in rows.groupby(["label", "variant"], sort=False)}
    pairs = sorted(groups, key=lambda pair: (pair[0] != "all", pair[0].casefold(), pair[1]))
    top = [pairs.index((row.label, row.variant)) for row in best if (row.label, row.variant) in groups]
    return {
        "layers": layers,
        "heads": heads,
        "first": top[0] if top else None,
        "maps": [_map(groups[pair], pair, layers, heads) for pair in pairs],
    }


def _map(rows: pd.DataFrame, pair: tuple[str, str], layers: int, heads: int) -> dict[str, Any]:
    """Return one label and variant: what all heads share, and a list a number that differs between heads."""
    cell = rows["layer"] * heads + rows["head"]
    grid = rows.set_axis(cell.to_numpy(), axis=0).reindex(range(layers * heads))
    first, selected = rows.iloc[0], rows.loc[rows["selected"], ["layer", "head"]].to_numpy()
    return {
        "label": pair[0],
        "variant": pair[1],
        "baseline": first["baseline"],
        "baseline_accuracy": tenths(float(first["baseline_accuracy"])),
        "lexical_accuracy": tenths(float(first["lexical_accuracy"])),
        "selected": int(selected[0][0] * heads + selected[0][1]) if len(selected) else None,
        "n": _shared([int(n) for n in grid["n"].fillna(0)]),
        "clusters": _shared([int(n) for n in grid["clusters"].fillna(0)]),
        **{verdict: [int(i) for i in grid.index[grid[verdict].eq(True)]] for verdict in _VERDICTS},
        **{column: [tenths(value) for value in grid[column].tolist()] for column in _COLUMNS},
    }


_COLUMNS = ("accuracy", "ci_low", "ci_high", "mass", "share")
_VERDICTS = ("specialised", "beyond_lexical")


def _shared(values: list[int]) -> int | list[int]:
    """Return one number where all are equal, as they nearly always are."""
    return values[0] if len(set(values)) == 1 else values
