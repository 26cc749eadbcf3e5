"""Sweeps: one batch read under many interventions, each from the lowest layer on that it changes.

What lies below is computed once, and interventions that begin in the same layer are read side by side, as copies of the
batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mha.attention import attend, in_float32
from mha.causal.interventions import Ablate, Borrow, Patch, changed
from mha.causal.resume import copies, keeping, known, resumable, skippable_layers
from mha.device import device_of, in_parts, moved
from mha.encoder.encoder import Encoder, Entry
from mha.encoder.layout import Packing
from mha.hooks import HookError, record, watch
from mha.models.circuits import layers_of
from mha.watches import Seen

Variant = tuple[Ablate | Patch | Borrow, ...]
"What is changed in one reading of a batch; nothing where it is empty."

PIECES = 1536
"Pieces that are read side by side at the most: what lies between layers is to fit the processor's cache."


@runtime_checkable
class ModelReader(Protocol):
    """A model and what is read of it: `Model` (vectors of the last layer) or `MaskedLM` (logits)."""

    @property
    def module(self) -> nn.Module:
        """What makes the attention calls."""

    def read(
        self,
        ids: Int[Tensor, "batch piece"],
        real: Bool[Tensor, "batch piece"] | None,
        selected: Int[Tensor, " chosen"] | None,
        entry: Entry | None = None,
    ) -> Tensor:
        """Return what the model gives at the `selected` pieces of the flattened batch, [chosen, ...], or at all.

        Wherever what it is given lies, what it gives lies where its weights do.
        """

    def types(
        self, ids: Int[Tensor, "batch piece"], real: Bool[Tensor, "batch piece"] | None
    ) -> Int[Tensor, "batch piece"] | None:
        """Return the type (segment) of every piece; None where all are 0."""

    def arithmetic(self) -> AbstractContextManager[object]:
        """Return the context in which the model computes: that of its precision."""


@dataclass(frozen=True)
class TextBatch:
    """A batch of texts to be read."""

    ids: Int[Tensor, "batch piece"]
    real: Bool[Tensor, "batch piece"] | None = None
    "True at pieces that are no padding; None where there is no padding."
    selected: Int[Tensor, " selected"] | None = None
    "Pieces of the flattened batch at which the model is read; None for all, [batch, piece, ...]."

    def copied(self, count: int) -> TextBatch:
        """Return `count` copies of the batch, one after the other, as one."""
        size = self.ids.numel()
        selected = self.selected
        if selected is not None:
            selected = (torch.arange(count, device=selected.device)[:, None] * size + selected).flatten()
        real = None if self.real is None else self.real.repeat(count, 1)
        return TextBatch(self.ids.repeat(count, 1), real, selected)

    def to(self, device: torch.device) -> TextBatch:
        """Return the batch on a device."""
        return TextBatch(self.ids.to(device), moved(device, self.real), moved(device, self.selected))


@dataclass(frozen=True)
class Trace:
    """What a batch gives where nothing is changed."""

    output: Tensor
    seen: tuple[Seen, ...]
    "The head outputs of every layer."
    below: tuple[Any, ...] = field(repr=False)
    "What it takes to enter each layer."


@contextmanager
def sweeping(reader: ModelReader) -> Iterator[Sweep]:
    """Make a model ready for sweeps, on any number of threads, while the block runs.

    Of our `Encoder` no more than a layer's feed-forward net and what lies above is run for an intervention, of models
    of `transformers` the layer and what lies above; of those that share layers, or call attention more than once in
    one, the whole model is. Raises HookError for an encoder that lost heads (`mha.causal.pruning.smaller`).
    """
    if isinstance(reader.module, Encoder):
        if reader.module.config.pruned:
            raise HookError(
                "an encoder without some of its heads is not swept: make it whole with mha.causal.pruning.zeroed"
            )
        yield _EncoderSweep(reader)
        return
    layers = skippable_layers(reader.module, torch.zeros(1, 2, dtype=torch.int64, device=device_of(reader.module)))
    with resumable(reader.module, layers):
        yield _HubSweep(reader, layers)


@dataclass(frozen=True)
class Sweep:
    """A model that batches are read by under many interventions."""

    reader: ModelReader

    def trace(self, texts: TextBatch) -> Trace:
        """Read a batch without any change."""
        raise NotImplementedError

    def _read(self, texts: TextBatch, trace: Trace, layer: int, variants: Sequence[Variant]) -> Tensor:
        """Return what the model gives for a copy of the batch for each variant, [variant * batch or chosen, ...]."""
        raise NotImplementedError

    def run(
        self, texts: TextBatch, variants: Sequence[Variant], trace: Trace, *, pieces: int = PIECES
    ) -> Iterator[tuple[list[int], Tensor]]:
        """Yield which variants were read, and what the model gave for each: [variant, ...] as `trace.output`.

        Variants come in the order of the layers in which they begin, at the most `pieces` pieces at a time. Each
        variant is yielded once; one that changes nothing gives `trace.output`. Raises HookError for heads and layers
        that do not exist.
        """
        begun: dict[int, list[int]] = {}
        for number, variant in enumerate(variants):
            if not variant:
                yield [number], trace.output[None]
                continue
            begun.setdefault(min(change.layer for change in variant), []).append(number)
            self._check(variant, trace)
        side_by_side = max(1, pieces // texts.ids.numel())
        texts = texts.to(device_of(self.reader.module))
        for layer, numbers in sorted(begun.items()):

            def read(part: slice, layer: int = layer, numbers: list[int] = numbers) -> tuple[list[int], Tensor]:
                group = numbers[part]
                output = self._read(texts, trace, layer, [variants[number] for number in group])
                return group, output.view(len(group), *trace.output.shape)

            what = f"{texts.ids.numel()} pieces with a head changed"
            yield from in_parts(read, len(numbers), what, most=side_by_side)

    def _check(self, variant: Variant, trace: Trace) -> None:
        for change in variant:
            if not 0 <= change.layer < len(trace.seen):
                layers = len(trace.seen)
                raise HookError(f"layer index {change.layer} does not exist in this model ({layers} layers, from 0)")


def _changed_copies(variants: Sequence[Variant], seen: Seen) -> Tensor:
    """Return head outputs of copies of a batch, a copy a variant, as the variants make them."""
    size = len(seen.tensor) // len(variants)
    tensor = seen.tensor.clone()
    for number, variant in enumerate(variants):
        if any(change.layer == seen.layer for change in variant):
            part = slice(number * size, (number + 1) * size)
            tensor[part] = changed(variant, seen.texts(part))
    return tensor


def _above(reader: ModelReader, layer: int, variants: Sequence[Variant], first: int) -> Any:
    """Return a block in which changes of layers from `layer` on are made in passes that begin with call `first`."""
    layers = {change.layer for variant in variants for change in variant if change.layer >= layer}
    if not layers:
        return nullcontext()
    return watch(reader.module, lambda seen: _changed_copies(variants, seen), ["head_output"], layers, first=first)


@dataclass(frozen=True)
class _EncoderSweep(Sweep):
    """Of our Encoder: a pass is entered behind the attention of the layer that is changed."""

    @property
    def encoder(self) -> Encoder:
        assert isinstance(self.reader.module, Encoder)
        return self.reader.module

    @torch.inference_mode()
    def trace(self, texts: TextBatch) -> Trace:
        texts = texts.to(device_of(self.encoder))
        with self.reader.arithmetic():
            seen, below = self._layers(texts)
            return Trace(self.reader.read(texts.ids, texts.real, texts.selected, below[-1]), tuple(seen), tuple(below))

    def _layers(self, texts: TextBatch) -> tuple[list[Seen], list[Entry]]:
        """Return the head outputs of every layer, and what it takes to enter each behind its attention."""
        packing = self.encoder.packing(texts.ids, texts.real)
        x = self.encoder.embed(texts.ids, packing, self.reader.types(texts.ids, texts.real))
        seen, below = [], []
        for number, layer in enumerate(layers_of(self.encoder)):
            attention, projected = layer.attention, layer.read(x, packing)
            with in_float32(x.device.type) as cast:
                query, key, value = map(cast, projected)
                bias = None if packing.bias is None else cast(packing.bias)
                heads, _ = attend(attention, query, key, value, bias, scaling=attention.scaling)
            seen.append(Seen("head_output", number, heads.transpose(1, 2), packing.bias, value=value))
            below.append(Entry(number, x, attention.output(packing.pack(heads.flatten(2)))))
            if number + 1 < len(self.encoder.layers):
                x = layer(x, packing, mixed=below[-1].mixed)
        return seen, below

    @torch.inference_mode()
    def _read(self, texts: TextBatch, trace: Trace, layer: int, variants: Sequence[Variant]) -> Tensor:
        entry, seen = trace.below[layer], trace.seen[layer]
        many = texts.copied(len(variants))
        with self.reader.arithmetic():
            packing = self.encoder.packing(texts.ids, texts.real)
            mixed = torch.cat([entry.mixed + self._difference(variant, seen, packing) for variant in variants])
        entry = Entry(layer, entry.x.repeat(len(variants), 1), mixed)
        with _above(self.reader, layer + 1, variants, layer + 1):
            return self.reader.read(many.ids, many.real, many.selected, entry)

    def _difference(self, variant: Variant, seen: Seen, packing: Packing) -> Float[Tensor, "token model"]:
        """Return what the heads of a layer write under a variant, less what they write without it."""
        heads = sorted({change.head for change in variant if change.layer == seen.layer})
        output = changed(variant, seen)[:, heads] - seen.tensor[:, heads]
        weights = layers_of(self.encoder)[seen.layer].attention.W_O[heads]
        return packing.pack(output.transpose(1, 2).flatten(2)) @ weights.flatten(0, 1)


@dataclass(frozen=True)
class _HubSweep(Sweep):
    """Of a model of `transformers`: layers below the one that is changed return what they returned."""

    layers: Sequence[nn.Module]
    "Those that can be skipped: all or none."

    @torch.inference_mode()
    def trace(self, texts: TextBatch) -> Trace:
        seen: list[Seen] = []
        with keeping() as outputs, watch(self.reader.module, seen.append, ["head_output"]):
            output = self.reader.read(texts.ids, texts.real, texts.selected)
        below = tuple(outputs[layer] for layer in self.layers)
        return Trace(output, tuple(replace(one, call=None) for one in seen), below)

    @torch.inference_mode()
    def _read(self, texts: TextBatch, trace: Trace, layer: int, variants: Sequence[Variant]) -> Tensor:
        skipped = zip(self.layers[:layer], trace.below, strict=False)
        outputs = {module: copies(output, len(texts.ids), len(variants)) for module, output in skipped}
        many = texts.copied(len(variants))
        with known(outputs), _above(self.reader, layer, variants, len(outputs)):
            return self.reader.read(many.ids, many.real, many.selected)


@torch.no_grad()
def head_outputs(reader: ModelReader, texts: TextBatch) -> list[Float[Tensor, "batch head piece head_dim"]]:
    """Return what every head of each layer gives for a batch, before W_O."""
    with record(reader.module, ["head_output"]) as kept:
        reader.read(texts.ids, texts.real, texts.selected)
    return kept["head_output"]
