"""How fast training is beside the Trainer of `transformers`, and that it learns the same: `make bench-train`.

Tokens a second are medians over alternating rounds in one process, on random pieces; then both are trained on the
embedded grammar, from the same weights on the same batches and masks, and their evaluation losses compared. All goes
into a record under docs/, from which docs/cost.md is made. A goal that is missed ends with exit code 1.

The same training is done twice: our step, and the Trainer of `transformers`. Both start from the same weights and see
the same pieces, masks and order, with the same optimiser, weight decay, clipping and learning rate; products are made
in bfloat16 where the processor has it (weights stay float32). Only dropout's noise differs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor
from transformers.utils import logging

from experiments.bench.records import end, goal, goal_table, machine, new_record, paragraphs
from experiments.statements.trained import held_out_loss
from mha import Encoder, EncoderConfig, export_encoder, load_encoder
from mha.device import autocast, device_of, uses_bf16
from mha.encoder.masked_lm import MaskedBatch, masked_lm_loss
from mha.foreign import attention_setting
from probes.grammar import generate
from reports.statements.statement import JudgedStatement

SHAPE = EncoderConfig(vocab=8192, layers=4, heads=8, model=256, feed_forward=1024, positions=128)
LENGTH, ROWS, RATE = 128, 64, 0.2
"Pieces a row, rows a batch, and the share of pieces that is masked."
MASK, FIRST = 4, 5
"Ids of [MASK] and of the first ordinary piece."
LOSS_ROWS, EVALUATED = 16, 16
"Rows a batch where losses are compared, and the number of batches on which they are."
PRODUCT = 4096
"Rows and columns of the matrices whose product is the measure of the processor."
ATTENTION = ("eager", "sdpa")
"The attention settings of `transformers`; the faster one counts."

LEARNING_RATE, WEIGHT_DECAY, CLIP = 5e-4, 0.01, 1.0

CPU: Final = torch.device("cpu")
BF16: Final = uses_bf16("auto", CPU)
"Whether both sides make products in bfloat16."

RECORD: Final = Path("docs") / "training-cost.json"
PAGES: Final = (Path("docs") / "cost.md",)
OURS: Final = "headscope"
DEFAULTS: Final = {"rounds": 5, "steps": 3, "loss_steps": 200, "seeds": 3}
"Options of the command; the record is kept where none is less."


def main() -> None:
    """Measure, print, and write record and page; exit with 1 where a goal is missed.

    Record and page stay as they are where less was measured than they have.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, help="alternating rounds (default 5)")
    parser.add_argument("--steps", type=int, help="timed steps a round, after one that warms up (default 3)")
    parser.add_argument("--loss-steps", type=int, help="steps of 16 rows before losses are compared (default 200)")
    parser.add_argument("--seeds", type=int, help="seeds whose losses are compared (default 3)")
    parser.set_defaults(**DEFAULTS)
    options = parser.parse_args()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    torch.set_flush_denormal(True)  # before any thread is started, so that all inherit it, on both sides
    record = new_record("make bench-train") | {"threads": torch.get_num_threads(), "torch": torch.__version__}
    record |= {"precision": "bf16" if BF16 else "fp32", "rounds": options.rounds, "loss steps": options.loss_steps}
    record |= {"layers": SHAPE.layers, "d_model": SHAPE.model, "rows": ROWS, "pieces": LENGTH}
    record |= {"loss rows": LOSS_ROWS, "product": PRODUCT}
    record |= time_all(SHAPE, ROWS, options.rounds, options.steps)
    record["losses"] = compare_losses(SHAPE, options.seeds, options.loss_steps)
    kept = all(vars(options)[name] >= least for name, least in DEFAULTS.items())
    end(record, RECORD, PAGES, blocks(record), goals(record), kept=kept)


def random_batches(config: EncoderConfig, rows: int, count: int, seed: int) -> list[MaskedBatch]:
    """Return batches of random pieces, each row one document without padding."""
    generator = torch.Generator().manual_seed(seed)
    pieces = torch.randint(FIRST, config.vocab, (count, rows, LENGTH), generator=generator)
    return [masked_batch(block, generator) for block in pieces]


def masked_batch(pieces: Tensor, generator: torch.Generator) -> MaskedBatch:
    """Hide a share of RATE of the pieces [batch, length]: always as [MASK], in the same number in each batch."""
    places = torch.arange(pieces.shape[1]).expand_as(pieces).contiguous()
    masked = torch.randperm(pieces.numel(), generator=generator)[: round(RATE * pieces.numel())].sort().values
    hidden = pieces.flatten().index_fill(0, masked, MASK).view_as(pieces)
    return MaskedBatch(hidden, places, torch.zeros_like(pieces), masked, pieces.flatten()[masked])


def grammar_batches(rows: int, count: int, seed: int) -> list[MaskedBatch]:
    """Return batches of documents of the embedded grammar, one after the other; a word is a piece."""
    wanted = count * rows * LENGTH
    words: list[str] = []
    for document in generate(wanted, seed):  # more than enough, as they are made one at a time
        words += [*document.words, "[SEP]"]
        if len(words) >= wanted:
            break
    ids = {word: FIRST + number for number, word in enumerate(sorted(set(words)))}
    pieces = torch.tensor([ids[word] for word in words[:wanted]]).view(count, rows, LENGTH)
    generator = torch.Generator().manual_seed(seed)
    return [masked_batch(block, generator) for block in pieces]


def initialised(config: EncoderConfig, seed: int) -> Encoder:
    """Return an encoder with a masked-LM head and the weights of a seed."""
    torch.manual_seed(seed)
    return Encoder(config, lm_head=True)


def time_all(config: EncoderConfig, rows: int, rounds: int, steps: int) -> dict[str, Any]:
    """Return the seconds of every timed step of every contestant and of a matrix product, in turn."""
    seconds: dict[str, list[list[float]]] = {name: [] for name in (OURS, *ATTENTION)}
    products: list[float] = []
    for number in range(rounds):
        batches = random_batches(config, rows, steps + 1, seed=number)
        seconds[OURS].append(train_ours(initialised(config, number), batches, seed=number)[1:])
        for attention in ATTENTION:
            seconds[attention].append(train_theirs(initialised(config, number), batches, number, attention)[1][1:])
        products.append(product_seconds())
    return {
        "seconds": seconds,
        "product_seconds": products,
        "tokens": rows * LENGTH,
        "flops": flops(config, rows * LENGTH, round(RATE * rows * LENGTH)),
    }


def product_seconds() -> float:
    """Return the best of three times of a product of 4,096 x 4,096 matrices, in the precision of the training."""
    left, right = (torch.ones(PRODUCT, PRODUCT, dtype=torch.bfloat16 if BF16 else torch.float32) for _ in range(2))
    times = []
    for _ in range(4):
        start = time.perf_counter()
        left @ right
        times.append(time.perf_counter() - start)
    return min(times[1:])


def flops(config: EncoderConfig, tokens: int, masked: int) -> int:
    """Multiplications and additions of the matrix products that our step makes, forward and twice that backward.

    Output projection and feed-forward of the last layer and the head are made for masked pieces alone.
    """
    after = config.model**2 + 2 * config.model * config.feed_forward
    attention = config.layers * tokens * (3 * config.model**2 + 2 * LENGTH * config.model)
    layers = attention + after * ((config.layers - 1) * tokens + masked)
    head = masked * (config.model**2 + config.model * config.vocab)
    return 3 * 2 * (layers + head)


def compare_losses(config: EncoderConfig, seeds: int, steps: int) -> list[dict[str, float]]:
    """Train both sides on the embedded grammar; return their evaluation losses for every seed."""
    losses = []
    for seed in range(seeds):
        batches = grammar_batches(LOSS_ROWS, steps + EVALUATED, seed)
        training, held_out = batches[:steps], batches[steps:]
        ours, start = initialised(config, seed), initialised(config, seed)
        before = held_out_loss(start, held_out)
        train_ours(ours, training, seed)
        theirs, _ = train_theirs(start, training, seed, ATTENTION[0])
        pair = {OURS: held_out_loss(ours, held_out), "transformers": held_out_loss(theirs, held_out)}
        losses.append({"seed": seed, "untrained": before, **pair})
    return losses


def goals(record: Mapping[str, Any]) -> list[JudgedStatement]:
    """Return the goals of a record."""
    medians = _medians(record)
    reached = record["flops"] / medians[OURS] / _peak(record)
    gap = statistics.mean(loss[OURS] - loss["transformers"] for loss in record["losses"])
    faster = min(medians[name] for name in ATTENTION)
    return [
        goal("tokens a second, over the Trainer's better setting", faster / medians[OURS], above=3.5),
        goal("share of the peak of products", reached, above=0.7),
        goal("difference of the mean evaluation losses, nats", abs(gap), below=0.02),
    ]


def blocks(record: Mapping[str, Any]) -> dict[str, str]:
    """Return what the page says of a record, by the names of the marks."""
    intro = (
        f"On {machine(record)}, {record['threads']} threads, products in {record['precision']}; {record['layers']} "
        f"layers, d_model {record['d_model']}, {record['rows']} rows of {record['pieces']} pieces, medians of "
        f"{record['rounds']} alternating rounds. The peak, {_peak(record) / 1e12:.2f} TFLOP/s, is that of products of "
        f"{record['product']:,} x {record['product']:,} matrices."
    )
    names = {OURS: OURS, **{name: f"Trainer, {name}" for name in ATTENTION}}
    speeds = ["| | tokens a second |", "| --- | ---: |"]
    speeds += [f"| {names[name]} | {record['tokens'] / median:,.0f} |" for name, median in _medians(record).items()]
    after = f"evaluation loss in nats after {record['loss steps']} equal steps of {record['loss rows']} rows"
    losses = [f"| {after} | untrained | {OURS} | Trainer |", "| --- | ---: | ---: | ---: |"]
    for loss in record["losses"]:
        of_each = " | ".join(f"{loss[name]:.4f}" for name in ("untrained", OURS, "transformers"))
        losses.append(f"| seed {loss['seed']} | {of_each} |")
    return {"training cost": paragraphs([intro], speeds, goal_table(goals(record)), losses)}


def _medians(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the median seconds of a step of every contestant."""
    return {
        name: statistics.median(statistics.median(steps) for steps in rounds)
        for name, rounds in record["seconds"].items()
    }


def _peak(record: Mapping[str, Any]) -> float:
    return float(2 * record["product"] ** 3 / statistics.median(record["product_seconds"]))


def train_ours(encoder: Encoder, batches: Sequence[MaskedBatch], seed: int) -> list[float]:
    """Train `encoder`, where it lies, on the batches, a step each; return the seconds of every step."""
    device = device_of(encoder)
    torch.manual_seed(seed)
    matrices = [parameter for parameter in encoder.parameters() if parameter.ndim > 1]
    vectors = [parameter for parameter in encoder.parameters() if parameter.ndim == 1]
    groups = [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=LEARNING_RATE, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / len(batches))
    encoder.train()
    ends = [time.perf_counter()]
    for batch in batches:
        with autocast(uses_bf16("auto", device), device):
            loss = masked_lm_loss(encoder, batch.to(device))
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), CLIP)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if device.type == "cuda":
            torch.cuda.synchronize()
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


if __name__ == "__main__":
    main()
