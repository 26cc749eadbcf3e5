"""A head's accuracy on a probe's label as a behaviour: what it loses when heads below it are ablated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mha.batches import collate
from mha.causal.resume import skipped
from mha.causal.sweep import TextBatch
from mha.encoder.encoder import Entry
from mha.hooks import watch
from mha.models.maps import merge
from mha.models.model import Model, OfModel
from mha.pieces import Pieces
from mha.watches import Seen
from probes.causal.behaviours import Behaviour, BehaviourError, Prompt
from probes.maps.ensembles import Answers, Cells, joined_answers, wanted_items
from probes.records import Document
from probes.registry import Probe
from probes.scoring.aligned import Aligned
from probes.scoring.score import ask
from probes.scoring.tally import Question


@dataclass(frozen=True)
class HeadPattern(OfModel):
    """A `Reader` of the attention of one head: what heads of the layers below change of it can be swept."""

    layer: int
    "Index of the layer, from 0."
    head: int
    "Index of the head, from 0."

    @property
    def module(self) -> nn.Module:
        """What makes the attention calls."""
        return self.model.module

    def read(
        self,
        ids: Int[Tensor, "batch piece"],
        real: Bool[Tensor, "batch piece"] | None,
        selected: Int[Tensor, " chosen"] | None,
        entry: Entry | None = None,
    ) -> Float[Tensor, "batch piece piece"]:
        """Return the head's attention after softmax, [batch, query, key]; `selected` is not heard.

        A pass that would be entered in the head's layer or above it is made from the lowest layer on: the head sees
        nothing of what is changed there.
        """
        entry = None if entry is not None and entry.layer >= self.layer else entry
        found: list[Tensor] = []

        def look(seen: Seen) -> None:
            found.append(seen.tensor[:, self.head])

        first = skipped() if entry is None else entry.layer + 1
        with watch(self.module, look, ["pattern"], [self.layer], first=first):
            self.model.read(ids, real, None, entry)
        return found[0]


@dataclass(frozen=True)
class HeadAccuracy(Behaviour):
    """How often one head is right about a label, an item a text; hits are those of `probes.scoring.scorer.MEASURES`.

    The value of a text is its hits over the number of questions that a text has on average, so that the mean over texts
    is the head's accuracy. Values are in [0, 1] for texts of one question each.
    """

    cells: tuple[Cells, ...] = ()
    "[text] Where the candidates of its questions lie in its word-level map; [SEP] and [CLS] are indices from the end."
    reduce: str = "mean"
    "How the pieces of a word are reduced as queries, one of `mha.batches.REDUCTIONS`."

    @property
    def share(self) -> bool:
        """Its mean is an accuracy."""
        return True

    @property
    def questions(self) -> float:
        """Number of questions of a text, on average."""
        return sum(int(cells.item[-1]) + 1 for cells in self.cells) / len(self.cells)

    def values(
        self, batch: Sequence[int], texts: TextBatch, output: Float[Tensor, "variant batch piece piece"], intact: Tensor
    ) -> Float[Tensor, "variant text"]:
        """Return the hits of each text, see the class."""
        output, place = output.cpu(), output.device
        cut = [self.prompts[i].text for i in batch]
        words = merge(output.transpose(0, 1), collate(cut, reduce=self.reduce)).permute(0, 2, 3, 1)
        parts = []
        for row, i in enumerate(batch):
            cells = self.cells[i]
            of_text = np.full(int(cells.item[-1]) + 1, row)
            parts.append(cells.answers(words[row, cells.row, cells.column], None, of_text))
        answers: Answers = joined_answers(parts)
        hits = torch.from_numpy(answers.hits(answers.values)) / self.questions
        found = output.new_zeros(len(output), len(batch), dtype=torch.float64)
        return found.index_add_(1, torch.from_numpy(answers.cluster), hits.T).to(place, output.dtype)


def head_accuracy(
    model: Model, aligned: Aligned, probe: Probe, question: Question, head: tuple[int, int], *, reduce: str = "mean"
) -> HeadAccuracy:
    """Return the accuracy of `head` (layer and head, from 0) on a question of `probe` as a behaviour.

    Texts without such a question are no items; questions about words without pieces are left out as in scoring. Raises
    BehaviourError where no text has one, and for questions of broad attention, which have no right key.
    """
    name = f"{head[0] + 1}-{head[1] + 1} on {' '.join(question)}"
    asked: list[Prompt] = []
    cells: list[Cells] = []
    clusters: list[str] = []
    documents = aligned.texts.take(aligned.kept)
    for text, document in zip(aligned.pieces, documents, strict=True):
        found = _cells(probe, question, document, aligned, text)
        if found is not None:
            asked.append(Prompt(text, len(asked)))
            cells.append(found)
            clusters.append(document.id)
    if not asked:
        raise BehaviourError(f"{name}: no text has such a question")
    reader = HeadPattern(model, *head)
    accuracy = HeadAccuracy(name, "accuracy", reader, asked, tuple(clusters), below=head[0])
    return replace(accuracy, cells=tuple(cells), reduce=reduce)


def _cells(probe: Probe, question: Question, document: Document, aligned: Aligned, text: Pieces) -> Cells | None:
    """Return where the candidates of a text's questions lie; None where it has no such question."""
    groups = ask([probe], [document], [text], aligned.dropped)
    found = [items for _, items in wanted_items(groups, [probe], {question: None})]
    if not found:
        return None
    (items,) = found
    if items.spread:
        raise BehaviourError(f"{' '.join(question)}: asks for broad attention, which has no right key")
    cells = Cells.of(items, np.array([text.words]))
    row, column = (np.where(key < text.words, key, key - text.words - 2) for key in (cells.row, cells.column))
    return replace(cells, row=row, column=column)
