"""The same masked-LM training twice, for `make bench-train`: our step, and the Trainer of `transformers`.

Both start from the same weights and see the same pieces, masks and order, with the same optimiser, weight decay,
clipping and learning rate; products are made in bfloat16 where the processor has it (weights stay float32). Only
dropout's noise differs.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from mha import Encoder, export_encoder, load_encoder
from mha.device import autocast, uses_bf16
from mha.encoder.masked_lm import MaskedBatch, masked_lm_loss
from mha.foreign import attention_setting

ATTENTION = ("eager", "sdpa")
"The attention settings of `transformers`; the faster one counts."

LEARNING_RATE, WEIGHT_DECAY, CLIP = 5e-4, 0.01, 1.0

CPU: Final = torch.device("cpu")
BF16: Final = uses_bf16("auto", CPU)
"Whether both sides make products in bfloat16."


def train_ours(encoder: Encoder, batches: Sequence[MaskedBatch], seed: int) -> list[float]:
    """Train `encoder` on the batches, a step each; return the seconds of every step."""
    torch.manual_seed(seed)
    matrices = [parameter for parameter in encoder.parameters() if parameter.ndim > 1]
    vectors = [parameter for parameter in encoder.parameters() if parameter.ndim == 1]
    groups = [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=LEARNING_RATE, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / len(batches))
    encoder.train()
    ends = [time.perf_counter()]
    for batch in batches:
        with autocast(BF16, CPU):
            loss = masked_lm_loss(encoder, batch)
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), CLIP)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        ends.append(time.perf_counter())
    return [end - start for start, end in pairwise(ends)]


def train_theirs(
    encoder: Encoder, batches: Sequence[MaskedBatch], seed: int, attention: str
) -> tuple[Encoder, list[float]]:
    """Train `BertForMaskedLM` from the weights of `encoder`; return what came out and the seconds of every step.

    Rows must hold one document each, without padding: then no attention mask is needed, which is the faster way.
    """
    from transformers import BertForMaskedLM, TrainerCallback

    ends: list[float] = []

    class Clock(TrainerCallback):
        """Notes when the first step begins and when each one ends."""

        def on_step_begin(self, *_: Any, **__: Any) -> None:
            if not ends:
                ends.append(time.perf_counter())

        def on_step_end(self, *_: Any, **__: Any) -> None:
            ends.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        export_encoder(encoder, Path(folder))
        model: Any = BertForMaskedLM.from_pretrained(folder, attn_implementation=attention)
        trainer = _trainer(model, batches, seed, folder)
        trainer.add_callback(Clock())
        trainer.train()
        if (ran := attention_setting(model.config)) != attention:
            raise RuntimeError(f"the Trainer ran {ran}, expected {attention}")
        model.save_pretrained(folder)
        trained = load_encoder(Path(folder))
    return trained, [end - start for start, end in pairwise(ends)]


def _trainer(model: Any, batches: Sequence[MaskedBatch], seed: int, folder: str) -> Any:
    """Return a Trainer that saves, evaluates and logs nothing and takes the rows in their order."""
    from transformers import PrinterCallback, Trainer, TrainingArguments

    rows = [row for batch in batches for row in zip(batch.pieces, labels(batch), strict=True)]

    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=len(batches[0].pieces),
        max_steps=len(batches),
        learning_rate=LEARNING_RATE,
        weight_decay=WEIGHT_DECAY,
        max_grad_norm=CLIP,
        lr_scheduler_type="linear",
        optim="adamw_torch_fused",
        bf16=BF16,
        use_cpu=True,
        seed=seed,
        train_sampling_strategy="sequential",
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=arguments, train_dataset=rows, data_collator=_collate)
    trainer.remove_callback(PrinterCallback)
    return trainer


def _collate(rows: Sequence[tuple[Tensor, Tensor]]) -> dict[str, Tensor]:
    pieces, gold = zip(*rows, strict=True)
    return {"input_ids": torch.stack(pieces), "labels": torch.stack(gold)}


def labels(batch: MaskedBatch) -> Tensor:
    """Return [batch, length]: the gold piece where one is masked, -100 elsewhere, as `transformers` wants it."""
    flat = torch.full((batch.pieces.numel(),), -100)
    return flat.index_copy_(0, batch.masked, batch.gold).view_as(batch.pieces)


@torch.no_grad()
def evaluation_loss(encoder: Encoder, batches: Sequence[MaskedBatch]) -> float:
    """Return the mean loss in nats a masked piece, in float32 and without dropout."""
    encoder.eval()
    masked = sum(len(batch.gold) for batch in batches)
    return sum(float(masked_lm_loss(encoder, batch)) * len(batch.gold) for batch in batches) / masked
