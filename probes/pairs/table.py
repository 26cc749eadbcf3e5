"""Accuracy on minimal pairs as a table: by corpus, phenomenon, paradigm, condition and attractors, with intervals."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
import pandas as pd

from probes.evidence.statistics import Resamples
from probes.minimal_pairs import LeftOut
from probes.pairs.scores import Decision, Decisions
from probes.scoring.tally import Numbers

Outcome = TypeVar("Outcome", Decision, LeftOut)

LEVELS: Mapping[str, tuple[str, ...]] = {
    "corpus": (),
    "field": ("field",),
    "phenomenon": ("phenomenon",),
    "paradigm": ("field", "phenomenon", "paradigm"),
    "condition": ("field", "phenomenon", "paradigm", "condition"),
    "attractors": ("attractors",),
    "number": ("number",),
    "condition and attractors": ("field", "phenomenon", "paradigm", "condition", "attractors"),
}
"Level of a row -> what its pairs have in common. Pairs without the last of these are in no row of the level."

KINDS = ("field", "phenomenon", "paradigm", "condition", "attractors", "number")

NOTHING = {kind: pd.NA if kind == "attractors" else "" for kind in KINDS}
"What a row holds of what its pairs do not have in common."

COLUMNS = (
    *("corpus", "level", *KINDS, "method", "n", "clusters"),
    *("accuracy", "ci_low", "ci_high", "near_ties", "left_out"),
)


def pair_table(decided: Mapping[str, Decisions], *, replicates: int, seed: int) -> pd.DataFrame:
    """Return the accuracy of a model on each corpus of pairs, a row a group of pairs of each of LEVELS.

    Accuracy is the fraction of pairs whose right sentence is preferred, ties counting half; chance is 0.5. `method`
    names what decided, both where both did ("masked, pll"). Intervals are those of `cluster_interval`. What was not
    decided is counted in `left_out`; accuracy is NaN where nothing was.
    """
    rows = []
    for corpus, found in decided.items():
        for level, keys in LEVELS.items():
            made, lost = _grouped(found.made, keys), _grouped(found.left_out, keys)
            for key in sorted(made.keys() | lost.keys(), key=_order):
                about = {"corpus": corpus, "level": level, **NOTHING, **dict(zip(keys, key, strict=True))}
                numbers = _numbers(made.get(key, []), replicates, seed)
                rows.append(about | numbers | {"left_out": len(lost.get(key, []))})
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"attractors": "Int64"})


def _order(key: tuple[str | int, ...]) -> list[list[str | int]]:
    """Sort names by their letters and, where these are equal, by their numbers: agr.2 before agr.10."""
    parts = [re.split(r"(\d+)", str(name)) for name in key]
    return [[int(part) if place % 2 else part for place, part in enumerate(name)] for name in parts]


def _grouped(items: Sequence[Outcome], keys: Sequence[str]) -> dict[tuple[str | int, ...], list[Outcome]]:
    groups: dict[tuple[str | int, ...], list[Outcome]] = {}
    for item in items:
        key = tuple(getattr(item.kind, name) for name in keys)
        if not keys or key[-1] not in ("", None):
            groups.setdefault(key, []).append(item)
    return groups


def _numbers(made: Sequence[Decision], replicates: int, seed: int) -> dict[str, object]:
    clusters: dict[str, list[float]] = defaultdict(list)
    for one in made:
        clusters[one.source].append(one.credit)
    n, hits = (np.array([count(credits) for credits in clusters.values()], np.float64) for count in (len, sum))
    low, high = cluster_interval(n, hits, replicates, seed)
    return {
        "method": ", ".join(sorted({one.method for one in made})),
        "n": len(made),
        "clusters": len(clusters),
        "accuracy": hits.sum() / n.sum() if len(made) else np.nan,
        "ci_low": low,
        "ci_high": high,
        "near_ties": sum(one.near for one in made),
    }


def cluster_interval(n: Numbers, hits: Numbers, replicates: int, seed: int, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of sum(hits) / sum(n) over [cluster] sums, by resampling clusters; NaN below two clusters.

    The expanded percentile interval of `Resamples`. Clusters with equal sums are drawn together, by how many there
    are, which is the same bootstrap and needs no [replicate, cluster] numbers. Where all clusters are wholly right, or
    all wrong, resamples know no doubt: the interval then has the exact binomial bound for as many clusters (Clopper
    and Pearson 1934).
    """
    clusters = len(n)
    if clusters < 2:
        return np.nan, np.nan
    bound = ((1 - level) / 2) ** (1 / clusters)
    if np.array_equal(hits, n):
        return bound, 1.0
    if not hits.any():
        return 0.0, 1 - bound
    alike, count = np.unique(np.stack([n, hits], axis=1), axis=0, return_counts=True)
    weights = np.random.default_rng(seed).multinomial(clusters, count / clusters, size=replicates).astype(np.float64)
    resamples = Resamples(weights, weights @ alike[:, 0], clusters, level)
    low, high = resamples.interval(resamples.means(alike[:, 1:]))[:, 0]
    return float(low), float(high)
