"""One head's computation on one text, step by step: the formula of the textbook with the model's own numbers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass

import torch
from jaxtyping import Float64, Int
from torch import Tensor

from mha.encoder.encoder import Encoder, Layer
from mha.hooks import entering, record
from mha.models.circuits import encoder_of, layers_of
from mha.models.model import Model
from mha.watches import SITES


class WalkError(ValueError):
    """A head that the model does not have."""


@dataclass(frozen=True)
class Walk:
    """Every step of one head on one text, computed anew from the weights, in double precision.

    Only the layer's input is taken from the model's own pass. Vaswani et al. 2017, equation 1 and section 3.2.2.
    """

    embeddings: Mapping[str, Float64[Tensor, "piece size"]]
    "What the first layer's input is made of, in order: the embeddings, their sum, and what LayerNorm makes of it."
    x: Float64[Tensor, "piece model"]
    "The layer's input, as the model's own pass gave it."
    read: Float64[Tensor, "piece model"]
    "What W_Q, W_K and W_V read: x, or in a pre-norm encoder LayerNorm of x."
    query: Float64[Tensor, "piece head_dim"]
    key: Float64[Tensor, "piece head_dim"]
    value: Float64[Tensor, "piece head_dim"]
    products: Float64[Tensor, "piece piece"]
    "q k^T, rows are queries."
    scores: Float64[Tensor, "piece piece"]
    "Products times `scaling`; nothing is masked in a text that stands alone."
    pattern: Float64[Tensor, "piece piece"]
    "Softmax of each row of the scores; rows sum to 1."
    outputs: Float64[Tensor, "head piece head_dim"]
    "Of all heads of the layer: pattern V, side by side in Concat."
    writes: Float64[Tensor, "head piece model"]
    "Of all heads of the layer: output W_O of that head."
    bias: Float64[Tensor, " model"]
    "Of W_O; it belongs to no head."
    mixed: Float64[Tensor, "piece model"]
    "MultiHead(x): the writes of all heads and the bias, added."
    added: Float64[Tensor, "piece model"]
    "x + MultiHead(x), the residual connection."
    normed: Float64[Tensor, "piece model"]
    "LayerNorm of that: what the feed-forward net reads."
    scaling: float
    "1 / sqrt(head_dim), or 1 in a model that does not divide."
    pre: bool
    "Whether LayerNorm stands before each block (and x + MultiHead(x) goes on as it is) and not after it, as in BERT."
    head: int
    "Which of `outputs` and `writes` is this head's, from 0."
    own: Mapping[str, Tensor]
    "What the model's own pass, in single precision, had at the steps that can be seen there."

    def differences(self) -> dict[str, float]:
        """Return the largest difference of each step in `own` to what was computed anew."""
        anew = {
            "embedding": [*self.embeddings.values()][-1],
            "read": self.read,
            "value": self.value,
            "scores": self.scores,
            "pattern": self.pattern,
            "head_output": self.outputs[self.head],
            "head_write": self.writes[self.head],
            "normed": self.normed,
        }
        return {name: float((anew[name] - own).abs().max()) for name, own in self.own.items()}


@torch.no_grad()
def walk(model: Model, ids: Int[Tensor, " piece"], layer: int, head: int) -> Walk:
    """Return every step of a head, by layer and head from 0, on the pieces of one text, special tokens included.

    Raises WalkError for a head that is not there, and CircuitError for a model that is not of the BERT family.
    """
    encoder = encoder_of(model, "a head's computation")
    if not (0 <= layer < model.layers and 0 <= head < model.heads):
        raise WalkError(
            f"{model.name} has no head {layer + 1}-{head + 1}: its layers are 1 to {model.layers}, "
            f"the heads of each 1 to {model.heads}"
        )
    chosen = layers_of(encoder)[layer]
    entered = {"embedding": encoder.layers[0], "x": chosen, "normed": chosen.expand}
    if chosen.pre:
        entered["read"] = chosen.attention.project
    with ExitStack() as stack:
        kept = {name: stack.enter_context(entering(module)) for name, module in entered.items()}
        seen = stack.enter_context(record(encoder, SITES, [layer]))
        model.run(ids[None], None)
    own = {name: found[0].double() for name, found in kept.items()}
    own |= {site: seen[site][0][0, head].double() for site in SITES}
    return _anew(encoder, ids, chosen, head, own)


def _anew(encoder: Encoder, ids: Tensor, layer: Layer, head: int, own: dict[str, Tensor]) -> Walk:
    """Compute every step from the weights and the layer's input, own["x"], which is taken out of `own`."""
    chosen = deepcopy(layer).double().requires_grad_(False)
    attention, x = chosen.attention, own.pop("x")
    read = chosen.attention_norm(x) if chosen.pre else x
    queries, keys, values = (
        torch.einsum("pm,hmd->hpd", read, weight) + attention.bias(which)[:, None]
        for which, weight in enumerate((attention.W_Q, attention.W_K, attention.W_V))
    )
    products = torch.einsum("hqd,hkd->hqk", queries, keys)
    pattern = (products * attention.scaling).softmax(-1)
    writes = torch.einsum("hpd,hdm->hpm", pattern @ values, attention.W_O)
    mixed = writes.sum(0) + attention.output.bias
    return Walk(
        embeddings=_embeddings(encoder, ids),
        x=x,
        read=read,
        query=queries[head],
        key=keys[head],
        value=values[head],
        products=products[head],
        scores=products[head] * attention.scaling,
        pattern=pattern[head],
        outputs=pattern @ values,
        writes=writes,
        bias=attention.output.bias,
        mixed=mixed,
        added=x + mixed,
        normed=(chosen.feed_forward_norm if chosen.pre else chosen.attention_norm)(x + mixed),
        scaling=attention.scaling,
        pre=chosen.pre,
        head=head,
        own=own,
    )


def _embeddings(encoder: Encoder, ids: Tensor) -> dict[str, Tensor]:
    """Return how the first layer's input comes about, step by step."""
    places = encoder.places_of(ids[None])[0] + encoder.config.position_offset
    parts = {"piece": encoder.pieces(ids).double(), "position": encoder.positions(places).double()}
    if encoder.token_types is not None:
        parts["type"] = encoder.token_types(torch.zeros_like(ids)).double()
    parts["sum"] = torch.stack([*parts.values()]).sum(0)
    parts["LayerNorm"] = deepcopy(encoder.embedding_norm).double()(parts["sum"])
    if encoder.embedding_project is not None:
        parts["projected"] = deepcopy(encoder.embedding_project).double()(parts["LayerNorm"])
    return parts
