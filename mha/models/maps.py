"""Word-level maps: what every head attends to, word by word, one layer at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from mha.batches import Batch
from mha.hooks import HookError, watch
from mha.models.model import Model
from mha.watches import Seen

SeeMaps = Callable[[int, Tensor], None]
"Called with the index of a layer and what it shows, word-level maps [batch, head, query, key] for example."

SeeBoth = Callable[[int, Tensor, Tensor], None]
"""Called with the index of a layer, its word-level maps, which are of the kind that was asked for, and its attention
[batch, head, piece, piece], which is attention whatever they are."""

SeeLengths = Callable[[int, Tensor, Tensor], None]
"""Called with the index of a layer, its attention [batch, head, piece, piece] and the lengths [batch, head, piece] of
the transformed values."""


class _Weights:
    """Attention as it is."""

    sites = ("pattern",)

    def read(self, seen: Seen) -> Tensor | None:
        return seen.tensor


class _Norms:
    """Attention times the length of the transformed value; the values of a layer are seen before its pattern."""

    sites = ("value", "pattern")
    lengths: Tensor

    def read(self, seen: Seen) -> Tensor | None:
        if seen.site == "value":
            self.lengths = seen.written_norms()
            return None
        return seen.tensor * self.lengths[:, :, None]


class _Rollout:
    """A head's attention to the layer's input, and what that input is made of: A(i, k) rollout(i - 1)."""

    sites = ("pattern",)
    below: Tensor | None = None

    def read(self, seen: Seen) -> Tensor | None:
        mixed = half_residual(seen.tensor)
        rolled = seen.tensor if self.below is None else torch.matmul(seen.tensor, self.below[:, None])
        self.below = mixed if self.below is None else torch.bmm(mixed, self.below)
        return rolled


def half_residual(pattern: Float[Tensor, "batch head piece piece"]) -> Float[Tensor, "batch piece piece"]:
    """Return 0.5 A + 0.5 I, A averaged over heads (Abnar and Zuidema 2020, section 3); rows sum to 1."""
    return (pattern.mean(1) + torch.eye(pattern.shape[-1], dtype=pattern.dtype, device=pattern.device)) / 2


READERS: dict[str, type[_Weights] | type[_Norms] | type[_Rollout]] = {
    "weights": _Weights,
    "norms": _Norms,
    "rollout": _Rollout,
}

MAPS = tuple(READERS)
"""What a map can hold for a query and a key.

weights: attention; rows sum to 1. norms: the length of what the key's value adds to the query through this head,
||alpha f(x)|| with f(x) = (x W_V + b_V) W_O, without the bias of W_O (Kobayashi et al. 2020, section 3.1); a length in
the units of the layer's vectors, and rows sum to no fixed number. rollout: attention to the pieces of the input through
the layers below, each half attention, averaged over heads, and half residual (Abnar and Zuidema 2020, section 3);
rows sum to 1, and the first layer's are its weights."""


class _Done(BaseException):
    """The last layer has been seen; what follows in the forward pass is not needed. No error, so none catches it."""


def merge(
    pattern: Float[Tensor, "batch head piece attended"], batch: Batch, attended: Batch | None = None
) -> Float[Tensor, "batch head query key"]:
    """Turn maps of pieces into maps of words: sum over the pieces attended to, mean over those attended from.

    Queries are words; keys are words, then [SEP], then [CLS] (indices SEP and CLS), those of `attended` where the
    pieces attended to are of other texts (cross-attention). Rows of words keep summing to 1, rows of padding are 0. In
    memory the order is query, key, batch, head, which suits reductions over queries or keys. Clark et al. 2019,
    section 4.1.
    """
    texts, heads, length, width = pattern.shape
    belongs = (batch if attended is None else attended).to_words
    keys = belongs.shape[2]
    to_words = torch.bmm(pattern.reshape(texts, heads * length, width), belongs)
    by_query = to_words.view(texts, heads, length, keys).transpose(1, 2).reshape(texts, length, heads * keys)
    merged = torch.bmm(batch.from_words, by_query)
    return merged.view(texts, -1, heads, keys).permute(1, 3, 0, 2).contiguous().permute(2, 3, 0, 1)


def stream_maps(
    model: Model, batch: Batch, see: SeeMaps, also: Sequence[SeeBoth] = (), *, maps: str = "weights"
) -> None:
    """Run `model` on a batch and show `see`, then each of `also`, the maps of each layer as soon as they exist.

    `maps` is one of MAPS. Only one layer's maps exist at a time; the pass ends with the last layer's. Raises HookError
    for a model that shows fewer layers than `model.layers`, and for norms of an architecture whose W_O is not known.
    """
    if maps not in READERS:
        raise ValueError(f"unknown maps {maps!r}; known are {', '.join(MAPS)}")
    reader = READERS[maps]()

    def by_word(seen: Seen) -> bool:
        if (of_pieces := reader.read(seen)) is None:
            return False
        merged = merge(of_pieces, batch)
        see(seen.layer, merged)
        for see_both in also:
            see_both(seen.layer, merged, seen.tensor)
        return True

    _stream(model, batch, reader.sites, by_word)


def stream_outputs(model: Model, batch: Batch, see: SeeMaps) -> None:
    """Run `model` on a batch and show `see` what every head of a layer gives to each word, before W_O.

    Shown are the layer's index and [batch, word, head, head_dim], the outputs of a word's pieces reduced as the rows of
    its maps are (`Batch.from_words`); 0 at padding. All else as in `stream_maps`.
    """

    def by_word(seen: Seen) -> bool:
        texts, heads, length, size = seen.tensor.shape
        words = torch.bmm(batch.from_words, seen.tensor.transpose(1, 2).reshape(texts, length, heads * size))
        see(seen.layer, words.view(texts, -1, heads, size))
        return True

    _stream(model, batch, ("head_output",), by_word)


def stream_lengths(model: Model, batch: Batch, see: SeeLengths) -> None:
    """Run `model` on a batch and show `see` the attention of each layer and the lengths of what it mixes, in one pass.

    Shown are the layer's index, attention [batch, head, piece, piece] and ||f(x)|| [batch, head, piece] of the pieces
    attended to (Kobayashi et al. 2020, section 3.1). All else as in `stream_maps` of norms.
    """
    lengths: dict[int, Tensor] = {}

    def both(seen: Seen) -> bool:
        if seen.site == "value":
            lengths[seen.layer] = seen.written_norms()
            return False
        see(seen.layer, seen.tensor, lengths.pop(seen.layer))
        return True

    _stream(model, batch, _Norms.sites, both)


@torch.inference_mode()
def _stream(model: Model, batch: Batch, sites: Sequence[str], show: Callable[[Seen], bool]) -> None:
    """Show what hook sites hold, layer by layer; the pass ends when `show` says that the last layer is done with."""
    shown = 0

    def look(seen: Seen) -> None:
        nonlocal shown
        if not show(seen):
            return
        shown = seen.layer + 1
        if seen.layer == model.layers - 1:
            raise _Done

    try:
        with watch(model.module, look, sites):
            model.run(batch.ids, batch.mask)
    except _Done:
        return
    raise HookError(f"{model.name} showed {shown} layers, expected {model.layers}")
