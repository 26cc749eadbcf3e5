"""The shapes of heads as a table: means over texts, intervals, and tests of the sieves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd

from probes.evidence.question import Effort
from probes.evidence.results import SPLITS, named_heads, stacked
from probes.evidence.statistics import Bootstrap, SignFlips, adjust
from probes.maps.shapes import MEASURES, Shapes
from probes.scoring.tally import Numbers

COLUMNS: Final = (
    *("kind", "measure", "layer", "head", "name", "split", "n", "clusters", "value", "ci_low", "ci_high", "even"),
    *("near_ties", "threshold", "p", "p_label", "p_adjusted"),
)
"The columns of a run folder that are told here, in their order."


def shape_table(select: Shapes, report: Shapes, effort: Effort, threshold: float) -> pd.DataFrame:
    """Return one row a measure, head and split, in COLUMNS.

    A value is the mean over the texts that have what is measured, its interval 95 % of resamples of clusters. On the
    report split sieves are tested: p is that of a one-sided sign-flip test by cluster of a mean above `threshold`
    (Pande et al. 2021 take a t test over sentences), p_label is corrected for all heads (step-down maximum, Westfall
    and Young 1993); what depends on all sieves of a run is left to `add_adjusted`.
    """
    blocks: list[Mapping[str, object]] = []
    for number, (split, shapes) in enumerate(zip(SPLITS, (select, report), strict=True)):
        clusters = np.flatnonzero(shapes.n.any(1)).tolist()
        bootstrap = effort.resamples(clusters, number)
        flips = SignFlips.draw(clusters, effort.flips if split == "report" else 0, effort.seed + number)
        for place, (kind, measure) in enumerate(MEASURES):
            limit = threshold if kind == "sieve" and split == "report" else np.nan
            rows = named_heads((shapes.layers, shapes.heads)) | _numbers(shapes, place, bootstrap, flips, limit)
            near_ties = shapes.near_ties if kind == "class" else 0
            told = {"kind": kind, "measure": measure, "split": split, "near_ties": near_ties}
            blocks.append(rows | told | {"p_adjusted": np.nan})
    return stacked(blocks, shapes.layers * shapes.heads, COLUMNS)


def _numbers(shapes: Shapes, place: int, bootstrap: Bootstrap, flips: SignFlips, threshold: float) -> dict[str, object]:
    """Return the measured columns of one measure; NaN and n = 0 where no text has it."""
    clusters = np.flatnonzero(shapes.n[:, place])
    n, sums = shapes.n[clusters, place].astype(np.float64), shapes.sums[clusters, place]
    nothing = np.full(sums.shape[1], np.nan)
    if not len(clusters):
        missing = dict.fromkeys(("value", "ci_low", "ci_high", "even", "threshold", "p", "p_label"), nothing)
        return missing | {"n": 0, "clusters": 0}
    resamples = bootstrap.of(clusters.tolist(), n)
    low, high = resamples.interval(resamples.means(sums))
    tested = not np.isnan(threshold)
    baseline: Numbers = threshold * n[:, None] if tested else sums[:, :0]
    found = flips.test(clusters.tolist(), sums, baseline)
    return {
        "n": int(n.sum()),
        "clusters": len(clusters),
        "value": sums.sum(0) / n.sum(),
        "ci_low": low,
        "ci_high": high,
        "even": shapes.even[clusters, place].sum() / n.sum(),
        "threshold": threshold,
        "p": found.p,
        "p_label": found.p_label,
    }


def add_adjusted(shapes: pd.DataFrame) -> pd.DataFrame:
    """Return the shapes of a whole run with `p_adjusted`: p_label corrected once more for all sieves and scopes."""
    shapes = shapes.copy()
    tested = shapes["p_label"].notna()
    groups = shapes[tested].groupby(["scope", "measure", "split"], sort=True).indices
    rows = [np.flatnonzero(tested)[places] for places in groups.values()]
    p_label, p_adjusted = shapes["p_label"].to_numpy(), np.full(len(shapes), np.nan)
    for place, adjusted in zip(rows, adjust([p_label[place] for place in rows], dependent=False), strict=True):
        p_adjusted[place] = adjusted
    shapes["p_adjusted"] = p_adjusted
    return shapes
