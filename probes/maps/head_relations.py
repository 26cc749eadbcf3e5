"""Tables of relations between heads: every two of them, layers against each other, and where each lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from mha.models.model import Model
from probes.maps.groups import layer_contrast
from probes.records import Document, IntArray
from probes.scoring.score import Settings
from probes.scoring.tally import Numbers
from probes.weights.subspaces import SubspaceError, head_weights, output_similarity, subspace_overlap

MAPS, OUTPUTS = "maps", "outputs"
"What is compared of two heads beside W_V and W_O: the distance of their maps, and linear CKA of their outputs."

Compared = Mapping[str, Mapping[str, Numbers]]
"What is compared -> column -> [head, head]."


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
    second = {f"other_{key}": value for key, value in _named(other, heads).items()}
    numbers = {name: values[one, other] for name, values in columns.items()}
    pairs = pd.DataFrame({**_named(one, heads), **second, **numbers})
    return pairs.rename(columns={"other_name": "other"})


def overlap_table(found: Mapping[str, Compared], heads: int) -> pd.DataFrame:
    """Return the pairs of all that is compared but maps; `found` is by weights."""
    frames = [
        pair_table({"nearest": np.full_like(columns["overlap"], np.nan), **columns}, heads).assign(
            what=what, weights=weights
        )
        for weights, compared in found.items()
        for what, columns in compared.items()
        if what != MAPS
    ]
    return pd.concat(frames, ignore_index=True)


def contrast_table(found: Mapping[str, Compared], heads: int, *, permutations: int, seed: int) -> pd.DataFrame:
    """Return pairs of heads of one layer against pairs of two layers, a row for all that is compared and weights."""
    rows = []
    for weights, compared in found.items():
        for what, columns in compared.items():
            values = columns["distance" if what == MAPS else "overlap"]
            contrast = layer_contrast(values, np.arange(len(values)) // heads, permutations=permutations, seed=seed)
            rows.append({"what": what, "weights": weights, **vars(contrast)})
    return pd.DataFrame(rows)


def place_table(distance: Numbers, places: Numbers, group: IntArray, heads: int) -> pd.DataFrame:
    """Return one row a head: where it lies on the plane, its group, and the head that is nearest to it."""
    named, alone = pd.DataFrame(_named(np.arange(len(distance)), heads)), len(distance) == 1
    others = distance + np.diag(np.full(len(distance), np.inf))
    return named.assign(
        x=places[:, 0],
        y=places[:, 1],
        group=group + 1,
        nearest="" if alone else named["name"].to_numpy()[others.argmin(1)],
        distance=np.nan if alone else others.min(1),
    )


def _named(flat: IntArray, heads: int) -> dict[str, IntArray | list[str]]:
    """Return layer, head and name of heads by their flat index."""
    layer, head = np.divmod(flat, heads)
    names = [f"{one + 1}-{other + 1}" for one, other in zip(layer.tolist(), head.tolist(), strict=True)]
    return {"layer": layer, "head": head, "name": names}
