"""Attention flow: how much could come from a piece of the input to a piece of a layer (Abnar and Zuidema 2020)."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Float64
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from mha.batches import Batch
from mha.hooks import record
from mha.models.maps import half_residual, merge
from mha.models.model import Model

UNIT = 1 << 29
"A capacity of 1 in the whole numbers that the algorithm takes; the residual of an edge and its reverse fits 32 bits."


def attention_flow(capacity: Float[np.ndarray, "layer piece piece"]) -> Float64[np.ndarray, "layer piece piece"]:
    """Return the maximum flow from each piece behind each layer to each piece of the input, alone.

    `capacity` [layer, query, key] is what an edge from a piece behind a layer to one before it can carry, in [0, 1],
    with rows that sum to at most 1, such as `mha.models.maps.half_residual`. Flows lie in [0, 1]; those of a row are
    not shares, for each is what could flow if nothing else did, and they sum to 1 or more where capacities do.
    Capacities are rounded to 1 / UNIT, so a flow is off by no more than half of that for each edge of its narrowest
    cut. Abnar and Zuidema 2020, section 3.
    """
    layers, pieces = capacity.shape[:2]
    flow = np.empty(capacity.shape)
    for layer in range(layers):
        network = _network(capacity[: layer + 1])
        for query in range(pieces):
            source = (layer + 1) * pieces + query
            flow[layer, query] = [maximum_flow(network, source, sink).flow_value for sink in range(pieces)]
    return flow / UNIT


def _network(capacity: Float[np.ndarray, "layer piece piece"]) -> csr_array:
    """Return the edges of whole capacity; node level * pieces + piece, the input is level 0."""
    layers, pieces = capacity.shape[:2]
    layer, query, key = np.nonzero(capacity)
    whole = np.rint(capacity[layer, query, key] * UNIT).astype(np.int32)
    nodes = (layers + 1) * pieces
    return csr_array((whole, ((layer + 1) * pieces + query, layer * pieces + key)), shape=(nodes, nodes))


def flow_maps(model: Model, batch: Batch) -> dict[str, Float[np.ndarray, "layer query key"]]:
    """Return "weights", "rollout" and "flow" of one text, the heads of each layer averaged.

    Word-level as in `mha.models.maps.merge`: the flows to the pieces of a word are added, and so may pass 1. Raises
    ValueError for a batch of several texts.
    """
    if len(batch.ids) != 1:
        raise ValueError(f"attention flow is for one text at a time, not a batch of {len(batch.ids)}")
    with torch.inference_mode(), record(model.module) as seen:
        model.run(batch.ids, batch.mask)
    patterns = [pattern.cpu().double() for pattern in seen["pattern"]]
    mixed = torch.cat([half_residual(pattern) for pattern in patterns])
    rolled = [mixed[0]]
    for one in mixed[1:]:
        rolled.append(one @ rolled[-1])
    found = {
        "weights": torch.cat([pattern.mean(1) for pattern in patterns]),
        "rollout": torch.stack(rolled),
        "flow": torch.from_numpy(attention_flow(mixed.numpy())),
    }
    return {name: merge(maps.float()[None], batch)[0].numpy() for name, maps in found.items()}
