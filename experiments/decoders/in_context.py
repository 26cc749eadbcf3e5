"""In-context learning score: how much better a decoder predicts late in a text than early in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from experiments.config.train_config import TextsSection
from experiments.decoders.ablated import Head, ablated
from experiments.training.texts import open_texts
from mha import Encoder, load_model
from mha.encoder.masked_lm import MaskedBatch, masked_logits
from mha.training.masking import MaskedRows, next_rows
from mha.training.packing import pack
from mha.training.vocabulary import Vocabulary

BATCH = 24
"Rows that are read together."


def score_batches(texts: TextsSection, checkpoint: Path, length: int) -> list[MaskedBatch]:
    """Return texts cut into rows of `length` pieces, as the tokenizer of a checkpoint has them, for the score.

    Of a piece whose next one is special nothing is predicted: [SEP] ends every full row, so that its place gives it
    away. Rows are left out that hold several texts, or one that ends before their last eighth.
    """
    vocabulary = Vocabulary(load_model(str(checkpoint)).tokenizer)
    special = [*vocabulary.special.values()]
    rows = np.stack([*pack(vocabulary.encode(open_texts(texts)), vocabulary, length)])
    asked = next_rows(rows, vocabulary)
    np.copyto(asked.masked, False, where=np.isin(asked.gold, special))
    whole = np.flatnonzero((asked.blocks <= 0).all(1) & ((asked.blocks == 0).sum(1) >= 7 * length / 8))
    asked = MaskedRows(
        asked.pieces[whole], asked.places[whole], asked.blocks[whole], asked.masked[whole], asked.gold[whole]
    )
    return [asked.batch(slice(at, at + BATCH)) for at in range(0, len(whole), BATCH)]


@torch.inference_mode()
def in_context_score(encoder: Encoder, batches: Sequence[MaskedBatch], without: Sequence[Head] = ()) -> float:
    """Return the mean loss at late pieces minus that at early ones, in nats; below 0 the text so far helps.

    Early is the second eighth of a row, late its last quarter (Olsson et al. 2022 take the 50th and the 500th of 512
    pieces). The outputs of the heads `without` are replaced by their means. NaN where there is no such piece.
    """
    totals, counts = torch.zeros(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    for batch in batches:
        length = batch.pieces.shape[1]
        with ablated(encoder, without):
            logits = masked_logits(encoder, batch)
        losses = torch.nn.functional.cross_entropy(logits, batch.gold, reduction="none").double()
        places = batch.places.flatten().index_select(0, batch.masked)
        for number, (start, end) in enumerate(((length // 8, length // 4), (3 * length // 4, length))):
            chosen = (places >= start) & (places < end)
            totals[number] += losses[chosen].sum()
            counts[number] += chosen.sum()
    early, late = (totals / counts).tolist()
    return float(late - early)
