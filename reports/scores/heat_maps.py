"""The numbers behind the head-by-layer heat maps, compact enough to be embedded in a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from reports.formats import percent, tenths
from reports.scores.best_heads import BestHead, leaders
from reports.scores.plain_names import baseline_name, role
from reports.tables.grades import has_stable_grade


def heat_map_data(scores: pd.DataFrame, probe: str, best: Sequence[BestHead]) -> dict[str, Any]:
    """Return layers, heads and one map for every label and direction of `probe`, on the report split.

    Fractions are whole tenths of a percent, None where missing, rounded exactly as in the tables; a map's lists run
    over layer x head, row by row. `first` is the index of the map that a page shows first, that of the first
    significant finding, or else of the largest margin; None where nothing was reported.
    """
    rows = scores.loc[(scores["probe"] == probe) & (scores["split"] == "report"), [*_READ]]
    layers, heads = (int(rows[column].max()) + 1 if len(rows) else 0 for column in ("layer", "head"))
    groups = {(str(pair[0]), str(pair[1])): group for pair, group in rows.groupby(["label", "variant"], sort=False)}
    pairs = sorted(groups, key=lambda pair: (pair[0] != "all", pair[0].casefold(), pair[1]))
    shown = [*(row for row in leaders(best) if row.grade), *best]
    top = [pairs.index((row.label, row.variant)) for row in shown if (row.label, row.variant) in groups]
    return {
        "layers": layers,
        "heads": heads,
        "first": top[0] if top else None,
        "maps": [_map(groups[pair], probe, pair, layers, heads) for pair in pairs],
    }


def _map(rows: pd.DataFrame, probe: str, pair: tuple[str, str], layers: int, heads: int) -> dict[str, Any]:
    """Return one label and direction: what all heads share, and a list a number that differs between heads."""
    cell, size = (rows["layer"] * heads + rows["head"]).to_numpy(), layers * heads
    first, selected = rows.iloc[0], cell[rows["selected"].to_numpy()]
    return {
        "title": role(probe, *pair),
        "about": _about(first),
        "selected": int(selected[0]) if len(selected) else None,
        "n": int(rows["n"].max()),
        "significant": cell[has_stable_grade(rows).to_numpy()].tolist(),
        "result": "specialised" if rows["specialised"].any() else "significant",
        **{column: [*map(tenths, _laid(rows[column], cell, size))] for column in _NUMBERS},
    }


def _about(row: pd.Series) -> str:
    """Return what the heads of a map are compared with."""
    known = {
        baseline_name(row["baseline"]): row["baseline_accuracy"],
        "a table of words and distances": row["lexical_accuracy"],
        f"the rule of grammar “{row['rule']}”": row["rule_accuracy"],
    }
    return ", ".join(f"{name} {percent(one)} %" for name, one in known.items() if one == one)


def _laid(values: pd.Series, cell: npt.NDArray[np.int64], size: int) -> list[float]:
    """Return the values, each in its cell; NaN in the others."""
    laid = np.full(size, np.nan)
    laid[cell] = values
    return [*laid.tolist()]


_NUMBERS = ("accuracy", "ci_low", "ci_high")
_READ = (
    *("label", "variant", "layer", "head", "selected", "baseline", "baseline_accuracy", "lexical_accuracy"),
    *("rule", "rule_accuracy", "n", "grade", "holds", "specialised", *_NUMBERS),
)
