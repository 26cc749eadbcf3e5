"""In-context learning score: how much better a decoder predicts late in a text than early in it."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from experiments.config.train_config import TrainSection
from experiments.training.texts import open_material, open_rows, open_vocabulary
from experiments.training.train import encoder_config, training_settings
from mha import Ablate, Encoder, intervene
from mha.encoder.masked_lm import MaskedBatch, masked_logits
from mha.training.task import Task, evaluation_batches


def held_out_batches(train: TrainSection) -> list[MaskedBatch]:
    """Return the held-out batches on which a training is evaluated."""
    material = open_material(train)
    vocabulary = open_vocabulary(train, material)
    rows, held = open_rows(train, material, vocabulary)
    task = Task(encoder_config(train, vocabulary), vocabulary, rows, held)
    return evaluation_batches(task, training_settings(train, rows, 0), 0, 1)


@torch.inference_mode()
def in_context_score(
    encoder: Encoder, batches: Sequence[MaskedBatch], without: Sequence[tuple[int, int]] = ()
) -> float:
    """Return the mean loss at late pieces minus that at early ones, in nats; below 0 the text so far helps.

    Early is the second eighth of a row, late its last quarter (Olsson et al. 2022 take the 50th and the 500th of 512
    pieces); only texts that fill a row have late pieces. The outputs of the heads `without` are replaced by their
    means. NaN where no text is that long.
    """
    length = batches[0].pieces.shape[1]
    totals, counts = torch.zeros(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    changes = [Ablate(layer, head, how="mean") for layer, head in without]
    for batch in batches:
        if changes:
            with intervene(encoder, *changes):
                logits = masked_logits(encoder, batch)
        else:
            logits = masked_logits(encoder, batch)
        losses = torch.nn.functional.cross_entropy(logits, batch.gold, reduction="none").double()
        places = batch.places.flatten().index_select(0, batch.masked)
        for number, (start, end) in enumerate(((length // 8, length // 4), (3 * length // 4, length))):
            chosen = (places >= start) & (places < end)
            totals[number] += losses[chosen].sum()
            counts[number] += chosen.sum()
    early, late = (totals / counts).tolist()
    return float(late - early)
