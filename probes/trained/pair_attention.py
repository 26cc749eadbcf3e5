"""What a model's heads give to sampled pairs of words: only these values are kept of all the maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32, Int
from torch import Tensor

from mha.batches import collate, plan
from mha.models.model import Model
from mha.parallel import in_order
from probes.records import IntArray
from probes.scoring.aligned import Aligned
from probes.scoring.arcs import Arc, ControlTask, pairs_of
from probes.scoring.score import Settings
from probes.scoring.tally import Question

Arcs = Mapping[Question, Sequence[Arc]]


@dataclass(frozen=True)
class PairAttention:
    """The arcs of one split, and a model's attention for all their pairs."""

    arcs: Arcs
    cells: Mapping[Question, Int[np.ndarray, "task arc end"]]
    "Rows of `values`; the end is 0 for the right pair and 1 for the wrong one."
    values: Float32[np.ndarray, "cell head way"]
    "Attention from the query to the key (way 0) and back (way 1), of all heads layer by layer."
    block_of: IntArray
    "Cluster block of every text that the model can read."

    def pairs(self, question: Question) -> Float[np.ndarray, "task arc end head way"]:
        """Return the values of all pairs of a question."""
        values: Float[np.ndarray, "task arc end head way"] = self.values[self.cells[question]].astype(np.float64)
        return values

    def blocks(self, question: Question) -> IntArray:
        """[arc] Return the cluster block of each arc of a question."""
        return self.block_of[[arc.number for arc in self.arcs[question]]]

    @classmethod
    def of(
        cls, model: Model, aligned: Aligned, arcs: Arcs, control: Mapping[Question, ControlTask], settings: Settings
    ) -> PairAttention:
        """Run a model on those texts that have arcs."""
        block_of = aligned.blocks()
        blocks = np.array([block_of[name] for name in aligned.names], np.int64)
        numbers = [number for _, number in sorted({(arc.text, arc.number) for some in arcs.values() for arc in some})]
        place = {number: i for i, number in enumerate(numbers)}
        parts, shapes = [np.zeros((0, 3), np.int64)], {}
        for question, some in arcs.items():
            pairs = pairs_of(some, control[question])
            text = np.array([place[arc.number] for arc in some], np.int64)[:, None, None]
            shapes[question] = pairs.shape[:3]
            parts.append(np.concatenate([np.broadcast_to(text, (*pairs.shape[:3], 1)), pairs], -1).reshape(-1, 3))
        cells, row = np.unique(np.concatenate(parts), axis=0, return_inverse=True)
        rows = np.split(row.reshape(-1), np.cumsum([len(part) for part in parts])[:-1])[1:]
        shaped = {question: some.reshape(shapes[question]) for question, some in zip(arcs, rows, strict=True)}
        return cls(arcs, shaped, read_cells(model, aligned, numbers, cells, settings), blocks)


def attention_between(
    model: Model, aligned: Aligned, cells: Int[np.ndarray, "pair 2 2"], settings: Settings
) -> Float32[np.ndarray, "pair head way"]:
    """Return the attention of all heads from the first word of each pair to the second, and back.

    `cells` are text (index among those that the model can read) and word of both words, of one text each; they may
    repeat, in any order.
    """
    numbers, place = np.unique(cells[:, 0, 0], return_inverse=True)
    asked, row = np.unique(np.column_stack([place, cells[..., 1]]), axis=0, return_inverse=True)
    values: Float32[np.ndarray, "pair head way"] = read_cells(model, aligned, numbers.tolist(), asked, settings)
    return values[row.reshape(-1)]


def read_cells(
    model: Model, aligned: Aligned, numbers: Sequence[int], cells: Int[np.ndarray, "cell 3"], settings: Settings
) -> Float32[np.ndarray, "cell head way"]:
    """Return the attention of all heads from the first word of each cell to the second, and back.

    `numbers` are indices of texts that the model can read; a cell is an index into them and two words; cells ascend.
    Batches are read side by side on one thread each, as they are scored.
    """
    values = np.empty((len(cells), model.layers * model.heads, 2), np.float32)
    pieces = [aligned.pieces[number] for number in numbers]

    def read(chosen: list[int]) -> None:
        first, last = (np.searchsorted(cells[:, 0], chosen, side) for side in ("left", "right"))
        rows = np.concatenate([np.arange(*span) for span in zip(first, last, strict=True)])
        batch = collate([pieces[i] for i in chosen], reduce=settings.reduce, padding=model.padding)
        reader = _Reader(values, rows, np.repeat(np.arange(len(chosen)), last - first), *cells[rows, 1:].T)
        settings.stream(model, batch, reader.see)

    batches = plan(pieces, [aligned.names[number] for number in numbers], settings.batch_pieces, pads=aligned.pads)
    for _ in in_order(read, batches, settings.workers):
        pass
    return values


@dataclass(frozen=True)
class _Reader:
    """Copies the cells of one batch from its maps into `values`."""

    values: Float32[np.ndarray, "cell head way"]
    rows: IntArray
    text: IntArray
    query: IntArray
    key: IntArray

    def see(self, layer: int, maps: Tensor) -> None:
        heads = slice(layer * maps.shape[1], (layer + 1) * maps.shape[1])
        self.values[self.rows, heads, 0] = maps[self.text, :, self.query, self.key].cpu().numpy()
        self.values[self.rows, heads, 1] = maps[self.text, :, self.key, self.query].cpu().numpy()
