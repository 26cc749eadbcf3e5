"""Word-level maps: what every head attends to, word by word, one layer at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from mha.batches import Batch
from mha.device import in_parts, lacks_memory
from mha.hooks import HookError, watch
from mha.models.model import Model
from mha.watches import Seen

QUERIES = 32
"Queries whose keys are summed at a time: few enough that what is transposed stays in the cache of a core."

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

weights: attention; rows sum to 1, with sinks (gpt-oss) to less. norms: the length of what the key's value adds to the
query through this head, ||alpha f(x)|| with f(x) = (x W_V + b_V) W_O, without the bias of W_O (Kobayashi et al. 2020,
section 3.1); a length in the units of the layer's vectors, and rows sum to no fixed number. rollout: attention to the
pieces of the input through the layers below, each half attention, averaged over heads, and half residual (Abnar and
Zuidema 2020, section 3); rows sum to 1 where those of weights do, and the first layer's are its weights."""


class _Done(BaseException):
    """The last layer has been seen; what follows in the forward pass is not needed. No error, so none catches it."""


def merge(
    pattern: Float[Tensor, "batch head piece attended"], batch: Batch, attended: Batch | None = None
) -> Float[Tensor, "batch head query key"]:
    """Turn maps of pieces into maps of words: sum over the pieces attended to, mean over those attended from.

    Queries are words; keys are words, then [SEP], then [CLS] (indices SEP and CLS), those of `attended` where the
    pieces attended to are of other texts (cross-attention). Rows of words keep their sum, rows of padding are 0. In
    memory the order is query, key, batch, head, which suits reductions over queries or keys. Clark et al. 2019,
    section 4.1.
    """
    texts, heads, length, width = pattern.shape
    queries, keys = batch.queries, (batch if attended is None else attended).keys
    head = torch.arange(heads, device=pattern.device)[:, None]
    index = (queries.text * heads + head) * length + queries.piece
    starts = queries.start.flatten() + head * len(queries.text)
    by_query = sum_rows(pattern.reshape(-1, width), index, starts, queries.weight.repeat(heads))
    by_query = by_query.view(heads, len(queries.start), texts, width)
    merged = pattern.new_empty(len(queries.start), len(keys.start), texts, heads)
    for first in range(0, len(merged), QUERIES):
        some = by_query[:, first : first + QUERIES]
        by_piece = some.permute(3, 2, 1, 0).reshape(width * texts, -1)
        by_key = sum_rows(by_piece, keys.piece * texts + keys.text, keys.start)
        by_key = by_key.view(len(keys.start), texts, some.shape[1], heads)
        merged[first : first + QUERIES] = by_key.permute(2, 0, 1, 3)
    return merged.permute(2, 3, 0, 1)


def sum_rows(
    rows: Float[Tensor, "row value"], index: Tensor, starts: Tensor, weights: Tensor | None = None
) -> Float[Tensor, "sum value"]:
    """Return weighted sums of the rows at `index`, from each start to the next; 0 where there is none."""
    return F.embedding_bag(index.flatten(), rows, starts.flatten(), mode="sum", per_sample_weights=weights)


def stream_maps(
    model: Model, batch: Batch, see: SeeMaps, also: Sequence[SeeBoth] = (), *, maps: str = "weights"
) -> None:
    """Run `model` on a batch and show `see`, then each of `also`, the maps of each layer as soon as they exist.

    `maps` is one of MAPS. Only one layer's maps exist at a time; the pass ends with the last layer's. Raises HookError
    for a model that shows fewer layers than `model.layers`, and for norms of an architecture whose W_O is not known.
    What is shown lies on the device of the model; where its memory does not hold the batch, the texts are read in
    parts, and DeviceError is raised where it holds no single one.
    """
    if maps not in READERS:
        raise ValueError(f"unknown maps {maps!r}; known are {', '.join(MAPS)}")

    def by_word(part: Batch) -> Read:
        reader = READERS[maps]()

        def read(seen: Seen) -> tuple[Tensor, ...] | None:
            if (of_pieces := reader.read(seen)) is None:
                return None
            merged = merge(of_pieces, part)
            return (merged, seen.tensor) if also else (merged,)

        return read

    def see_all(layer: int, merged: Tensor, *pattern: Tensor) -> None:
        see(layer, merged)
        for see_both in also:
            see_both(layer, merged, *pattern)

    _stream(model, batch, READERS[maps].sites, by_word, see_all)


def stream_outputs(model: Model, batch: Batch, see: SeeMaps) -> None:
    """Run `model` on a batch and show `see` what every head of a layer gives to each word, before W_O.

    Shown are the layer's index and [batch, word, head, head_dim], the outputs of a word's pieces reduced as the rows of
    its maps are (`Batch.from_words`); 0 at padding. All else as in `stream_maps`.
    """

    def by_word(part: Batch) -> Read:
        def read(seen: Seen) -> tuple[Tensor, ...]:
            texts, heads, length, size = seen.tensor.shape
            words = torch.bmm(part.from_words, seen.tensor.transpose(1, 2).reshape(texts, length, heads * size))
            return (words.view(texts, -1, heads, size),)

        return read

    _stream(model, batch, ("head_output",), by_word, see)


def stream_lengths(model: Model, batch: Batch, see: SeeLengths) -> None:
    """Run `model` on a batch and show `see` the attention of each layer and the lengths of what it mixes, in one pass.

    Shown are the layer's index, attention [batch, head, piece, piece] and ||f(x)|| [batch, head, piece] of the pieces
    attended to (Kobayashi et al. 2020, section 3.1). All else as in `stream_maps` of norms.
    """

    def both(part: Batch) -> Read:
        lengths: dict[int, Tensor] = {}

        def read(seen: Seen) -> tuple[Tensor, ...] | None:
            if seen.site == "value":
                lengths[seen.layer] = seen.written_norms()
                return None
            return seen.tensor, lengths.pop(seen.layer)

        return read

    _stream(model, batch, _Norms.sites, both, see)


Read = Callable[[Seen], tuple[Tensor, ...] | None]
"Makes of what a hook site holds what is shown of its layer, a text a row; None where that is not complete yet."


@dataclass
class _Stream:
    """A pass whose layers are shown one by one."""

    model: Model
    sites: Sequence[str]
    reader: Callable[[Batch], Read]
    "Makes what reads one pass over a batch on the model's device."
    see: Callable[..., None]
    begun: int = 0
    "Layers that were shown, or are being shown."
    shown: int = 0

    def run(self, batch: Batch) -> None:
        """Run the model; the pass ends with the last layer's hook."""
        placed = batch.to(self.model.device)
        read = self.reader(placed)

        def look(seen: Seen) -> None:
            if (found := read(seen)) is not None:
                self.show(seen.layer, found)
                if seen.layer == self.model.layers - 1:
                    raise _Done

        try:
            with watch(self.model.module, look, self.sites):
                self.model.run(placed.ids, placed.mask)
        except _Done:
            return
        raise HookError(f"{self.model.name} showed {self.shown} layers, expected {self.model.layers}")

    def show(self, layer: int, found: Sequence[Tensor]) -> None:
        """Show a layer."""
        self.begun = layer + 1
        self.see(layer, *found)
        self.shown = layer + 1

    def of(self, batch: Batch) -> list[tuple[Tensor, ...]]:
        """Return what every layer of a batch shows, on the CPU, in the stead of showing it."""
        layers: list[tuple[Tensor, ...]] = []

        def keep(_: int, *found: Tensor) -> None:
            layers.append(tuple(one.cpu() for one in found))

        _Stream(self.model, self.sites, self.reader, keep).run(batch)
        return layers


@torch.inference_mode()
def _stream(
    model: Model, batch: Batch, sites: Sequence[str], reader: Callable[[Batch], Read], see: Callable[..., None]
) -> None:
    """Show what hook sites hold, layer by layer; where memory lacks, texts are read in parts and shown together."""
    stream = _Stream(model, sites, reader, see)
    try:
        stream.run(batch)
        return
    except RuntimeError as error:
        if not lacks_memory(error) or stream.begun > stream.shown:
            raise
    texts = len(batch.ids)
    what = f"{model.name} on {model.device}, texts of {batch.ids.shape[1]} pieces"
    parts = [*in_parts(lambda part: stream.of(batch.part(part)), texts, what, most=max(1, texts // 2))]
    for layer in range(stream.shown, model.layers):
        whole = [torch.cat(pieces).to(model.device) for pieces in zip(*(part[layer] for part in parts), strict=True)]
        stream.show(layer, whole)
