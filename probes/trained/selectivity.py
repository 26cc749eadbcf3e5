"""Control tasks, and how far a classifier is above itself on one, or above a baseline, with intervals over clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from probes.evidence.leads import Documents, holm
from probes.evidence.statistics import Bootstrap
from probes.scoring.arcs import pick
from probes.scoring.hashed_random import draws
from probes.trained.tasks import LabelledExample


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


def lead_columns(
    baseline: str,
    blocks: Int[np.ndarray, " example"],
    heads: Float[np.ndarray, "example head"],
    baseline_hits: Float[np.ndarray, "example _head"],
) -> dict[str, object]:
    """Return the columns that say how far heads lead a baseline on the same examples of the report split.

    `heads` and `baseline_hits` are hits; there is one baseline for all heads, or one for each. The lead is a difference
    of accuracies, in [-1, 1], with its 95 % interval. p is one-sided, of "the head leads by nothing", and corrected for
    the number of heads (Holm 1979); both go by documents (`probes.evidence.leads.Documents`). NaN for fewer than two.
    """
    _, count = np.unique(blocks, return_counts=True)
    documents, totals = Documents.of(count.astype(np.float64)), by_cluster(blocks, heads - baseline_hits)
    low, high = documents.lead_interval(totals)
    p = holm(documents.p_above(totals, 0.0))
    lead = totals.sum(0) / count.sum()
    return {f"{baseline}_lead": lead, f"{baseline}_lead_low": low, f"{baseline}_lead_high": high, f"{baseline}_p": p}


def by_cluster(
    blocks: Int[np.ndarray, " example"], hits: Float[np.ndarray, "example head"]
) -> Float[np.ndarray, "cluster head"]:
    """Return the sums of hits over the examples of each cluster, clusters ascending."""
    clusters, place = np.unique(blocks, return_inverse=True)
    summed = np.zeros((len(clusters), hits.shape[1]), np.float64)
    np.add.at(summed, place, hits)
    return summed


def control_labels(select: Sequence[LabelledExample], examples: Sequence[LabelledExample], seed: int) -> list[str]:
    """Return the label of each of `examples` in the control task of the task that `select` is about.

    Every word form has one label, drawn at random from the labels of `select` as often as they occur there, so that
    only memory can solve it (Hewitt and Liang 2019, section 2). In a task about pairs it is the first word's form that
    decides, as in their control for dependency edges.
    """
    labels = sorted(example.label for example in select)
    drawn = {form: pick(labels, draws(seed, "control label", form)[0]) for form in {one.form for one in examples}}
    return [drawn[example.form] for example in examples]


def balanced_control(select: Sequence[LabelledExample], examples: Sequence[LabelledExample], seed: int) -> list[str]:
    """Return control labels by the form of the first word, as frequent among `examples` as the task's own labels.

    Forms that `select` has keep their label; frequent forms draw first, among labels that still lack as many examples.
    So on `select` no label is off by more than its forms leave it, and memory alone solves the task as before.
    """
    labels, drawn = sorted({one.label for one in select}), dict[str, str]()
    for part in (select, examples):
        count, lacking = Counter(one.form for one in part), Counter(one.label for one in part)
        for form in count.keys() & drawn.keys():
            lacking[drawn[form]] -= count[form]
        for form in sorted(count.keys() - drawn.keys(), key=lambda form: (-count[form], draws(seed, "order", form))):
            fit = [label for label in labels if lacking[label] >= count[form]]
            fit = fit or [max(labels, key=lambda label: lacking[label])]
            urn = [label for label in fit for _ in range(max(lacking[label], 1))]
            drawn[form] = pick(urn, draws(seed, "control label", form)[0])
            lacking[drawn[form]] -= count[form]
    return [drawn[one.form] for one in examples]
