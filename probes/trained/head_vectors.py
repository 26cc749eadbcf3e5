"""What a model's heads give to chosen words, and the words' own embeddings: only these are kept of a pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32, Int
from torch import Tensor

from mha.batches import collate, plan
from mha.encoder.encoder import Encoder
from mha.models.maps import stream_outputs
from mha.models.model import Model
from mha.parallel import in_order
from probes.records import IntArray
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings

Vectors = Float32[np.ndarray, "word head head_dim"]


@dataclass(frozen=True)
class HeadVectors:
    """Words of one split, with what every head gives to them."""

    cells: Int[np.ndarray, "word 2"]
    "Text (index among those that the model can read) and word, ascending."
    outputs: Vectors
    "Heads layer by layer; the mean over a word's pieces."
    embeddings: Float32[np.ndarray, "word size"]
    "The rows of the model's embedding, without position or context; the mean over a word's pieces."

    def rows(self, cells: Int[np.ndarray, "*asked 2"]) -> Int[np.ndarray, "*asked"]:
        """Return where words stand in `cells`."""
        width = int(self.cells[:, 1].max()) + 1
        found: IntArray = np.searchsorted(self.cells @ [width, 1], cells @ np.array([width, 1]))
        return found

    @classmethod
    def of(cls, model: Model, aligned: Aligned, cells: Int[np.ndarray, "asked 2"], settings: Settings) -> HeadVectors:
        """Run a model on the texts of `cells`, which may repeat, in batches side by side on one thread each."""
        cells = np.unique(cells, axis=0)
        numbers, place = np.unique(cells[:, 0], return_inverse=True)
        pieces = [aligned.pieces[number] for number in numbers]
        table = embedding_of(model)
        embeddings = np.empty((len(cells), table.shape[1]), np.float32)
        outputs: dict[int, Vectors] = {}

        def read(chosen: list[int]) -> None:
            first, last = (np.searchsorted(place, chosen, side) for side in ("left", "right"))
            rows = np.concatenate([np.arange(*span) for span in zip(first, last, strict=True)])
            text, word = np.repeat(np.arange(len(chosen)), last - first), cells[rows, 1]
            batch = collate([pieces[i] for i in chosen], reduce=settings.reduce, padding=model.padding)
            embeddings[rows] = torch.bmm(batch.from_words, table[batch.ids])[text, word].numpy()

            def see(layer: int, given: Tensor) -> None:
                kept = outputs.setdefault(layer, np.empty((len(cells), *given.shape[2:]), np.float32))
                kept[rows] = given[text, word].cpu().numpy()

            stream_outputs(model, batch, see)

        batches = plan(pieces, [aligned.keys[number] for number in numbers], settings.batch_pieces, pads=aligned.pads)
        for _ in in_order(read, batches, settings.workers):
            pass
        layers = [outputs[layer] for layer in sorted(outputs)]
        return cls(cells, np.concatenate(layers, 1) if layers else np.empty((0, 0, 0), np.float32), embeddings)


def embedding_of(model: Model) -> Float32[Tensor, "vocab size"]:
    """Return the embedding of every piece of a model's vocabulary, on the CPU."""
    module = model.module
    table = module.pieces if isinstance(module, Encoder) else module.get_input_embeddings()  # type: ignore[operator]  # of transformers
    weight: Tensor = table.weight
    return weight.detach().cpu()


def cells_of(words: Sequence[tuple[int, tuple[int, ...]]]) -> Int[np.ndarray, "asked slot 2"]:
    """Return text and word of every word of examples that have equally many."""
    return np.array([[(number, word) for word in some] for number, some in words], np.int64)
