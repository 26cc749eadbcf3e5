"""Relations between heads: whether those of one layer are alike, which form groups, and how they lie on a plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mha.models.model import Model
from probes.evidence.results import flat_heads
from probes.records import Document, IntArray
from probes.scoring.score import Settings
from probes.scoring.tally import Numbers
from probes.weights.subspaces import SubspaceError, head_weights, output_similarity, subspace_overlap

MAPS, OUTPUTS = "maps", "outputs"
"What is compared of two heads beside W_V and W_O: the distance of their maps, and linear CKA of their outputs."

Compared = Mapping[str, Mapping[str, Numbers]]
"What is compared -> column -> [head, head]."

MOST = 12
"Groups that are tried at the most."

STARTS, ROUNDS = 5, 1000
"Random starts of the scaling, and rounds of each (Clark et al. 2019, section 6)."


@dataclass(frozen=True)
class LayerContrast:
    """A number of every two heads, in pairs of one layer and in pairs of two layers."""

    within: float
    between: float
    pairs_within: int
    pairs_between: int
    p: float
    """Two-sided: how often the difference would be as far out if heads belonged to layers at random, that is, twice
    the smaller of both tails, at most 1; NaN where a kind of pairs has none, or nothing can be permuted."""


def layer_contrast(values: Numbers, layer: IntArray, *, permutations: int, seed: int) -> LayerContrast:
    """Compare `values` [head, head], symmetric, within and between layers; heads that have no number are left out.

    The permutation test of Mantel (1967) for groups: heads are dealt out to layers anew, `permutations` times; what
    was seen counts as one more.
    """
    known = np.flatnonzero(np.isfinite(values).sum(1) > 1)
    values, layer = values[np.ix_(known, known)].copy(), np.unique(layer[known], return_inverse=True)[1]
    np.fill_diagonal(values, 0)
    same = layer[:, None] == layer
    pairs_within = (int(same.sum()) - len(layer)) // 2
    pairs_between = int((~same).sum()) // 2
    total = values.sum() / 2

    def within(of: IntArray) -> float:
        member = np.eye(int(layer.max(initial=0)) + 1)[of]
        return float(np.einsum("hl,hl->", member, values @ member) / 2)

    seen = within(layer) if len(layer) else 0.0
    p = np.nan
    if pairs_within and pairs_between:
        random = np.random.default_rng(seed)
        drawn = np.array([within(random.permutation(layer)) for _ in range(permutations)])
        slack = 1e-12 * max(abs(total), 1)
        tails = [(drawn <= seen + slack).sum(), (drawn >= seen - slack).sum()]
        p = min(1.0, 2 * float(min(tails) + 1) / (permutations + 1))
    means = (
        seen / pairs_within if pairs_within else np.nan,
        (total - seen) / pairs_between if pairs_between else np.nan,
    )
    return LayerContrast(*means, pairs_within, pairs_between, p)


@dataclass(frozen=True)
class Groups:
    """Heads divided by their distances."""

    group: IntArray
    "[head] Numbered from 0 in the order of their first heads."
    silhouette: float
    """Mean over heads of how much nearer a head is to its group than to the next one, in [-1, 1] (Rousseeuw 1987); NaN
    where there is one group."""


def group_heads(distance: Numbers, count: int = 0) -> Groups:
    """Divide heads by the Jensen-Shannon `distance` of their maps [head, head] into as many groups as fit best.

    Ward's linkage of the roots of distances, which are those of points in a Euclidean space (Fuglede and Topsoe 2004),
    as the linkage supposes. The number of groups is `count` or, where that is 0, the one from 2 to MOST with the
    highest mean silhouette of the roots, the smallest of equals. Fewer than three heads, or heads that are all the
    same, are one group.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform
    from sklearn.metrics import silhouette_score

    one = Groups(np.zeros(len(distance), np.int64), np.nan)
    if len(distance) < 3 or not distance.any():
        return one
    roots = np.sqrt(distance)
    tree = linkage(squareform(roots, checks=False), "ward")
    best = one
    for number in [count] if count else range(2, min(MOST, len(distance) - 1) + 1):
        labels = fcluster(tree, number, "maxclust").astype(np.int64)
        found = len(np.unique(labels))
        if 1 < found < len(distance):
            score = float(silhouette_score(roots, labels, metric="precomputed"))
            if not best.silhouette >= score - 1e-12:
                best = Groups(_in_order(labels), score)
    return best


def _in_order(labels: IntArray) -> IntArray:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order: IntArray = np.argsort(np.argsort(first))[inverse]
    return order


@dataclass(frozen=True)
class Plane:
    """Heads on a plane, so that near heads lie near."""

    places: Numbers
    "[head, 2] Centred, turned so that the first axis is the longer one; in nats."
    stress: float
    "Kruskal's stress-1: 0 where the plane shows every distance as it is, 0.2 is poor (Kruskal 1964)."


def lay_out(distance: Numbers, *, seed: int) -> Plane:
    """Lay heads out by metric multidimensional scaling of `distance` [head, head], as Clark et al. 2019, section 6."""
    from sklearn.manifold import MDS

    if len(distance) < 3 or not distance.any():
        return Plane(np.zeros((len(distance), 2)), np.nan)
    options = {"n_init": STARTS, "max_iter": ROUNDS, "init": "random", "normalized_stress": True}
    scaling = MDS(2, metric="precomputed", random_state=seed, n_jobs=1, **options)
    return Plane(_turned(scaling.fit_transform(distance)), float(scaling.stress_))


def _turned(places: Numbers) -> Numbers:
    """Return places around 0 on their principal axes, the first head on the positive side of both."""
    centred = places - places.mean(0)
    turned = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    signed: Numbers = turned * np.where(turned[0] < 0, -1, 1)
    return signed


def compare_heads(
    model: Model, distance: Numbers, texts: Sequence[Document], settings: Settings
) -> tuple[Compared, str]:
    """Return what heads read, write and put out compared, beside the `distance` of their maps; and why there is less.

    Overlap and nearest cosine of W_V and W_O, and the likeness of outputs on `texts`. The reason is "" where all could
    be compared.
    """
    found, why = {MAPS: {"distance": distance}}, ""
    try:
        for what, spans in head_weights(model).items():
            found[what] = dict(zip(("overlap", "nearest"), subspace_overlap(spans), strict=True))
    except SubspaceError as error:
        why = str(error)
    found[OUTPUTS] = {"overlap": output_similarity(model, texts, settings)[0]}
    return found, why


def pair_table(columns: Mapping[str, Numbers], heads: int) -> pd.DataFrame:
    """Return one row for every two heads, the lower one first, of `columns` [head, head]; layers have `heads`."""
    one, other = np.triu_indices(len(next(iter(columns.values()))), 1)
    second = {f"other_{key}": value for key, value in flat_heads(other, heads).items()}
    numbers = {name: values[one, other] for name, values in columns.items()}
    pairs = pd.DataFrame({**flat_heads(one, heads), **second, **numbers})
    return pairs.rename(columns={"other_name": "other"})


def overlap_table(by_weights: Mapping[str, Compared], heads: int) -> pd.DataFrame:
    """Return the pairs of all that is compared but maps; `by_weights` has them by weights."""
    frames = [
        pair_table({"nearest": np.full_like(columns["overlap"], np.nan), **columns}, heads).assign(
            what=what, weights=weights
        )
        for weights, compared in by_weights.items()
        for what, columns in compared.items()
        if what != MAPS
    ]
    return pd.concat(frames, ignore_index=True)


def contrast_table(by_weights: Mapping[str, Compared], heads: int, *, permutations: int, seed: int) -> pd.DataFrame:
    """Return pairs of heads of one layer against pairs of two layers, a row for all that is compared and weights."""
    rows = []
    for weights, compared in by_weights.items():
        for what, columns in compared.items():
            values = columns["distance" if what == MAPS else "overlap"]
            contrast = layer_contrast(values, np.arange(len(values)) // heads, permutations=permutations, seed=seed)
            rows.append({"what": what, "weights": weights, **vars(contrast)})
    return pd.DataFrame(rows)


def place_table(distance: Numbers, places: Numbers, group: IntArray, heads: int) -> pd.DataFrame:
    """Return one row a head: where it lies on the plane, its group, and the head that is nearest to it."""
    named, alone = pd.DataFrame(flat_heads(np.arange(len(distance)), heads)), len(distance) == 1
    others = distance + np.diag(np.full(len(distance), np.inf))
    return named.assign(
        x=places[:, 0],
        y=places[:, 1],
        group=group + 1,
        nearest="" if alone else named["name"].to_numpy()[others.argmin(1)],
        distance=np.nan if alone else others.min(1),
    )
