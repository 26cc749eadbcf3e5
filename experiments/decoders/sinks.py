"""Attention sinks of decoders: heads that attend to the first token of a text, whatever it says (Gu et al. 2025)."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from mha import Encoder, record
from mha.encoder.masked_lm import MaskedBatch

SINK_AT = 0.3
"Mean attention to the first token above which a head has a sink in a text (Gu et al. 2025, section 3)."


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
