"""The numbers behind the head-by-layer heat maps, compact enough to be embedded in a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from reports.formats import tenths
from reports.scores.best_heads import BestHead
from reports.tables.grades import grade_names


def heat_map_data(scores: pd.DataFrame, probe: str, best: Sequence[BestHead], *, controlled: bool) -> dict[str, Any]:
    """Return layers, heads and one map for every label and variant of `probe`, on the report split.

    Fractions are whole tenths of a percent, None where missing, rounded exactly as in the tables; a map's lists run
    over layer x head, row by row. `first` is the index of the map
    that a page shows first, the one with the largest margin; None where nothing was reported. `controlled` as in
    `grade_names`.
    """
    rows = scores.loc[(scores["probe"] == probe) & (scores["split"] == "report"), [*_READ]]
    layers, heads = (int(rows[column].max()) + 1 if len(rows) else 0 for column in ("layer", "head"))
    groups = {(str(pair[0]), str(pair[1])): group for pair, group in rows.groupby(["label", "variant"], sort=False)}
    pairs = sorted(groups, key=lambda pair: (pair[0] != "all", pair[0].casefold(), pair[1]))
    top = [pairs.index((row.label, row.variant)) for row in best if (row.label, row.variant) in groups]
    return {
        "layers": layers,
        "heads": heads,
        "first": top[0] if top else None,
        "grades": grade_names(probe, controlled=controlled),
        "maps": [_map(groups[pair], pair, layers, heads) for pair in pairs],
    }


def _map(rows: pd.DataFrame, pair: tuple[str, str], layers: int, heads: int) -> dict[str, Any]:
    """Return one label and variant: what all heads share, and a list a number that differs between heads."""
    cell, size = (rows["layer"] * heads + rows["head"]).to_numpy(), layers * heads
    first, selected = rows.iloc[0], rows.loc[rows["selected"], ["layer", "head"]].to_numpy()
    return {
        "label": pair[0],
        "variant": pair[1],
        "baseline": first["baseline"],
        "baseline_accuracy": tenths(float(first["baseline_accuracy"])),
        "lexical_accuracy": tenths(float(first["lexical_accuracy"])),
        "rule": first["rule"],
        "rule_accuracy": tenths(float(first["rule_accuracy"])),
        "selected": int(selected[0][0] * heads + selected[0][1]) if len(selected) else None,
        "n": _shared(_laid(rows["n"], cell, np.zeros(size, int))),
        "clusters": _shared(_laid(rows["clusters"], cell, np.zeros(size, int))),
        "grade": _laid(rows["grade"], cell, np.zeros(size, int)),
        **{column: [*map(tenths, _laid(rows[column], cell, np.full(size, np.nan)))] for column in _COLUMNS},
    }


def _laid(values: pd.Series, cell: npt.NDArray[np.int64], empty: npt.NDArray[Any]) -> list[Any]:
    """Return the values, each in its cell; those of `empty` in the others."""
    empty[cell] = values
    laid: list[Any] = empty.tolist()
    return laid


_COLUMNS = ("accuracy", "ci_low", "ci_high", "mass", "share")
_READ = (
    *("label", "variant", "layer", "head", "selected", "baseline", "baseline_accuracy", "lexical_accuracy"),
    *("rule", "rule_accuracy"),
    *("n", "clusters", "grade", *_COLUMNS),
)


def _shared(values: list[int]) -> int | list[int]:
    """Return one number where all are equal, as they nearly always are."""
    return values[0] if len(set(values)) == 1 else values
