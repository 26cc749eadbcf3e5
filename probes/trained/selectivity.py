"""How far a classifier is above the same classifier on a control task, with intervals over clusters."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from probes.evidence.statistics import Bootstrap


def accuracy_beside_control(
    blocks: Int[np.ndarray, " example"],
    hits: Float[np.ndarray, "2 example head"],
    bootstrap: Bootstrap,
    per: int = 1,
) -> dict[str, object]:
    """Return the columns that say how often classifiers are right, how often on the control task, and the difference.

    `blocks` is the cluster of every example, `hits` how often, up to `per` times, it is right in the task and in the
    control task. The difference is selectivity (Hewitt and Liang 2019, section 2), in [-1, 1], higher is better; its
    interval is paired, for both tasks have the same examples.
    """
    clusters, count = np.unique(blocks, return_counts=True)
    n = per * count.astype(np.float64)
    task, other = (by_cluster(blocks, one) for one in hits)
    accuracy, beaten = task.sum(0) / n.sum(), other.sum(0) / n.sum()
    resamples = bootstrap.of(tuple(clusters.tolist()), n)
    means, others = resamples.means(task), resamples.means(other)
    low, high = resamples.interval(means)
    columns: dict[str, object] = {"n": int(n.sum()), "clusters": len(clusters), "accuracy": accuracy}
    columns |= {"ci_low": low, "ci_high": high, "baseline_accuracy": beaten, "margin": accuracy - beaten}
    low, high = resamples.interval(means - others)
    return columns | {"margin_low": low, "margin_high": high}


def by_cluster(
    blocks: Int[np.ndarray, " example"], hits: Float[np.ndarray, "example head"]
) -> Float[np.ndarray, "cluster head"]:
    """Return the sums of hits over the examples of each cluster, clusters ascending."""
    clusters, place = np.unique(blocks, return_inverse=True)
    summed = np.zeros((len(clusters), hits.shape[1]), np.float64)
    np.add.at(summed, place, hits)
    return summed
