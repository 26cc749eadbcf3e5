"""Word-level maps: what every head attends to, word by word, one layer at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from mha.batches import Batch
from mha.hooks import HookError, Seen, watch
from mha.models import Model

SeeMaps = Callable[[int, Tensor], None]
"Called with the index of a layer and what it shows, word-level maps [batch, head, query, key] for example."

SeeBoth = Callable[[int, Tensor, Tensor], None]
"Called with the pattern [batch, head, piece, piece] as well that a layer's word-level maps come from."


class _Done(BaseException):
    """The last layer has been seen; what follows in the forward pass is not needed. No error, so none catches it."""


def merge(pattern: Float[Tensor, "batch head piece piece"], batch: Batch) -> Float[Tensor, "batch head query key"]:
    """Turn maps of pieces into maps of words: sum over the pieces attended to, mean over those attended from.

    Queries are words; keys are words, then [SEP], then [CLS] (indices SEP and CLS). Rows of words keep summing to 1,
    rows of padding are 0. In memory the order is query, key, batch, head, which suits reductions over queries or keys.
    Clark et al. 2019, section 4.1.
    """
    texts, heads, length, _ = pattern.shape
    keys = batch.to_words.shape[2]
    to_words = torch.bmm(pattern.reshape(texts, heads * length, length), batch.to_words)
    by_query = to_words.view(texts, heads, length, keys).transpose(1, 2).reshape(texts, length, heads * keys)
    merged = torch.bmm(batch.from_words, by_query)
    return merged.view(texts, -1, heads, keys).permute(1, 3, 0, 2).contiguous().permute(2, 3, 0, 1)


def stream_maps(model: Model, batch: Batch, see: SeeMaps, also: Sequence[SeeBoth] = ()) -> None:
    """Run `model` on a batch and show `see`, then each of `also`, the maps of each layer as soon as they exist.

    Only one layer's maps exist at a time; the pass ends with the last layer's. Raises HookError for a model that shows
    fewer layers than `model.layers`.
    """

    def by_word(layer: int, pattern: Tensor) -> None:
        maps = merge(pattern, batch)
        see(layer, maps)
        for see_both in also:
            see_both(layer, maps, pattern)

    _stream(model, batch, "pattern", by_word)


def stream_outputs(model: Model, batch: Batch, see: SeeMaps) -> None:
    """Run `model` on a batch and show `see` what every head of a layer gives to each word, before W_O.

    Shown are the layer's index and [batch, word, head, head_dim], the outputs of a word's pieces reduced as the rows of
    its maps are (`Batch.from_words`); 0 at padding. All else as in `stream_maps`.
    """

    def by_word(layer: int, output: Tensor) -> None:
        texts, heads, length, size = output.shape
        words = torch.bmm(batch.from_words, output.transpose(1, 2).reshape(texts, length, heads * size))
        see(layer, words.view(texts, -1, heads, size))

    _stream(model, batch, "head_output", by_word)


@torch.inference_mode()
def _stream(model: Model, batch: Batch, site: str, see: SeeMaps) -> None:
    """Show `see` what a hook site of each layer holds, and end the pass with the last layer's."""
    shown = 0

    def look(seen: Seen) -> None:
        nonlocal shown
        shown = seen.layer + 1
        see(seen.layer, seen.tensor)
        if seen.layer == model.layers - 1:
            raise _Done

    try:
        with watch(model.module, look, [site]):
            model.run(batch.ids, batch.mask)
    except _Done:
        return
    raise HookError(f"{model.name} showed {shown} layers, expected {model.layers}")
