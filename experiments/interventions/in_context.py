"""What a decoder makes of whole texts: its in-context learning score, and its attention sinks (Gu et al. 2025)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from experiments.config.train_config import TextsSection
from experiments.interventions.repeated_pieces import Head, ablated
from experiments.training.texts import open_texts
from mha import Encoder, record
from mha.encoder.masked_lm import MaskedBatch, masked_logits
from mha.training.masking import MaskedRows, next_rows
from mha.training.packing import pack
from mha.training.vocabulary import Vocabulary

BATCH = 24
"Rows that are read together."

SINK_AT = 0.3
"Mean attention to the first token above which a head has a sink in a text (Gu et al. 2025, section 3)."


def score_batches(texts: TextsSection, vocabulary: Vocabulary, length: int) -> list[MaskedBatch]:
    """Return texts cut into rows of `length` pieces, for the score.

    Of a piece whose next one is special nothing is predicted: [SEP] ends every full row, so that its place gives it
    away. Rows are left out that hold several texts, or one that ends before their last eighth.
    """
    special = [*vocabulary.special.values()]
    rows = np.stack([*pack(vocabulary.encode(open_texts(texts)), vocabulary, length)])
    asked = next_rows(rows, vocabulary)
    np.copyto(asked.masked, False, where=np.isin(asked.gold, special))
    whole = np.flatnonzero((asked.blocks <= 0).all(1) & ((asked.blocks == 0).sum(1) >= 7 * length / 8))
    asked = MaskedRows(
        asked.pieces[whole], asked.places[whole], asked.blocks[whole], asked.masked[whole], asked.gold[whole]
    )
    return [asked.batch(slice(at, at + BATCH)) for at in range(0, len(whole), BATCH)]


@dataclass(frozen=True)
class EarlyLate:
    """Mean losses in nats, at pieces early and late in texts; NaN where there are none."""

    early: float
    late: float

    @property
    def score(self) -> float:
        """The in-context learning score; below 0 the text so far helps."""
        return self.late - self.early


@torch.inference_mode()
def early_and_late(encoder: Encoder, batches: Sequence[MaskedBatch], without: Sequence[Head] = ()) -> EarlyLate:
    """Return the losses in the second eighth of rows and in their last quarter.

    Olsson et al. 2022 take the 50th and the 500th of 512 pieces. The outputs of the heads `without` are replaced by
    their means.
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
    return EarlyLate(*(totals / counts).tolist())


@torch.inference_mode()
def sink_share(encoder: Encoder, batches: Sequence[MaskedBatch]) -> float:
    """Return the share of heads and texts in which the first token, [CLS], is a sink; in [0, 1].

    Texts are those that fill a row; attention is the mean over all tokens after the first. NaN where none fills one.
    """
    sinks: list[torch.Tensor] = []
    for batch in batches:
        whole = (batch.blocks == 0).all(1)
        if whole.any():
            with record(encoder) as seen:
                encoder(batch.pieces[whole])
            sinks.append(
                torch.stack([pattern[:, :, 1:, 0].mean(-1) > SINK_AT for pattern in seen["pattern"]]).flatten()
            )
    return float(torch.cat(sinks).double().mean()) if sinks else float("nan")
