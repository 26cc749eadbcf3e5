"""Maps that were read once and are kept, so that whoever asks for them later needs no further pass of the model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import torch
from jaxtyping import Float
from torch import Tensor

from mha.batches import Batch
from mha.models.maps import SeeMaps, stream_maps
from mha.models.model import Model
from mha.pieces import Pieces

Key = tuple[bytes, bytes]
"The pieces of a text, and the word of each."

LayerMaps = Sequence[Tensor]
"Of one text, layer by layer: [query, key, head] without padding; keys are the words, then [SEP], then [CLS]."


class KeptMaps:
    """The word-level maps of one model, taken from the pass in which its heads are scored (an observer of scoring).

    Texts are kept in the order of their batches while they need no more than `limit` bytes together; what is left out
    is read again by whoever asks for it. Maps are those of the pass that was watched: of the batches of that pass, and
    of its kind and reduction, so that one object belongs to one model and one way of reading.
    """

    def __init__(self, model: Model, limit: int) -> None:
        """Keep maps of `model` in at most `limit` bytes."""
        self.model, self.limit = model, limit
        self.bytes = 0
        "Of what is kept."
        self._kept: dict[Key, LayerMaps] = {}

    def __len__(self) -> int:
        """Return the number of different texts that are kept."""
        return len(self._kept)

    def clear(self) -> None:
        """Let all go."""
        self._kept.clear()
        self.bytes = 0

    def observe(self, documents: object, batch: Batch, items: object) -> KeptObservation:
        """Return what keeps the maps of one batch."""
        return KeptObservation(batch, full=self.bytes >= self.limit)

    def add(self, observation: object) -> None:
        """Keep the texts of a batch for which there is room."""
        assert isinstance(observation, KeptObservation)
        for text, layers in zip(observation.batch.texts, observation.by_text(), strict=False):
            size = sum(maps.nbytes for maps in layers)
            if (key := _key(text)) not in self._kept and self.bytes + size <= self.limit:
                self._kept[key] = layers
                self.bytes += size

    def stream(self, model: Model, batch: Batch, see: SeeMaps, *, maps: str) -> None:
        """Show `see` the maps of each layer as `mha.models.maps.stream_maps` does, without a pass where all are kept.

        The model reads a batch that has a text which is not kept, and so does another model.
        """
        texts = [self._kept.get(_key(text)) for text in batch.texts] if model is self.model else []
        kept = [layers for layers in texts if layers is not None]
        if not kept or len(kept) < len(batch.words):
            stream_maps(model, batch, see, maps=maps)
            return
        for layer in range(model.layers):
            see(layer, _padded([layers[layer] for layers in kept], batch))


class KeptObservation:
    """The maps of one batch, text by text."""

    def __init__(self, batch: Batch, *, full: bool) -> None:
        """Keep the texts of a batch; nothing where what keeps them is `full`."""
        self.batch, self.full = batch, full
        self._layers: list[list[Tensor]] = []

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Copy the maps of a layer, without padding."""
        if self.full:
            return
        by_text = maps.cpu().permute(0, 2, 3, 1)
        self._layers.append([by_text[text][:words][:, _keys(words)] for text, words in enumerate(self._words)])

    def by_text(self) -> list[LayerMaps]:
        """Return the maps of every text; no text where nothing was kept."""
        return [*zip(*self._layers, strict=True)]

    @property
    def _words(self) -> list[int]:
        words: list[int] = self.batch.words.tolist()
        return words


def _keys(words: int) -> list[int]:
    """Return the keys of a text of so many words, as indices into maps that may be padded."""
    return [*chain(range(words), (-2, -1))]


def _key(text: Pieces) -> Key:
    return text.ids.tobytes(), text.word.tobytes()


def _padded(texts: Sequence[Tensor], batch: Batch) -> Float[Tensor, "batch head query key"]:
    """Return the maps of one layer, which are [query, key, head] of each text, as `mha.models.maps.merge` does."""
    width, heads = batch.from_words.shape[1], texts[0].shape[2]
    memory = torch.zeros(width, width + 2, len(texts), heads)
    for text, maps in enumerate(texts):
        words = len(maps)
        memory[:words, :words, text] = maps[:, :words]
        memory[:words, width:, text] = maps[:, words:]
    return memory.permute(2, 3, 0, 1)
