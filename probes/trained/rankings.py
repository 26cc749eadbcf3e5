"""Do metrics rank heads alike? Kendall's tau, the best head and the top heads of every pair of metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from mha.models.model import Model
from probes.corpora.corpus import Texts
from probes.evidence.metrics import METRICS, score_metrics
from probes.registry import Probe
from probes.scoring.score import Settings
from probes.scoring.tally import Numbers
from probes.trained.classifier import NAME as CLASSIFIER
from reports.tables.scores import AGREEMENT

FEWEST = 50
"A question with fewer items than this (or a classifier with fewer pairs) is not asked how metrics rank heads on it."

TOP = 5
"Number of heads whose overlap is told, or all of a model with fewer."


def compare_metrics(
    model: Model,
    texts: Texts,
    probes: Sequence[Probe],
    settings: Settings,
    classifiers: pd.DataFrame | None = None,
    progress: Callable[[int], None] = lambda texts: None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the metrics of every head (`score_metrics`) and how far they agree (`agreement`) on one split."""
    metrics = score_metrics(model, texts, probes, settings, progress)
    return metrics, agreement(metrics, classifiers)


def agreement(metrics: pd.DataFrame, classifiers: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return how far every two metrics agree on the heads, one row a question and pair, as `AGREEMENT` has them.

    `metrics` is what `score_metrics` returns; `classifiers` are rows of `fit_classifiers`, of which those of the split
    "report" with the same probe, label and variant are a further metric, "classifier". Questions with n < FEWEST are
    left out, and so are metrics that are NaN.

    tau: Kendall's tau-b over heads, in [-1, 1], NaN where a metric is the same for all heads. same_best: whether a
    head is best by both, alone or with others. overlap: fraction of the TOP heads by one that are also among those by
    the other, the first of equals taken.
    """
    trained = _trained(classifiers)
    rows: list[tuple[object, ...]] = []
    for names, of_heads in metrics[metrics["n"] >= FEWEST].groupby(["probe", "label", "variant"]):
        question = tuple(map(str, names))
        numbers = {metric: of_heads[metric].to_numpy(np.float64) for metric in METRICS}
        if question in trained:
            numbers[CLASSIFIER] = trained[question].reindex(of_heads["name"]).to_numpy(np.float64)
        rows.extend((*question, int(of_heads["n"].iloc[0]), *pair) for pair in _pairs(numbers))
    return pd.DataFrame(rows, columns=[*AGREEMENT.names])


def _trained(classifiers: pd.DataFrame | None) -> dict[tuple[str, ...], pd.Series]:
    """Return the accuracies by head name of the classifiers, by probe, label and variant."""
    if classifiers is None or classifiers.empty:
        return {}
    asked = classifiers[(classifiers["split"] == "report") & (classifiers["n"] >= FEWEST)]
    found: dict[tuple[str, ...], pd.Series] = {}
    for (label, variant), rows in asked.groupby(["label", "variant"]):
        probe, _, way = str(variant).partition("/")
        found[probe, str(label), way] = rows.set_index("name")["accuracy"]
    return found


def _pairs(numbers: Mapping[str, Numbers]) -> list[tuple[str, str, float, bool, float]]:
    measured = {metric: values for metric, values in numbers.items() if not np.isnan(values).any()}
    pairs = ((one, other, measured[one], measured[other]) for one, other in combinations(measured, 2))
    return [(one, other, float(kendalltau(*both).statistic), *_best(*both)) for one, other, *both in pairs]


def _best(one: Numbers, other: Numbers) -> tuple[bool, float]:
    """Return whether both have a best head in common, and the overlap of their top heads."""
    top = min(TOP, len(one))
    first, second = (set(np.argsort(-values, kind="stable")[:top].tolist()) for values in (one, other))
    return bool(((one == one.max()) & (other == other.max())).any()), len(first & second) / top
