"""Which layer solves what: classifiers on all that the heads of one layer give, and of all layers up to one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float, Float32

from mha.models.model import Model
from mha.parallel import in_processes
from probes.evidence.statistics import Bootstrap
from probes.scoring.tally import Numbers
from probes.trained.head_vectors import HeadVectors
from probes.trained.probing import Given, Posed, Probing, judge
from probes.trained.selectivity import accuracy_beside_control, by_cluster
from reports.tables.classifiers import COMPONENTS

Hits = Float[np.ndarray, "2 example layer"]
"Whether each example is told right in the task and in its control task."

Reduced = Float32[np.ndarray, "_word _component"]


def expected_layer(accuracy: Float[np.ndarray, "*resample layers"]) -> Float[np.ndarray, "*resample"]:
    """Return the layer at which a task is solved, on average, from accuracies with layers 0, 0-1, 0-2 and so on.

    Sum of layer x gain over the sum of gains (Tenney et al. 2019, section 3.2, equation 4); layer 0 is the embedding.
    NaN where all layers together gain nothing: the mean of gains that cancel may lie outside the layers.
    """
    gains = np.diff(accuracy, axis=-1)
    total = gains.sum(-1)
    weighted: Numbers = (gains * np.arange(1, accuracy.shape[-1])).sum(-1)
    expected: Numbers = np.divide(weighted, total, out=np.full(total.shape, np.nan), where=total > 1e-12)
    return expected


def layer_table(
    probing: Probing, model: Model, *, workers: int, replicates: int, seed: int, step: Callable[[], None]
) -> pd.DataFrame:
    """Return a row a task and layer, in the columns of layers.parquet without those of the run.

    Layer 0 is the embedding of a word's pieces, layer l the outputs of all heads of the l-th layer, each reduced to
    COMPONENTS. `accuracy` is that of a classifier on the layer alone, `cumulative` that of one on layers 0 to l; both
    have their selectivity beside them. The expected layer is NaN where the gain of all layers together is not
    significantly above 0, for then it can be anything. `step` is called after each task.
    """
    if not probing.posed:
        return pd.DataFrame()
    layers = reduced_layers(probing.read.select, probing.read.report, model)
    frames = []
    for one in probing.posed:
        sides = (one.select, one.report)
        calls = ((*given, sides, len(one.labels), None) for given in _kinds(layers, probing, one))
        hits = np.stack([judged.hits for judged in in_processes(judge, calls, workers)], 2)
        frames.append(_rows(one, hits[..., ::2], hits[..., 1::2], replicates, seed))
        step()
    return pd.concat(frames, ignore_index=True)


def reduced_layers(select: HeadVectors, report: HeadVectors, model: Model) -> list[tuple[Reduced, Reduced]]:
    """Return the words of both splits as each layer shows them, from 0 on, reduced by what is learned on `select`."""
    from sklearn.decomposition import PCA

    layers = [(select.embeddings, report.embeddings)]
    for layer in range(model.layers):
        heads = slice(layer * model.heads, (layer + 1) * model.heads)
        first, second = (part.outputs[:, heads].reshape(len(part.outputs), -1) for part in (select, report))
        layers.append((first, second))
    reduced = []
    for first, second in layers:
        components = PCA(min(COMPONENTS, *first.shape), svd_solver="covariance_eigh").fit(first)
        reduced.append((components.transform(first), components.transform(second)))
    return reduced


def _kinds(layers: Sequence[tuple[Reduced, Reduced]], probing: Probing, one: Posed) -> Iterator[tuple[Given, Given]]:
    """Yield each layer alone, and after it all layers up to it."""
    rows = (probing.read.select.rows(one.select.cells), probing.read.report.rows(one.report.cells))
    for layer in range(len(layers)):
        yield layers[layer][0][rows[0]], layers[layer][1][rows[1]]
        first, second = (np.concatenate(some, 1) for some in zip(*layers[: layer + 1], strict=True))
        yield first[rows[0]], second[rows[1]]


def _rows(one: Posed, alone: Hits, cumulative: Hits, replicates: int, seed: int) -> pd.DataFrame:
    """Return the rows of one task from the hits of each layer alone and of all layers up to it."""
    blocks = one.report.clusters
    clusters, count = np.unique(blocks, return_counts=True)
    bootstrap = Bootstrap.draw(tuple(clusters.tolist()), replicates, seed)
    measured = accuracy_beside_control(blocks, alone, bootstrap)
    task, control = cumulative.mean(1)
    resamples = bootstrap.of(tuple(clusters.tolist()), count.astype(np.float64))
    means = resamples.means(by_cluster(blocks, cumulative[0]))
    gained = resamples.interval((means[:, -1] - means[:, 0])[:, None])[0, 0] > 0
    centre = expected_layer(means)
    known = gained and not np.isnan(centre).any()
    sure = resamples.interval(centre[:, None]) if known else np.full((2, 1), np.nan)
    rows = {"task": one.task.name, "layer": np.arange(len(task)), "cumulative": task}
    rows |= {"cumulative_selectivity": task - control, "gain": np.diff(task, prepend=np.nan)}
    rows |= {"expected_layer": float(expected_layer(task)) if gained else np.nan}
    rows |= {"expected_low": float(sure[0, 0]), "expected_high": float(sure[1, 0])}
    return pd.DataFrame(rows | measured)
