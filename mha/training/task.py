"""What is trained on what, and the batches of each step."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from mha.encoder.encoder import Encoder, EncoderConfig
from mha.encoder.masked_lm import MaskedBatch
from mha.training.arcs import GoldArcs
from mha.training.checkpoints import CheckpointError
from mha.training.masking import MaskedRows, Masking, mask_rows, next_rows
from mha.training.objective import ArcBatch
from mha.training.packed_rows import Rows, StoredRows
from mha.training.packing import Ints
from mha.training.settings import TrainingError, TrainingSettings, check_unchanged
from mha.training.vocabulary import Vocabulary

EVALUATION_SEED = 2**63
"Of the masks of held-out rows: the same in every training, and of no training's own."


@dataclass(frozen=True)
class Task:
    """What is trained on what."""

    encoder: EncoderConfig
    vocabulary: Vocabulary
    rows: Rows
    held_out: StoredRows | None = None
    "Rows for the evaluation loss; None for no evaluation."
    start: Encoder | None = None
    "Whose weights training begins with (fine-tuning); fresh ones where there is none, and where it has no such head."

    arcs: GoldArcs | None = None
    "Gold arcs of the training texts, for settings that have a term for attention on them."

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        shape, size, padding = self.encoder, self.vocabulary.size, self.vocabulary.special["[PAD]"]
        if (shape.vocab, shape.padding) != (size, padding):
            raise TrainingError(
                f"the encoder has {shape.vocab} pieces and padding {shape.padding}, "
                f"the tokenizer {size} pieces and padding {padding}: give the encoder the tokenizer's numbers"
            )
        if self.start is not None and self.start.config != shape:
            raise TrainingError("the encoder has another shape than the one whose weights training begins with")
        for rows in (self.rows, self.held_out):
            if rows is not None and rows.length > shape.positions:
                raise TrainingError(f"rows of {rows.length} pieces are too long for {shape.positions} positions")

    def recorded(self) -> dict[str, Any]:
        """Return what a checkpoint says of the task."""
        texts = {
            name: read.fingerprint if read else None
            for name, read in (("rows", self.rows), ("held_out", self.held_out), ("arcs", self.arcs))
        }
        shape = asdict(self.encoder) | {"pruned": [list(head) for head in self.encoder.pruned]}
        found = {"tokenizer": self.vocabulary.fingerprint, "encoder": shape, "texts": texts}
        return found if self.start is None else found | {"start": {"sha256": _fingerprint(self.start)}}

    def begin(self, encoder: Encoder) -> None:
        """Give a fresh encoder the weights that training begins with."""
        if self.start is None:
            return
        missing, unexpected = encoder.load_state_dict(self.start.state_dict(), strict=False)
        assert all(name.startswith("lm_head.") for name in missing), missing
        assert all(name.startswith("pooler.") for name in unexpected), unexpected

    def check(self, where: str, record: dict[str, Any], settings: TrainingSettings) -> None:
        """Raise CheckpointError where the checkpoint `where` with that record is one of another training."""
        now = self.recorded()
        if record["tokenizer"] != now["tokenizer"]:
            raise CheckpointError(
                f"{where} was trained with another tokenizer (sha256 {record['tokenizer'][:12]}) than the one given "
                f"now ({now['tokenizer'][:12]}): train under another name, or give the tokenizer back"
            )
        check_unchanged(where, "the setting", record["settings"], settings.recorded())
        check_unchanged(where, "the encoder's", record["encoder"], now["encoder"])
        check_unchanged(where, "the texts'", record["texts"], now["texts"])
        check_unchanged(where, "the first weights'", record.get("start", {}), now.get("start", {}))


def _fingerprint(encoder: Encoder) -> str:
    """Return the sha256 of the weights and their names."""
    digest = hashlib.sha256()
    for name, parameter in encoder.named_parameters():
        digest.update(name.encode() + parameter.detach().numpy().tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class StepBatches:
    """The data of one step: the parts of one process, and the counts of all processes."""

    parts: list[MaskedBatch]
    masked: int
    "Pieces to predict; 0 where all rows hold only unknown words."
    tokens: int
    "Pieces that are no padding."
    arcs: list[ArcBatch | None]
    "The gold arcs of each part; None where the loss of this step has no term for them."


def step_batches(
    task: Task, settings: TrainingSettings, start: int, rank: int, processes: int
) -> Iterator[StepBatches]:
    """Yield the batches of process `rank` for every step after `start`, to the last.

    Every process masks the rows of all, which takes a millisecond, so that what is masked, and how much of it there is,
    depends on no process and needs no communication.
    """
    size, parts = settings.divided(processes), settings.accumulation
    stream = task.rows.batches(settings.rows, start, settings.seed)
    for step, rows in zip(range(start + 1, settings.steps + 1), stream, strict=False):
        hidden = _asked(rows, task, settings.masking, settings.seed, step)
        places = [slice(at * size, (at + 1) * size) for at in range(rank * parts, (rank + 1) * parts)]
        arcs: list[ArcBatch | None] = [None] * parts
        if settings.arcs is not None and settings.arcs.counts(step):
            if task.arcs is None:
                raise TrainingError("the settings have a term for attention on arcs, but the task has no arcs")
            arcs = [*task.arcs.batches(rows, task.vocabulary, places)]
        own = [hidden.batch(place) for place in places]
        yield StepBatches(own, int(hidden.masked.sum()), int((hidden.blocks >= 0).sum()), arcs)


def evaluation_batches(task: Task, settings: TrainingSettings, rank: int, processes: int) -> list[MaskedBatch]:
    """Return the held-out batches of process `rank`: always the same, with the same masks.

    Rows that hold only unknown words have nothing to predict; a batch of such rows is left out.
    """
    if task.held_out is None:
        return []
    rows = np.asarray(task.held_out.rows[: settings.evaluation_rows])
    hidden = _asked(rows, task, _fixed(settings.masking), EVALUATION_SEED, 0)
    size = settings.divided(processes)
    batches = [hidden.batch(slice(at, at + size)) for at in range(0, len(rows), size)]
    return [batch for batch in batches if len(batch.gold)][rank::processes]


def _asked(rows: Ints, task: Task, masking: Masking, seed: int, step: int) -> MaskedRows:
    """Return what is to be predicted of rows: of a causal encoder the next pieces, else what is masked."""
    if task.encoder.causal:
        return next_rows(rows, task.vocabulary)
    return mask_rows(rows, task.vocabulary, masking, seed, step)


def _fixed(masking: Masking) -> Masking:
    """Return the masking of evaluations: the training's, but every chosen piece is hidden."""
    return replace(masking, hidden=1.0, random=0.0)
