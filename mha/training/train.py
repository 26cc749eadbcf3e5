"""Masked-LM training from scratch, on `accelerate`: one loop for a CPU, a GPU, or many of either."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mha.causal.fixed_patterns import fixed_heads
from mha.device import autocast, uses_bf16
from mha.encoder.encoder import Encoder
from mha.encoder.masked_lm import masked_lm_loss
from mha.encoder.weights import export_encoder
from mha.files import STATE
from mha.foreign import reset_accelerator
from mha.parallel import leave_group_at_exit, prefetched
from mha.training.checkpoints import (
    CheckpointError,
    checkpoint_path,
    find_resumable,
    last_good,
    list_checkpoints,
    prune,
    read_record,
    read_state,
    write_checkpoint,
)
from mha.training.log import LOG, TrainingLog, check_trackers, truncate_log
from mha.training.objective import MaskedLMObjective
from mha.training.optimization import (
    learning_rate,
    parameter_groups,
    restore_state,
    training_arithmetic,
    training_state,
)
from mha.training.settings import TrainingError, TrainingSettings, check_threads
from mha.training.task import StepBatches, Task, evaluation_batches, step_batches
from mha.training.vocabulary import save_tokenizer


@dataclass(frozen=True)
class TrainingProgress:
    """How far a training is."""

    step: int
    steps: int
    loss: float
    "Mean in nats since the last report."
    tokens: int
    "Pieces read so far, padding not counted."
    tokens_per_second: float
    "Since the last report, without evaluation and checkpoints."


OnProgress = Callable[[TrainingProgress], None]


def train(
    folder: Path,
    task: Task,
    settings: TrainingSettings,
    *,
    resume: bool = False,
    on_progress: OnProgress | None = None,
) -> Path:
    """Train an encoder and return its last checkpoint, `folder`/checkpoints/step-<last>.

    With `resume` a training in `folder` goes on from its last whole checkpoint and then has the losses, bit for bit on
    a CPU with as many threads, that it would have had; with another number of them it goes on only where `settings` has
    that number. A finished one is left as it is. Raises TrainingError where the loss is no number any more, and
    CheckpointError where a checkpoint cannot be written, or where training would go on with another tokenizer, other
    texts or settings.
    """
    from accelerate.state import PartialState

    found = list_checkpoints(folder)
    if found and not resume:
        raise TrainingError(
            f"{folder} holds a training of {max(found)} steps; --resume goes on, or choose another name"
        )
    if settings.steps in found:
        task.check(str(found[settings.steps]), read_record(found[settings.steps]), settings)
        if PartialState().is_main_process:  # a kill may have come between the last checkpoint and this
            prune(folder, settings.schedule.kept(settings.steps), settings.keep, settings.states)
        return found[settings.steps]
    if found and find_resumable(folder) is None:
        raise CheckpointError(f"{folder}: no checkpoint has the {STATE} that going on needs")
    with training_arithmetic(settings.threads):
        last = _Training(folder, task, settings).run(on_progress)
    if PartialState().num_processes > 1:
        leave_group_at_exit()
    return last


class _Training:
    """A training at work, begun or taken up where its last checkpoint is."""

    def __init__(self, folder: Path, task: Task, settings: TrainingSettings) -> None:
        from accelerate import Accelerator

        self.folder, self.task, self.settings = folder, task, settings
        check_trackers(settings.trackers)
        reset_accelerator()  # of another training in this process
        self.accelerator = Accelerator(
            mixed_precision="no", log_with=list(settings.trackers) or None, project_dir=str(folder)
        )
        self.rank, self.processes = self.accelerator.process_index, self.accelerator.num_processes
        self.bf16 = uses_bf16(settings.precision, self.accelerator.device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            self.encoder = Encoder(task.encoder, lm_head=True)
        task.begin(self.encoder)
        self.model = self.accelerator.prepare(MaskedLMObjective(self.encoder, settings.fixed))
        self.parameters = [*self.encoder.parameters()]
        self.optimizer = torch.optim.AdamW(
            parameter_groups(self.encoder, settings.weight_decay),
            betas=(settings.beta1, settings.beta2),
            eps=settings.epsilon,
            fused=True,
        )
        self.step, self.tokens = 0, 0
        self.loss: float | None = None
        self.evaluation_loss: float | None = None
        self.pending: list[Tensor] = []
        self.resumed = find_resumable(folder)
        if self.resumed is not None:
            self._take_up(self.resumed)
        self.accelerator.wait_for_everyone()  # else one could find the first checkpoint that another has written

    def _take_up(self, checkpoint: Path) -> None:
        record = read_record(checkpoint)
        self.task.check(str(checkpoint), record, self.settings)
        if record["bf16"] != self.bf16:
            before = "bf16" if record["bf16"] else "fp32"
            raise TrainingError(f"{checkpoint} was trained in {before}, which 'auto' is not here: set precision")
        if self.accelerator.device.type == "cpu":
            check_threads(str(checkpoint), record["threads"], torch.get_num_threads(), self.settings)
        restore_state(self.encoder, self.optimizer, read_state(checkpoint))
        self.step, self.tokens = record["step"], record["tokens"]
        self.loss, self.evaluation_loss = record["loss"], record["evaluation_loss"]

    def run(self, on_progress: OnProgress | None) -> Path:
        """Train until the last step."""
        settings, main = self.settings, self.accelerator.is_main_process
        last = checkpoint_path(self.folder, settings.steps)
        self.on_progress = on_progress
        self.kept = settings.schedule.kept(settings.steps)
        self.written = settings.schedule.steps(settings.steps)
        self.held_out = evaluation_batches(self.task, settings, self.rank, self.processes)
        self.log = self._open_log()
        if settings.trackers:
            self.accelerator.init_trackers("trackers")
        batches = step_batches(self.task, settings, self.step, self.rank, self.processes)
        devices = [self.accelerator.device] if self.accelerator.device.type == "cuda" else []
        try:
            with torch.random.fork_rng(devices=devices), prefetched(batches) as ahead:
                if self.resumed is None:
                    self._look()
                self.clock, self.reported = time.perf_counter(), self.tokens
                for batch in ahead:
                    self._take_step(batch)
                    self._look()
        finally:
            self.log.close()
            for tracker in self.accelerator.trackers if main else ():
                tracker.finish()
        return last

    def _open_log(self) -> TrainingLog:
        path, main = self.folder / LOG, self.accelerator.is_main_process
        if main:
            self.folder.mkdir(parents=True, exist_ok=True)
            truncate_log(path, self.step if self.resumed else -1)
        log = TrainingLog(path, writes=main)
        size = sum(parameter.numel() for parameter in self.parameters)
        device, threads = str(self.accelerator.device), torch.get_num_threads()
        began = {"device": device, "processes": self.processes, "threads": threads, "bf16": self.bf16}
        if self.task.arcs is not None:
            began["ambiguous_arcs"] = self.task.arcs.ambiguous
        log.write("resume" if self.resumed else "start", self.step, parameters=size, **began)
        return log

    def _take_step(self, batch: StepBatches) -> None:
        settings, step = self.settings, self.step + 1
        rate = learning_rate(
            step,
            steps=settings.steps,
            peak=settings.learning_rate,
            warmup=settings.warmup,
            decay=settings.decay,
            floor=settings.floor,
        )
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.model.train()
        device, weight = self.accelerator.device, 0.0 if settings.arcs is None else settings.arcs.weight
        total, attention = torch.zeros((), device=device), torch.zeros((), device=device)
        for number, (part, arcs) in enumerate(zip(batch.parts, batch.arcs, strict=True)):
            torch.manual_seed(_dropout_seed(settings.seed, step, self.rank, number))
            waits = number + 1 < len(batch.parts)
            with self.accelerator.no_sync(self.model) if waits else nullcontext():
                with autocast(self.bf16, device):
                    loss, on_arcs = self.model(part.to(device), None if arcs is None else arcs.to(device))
                # gradients are averaged over processes: so every piece counts the same, whatever its part
                loss = loss * (len(part.gold) * self.processes / max(batch.masked, 1))
                on_arcs = on_arcs * self.processes
                (loss if arcs is None else loss - weight * on_arcs).backward()
            total += loss.detach()
            attention += on_arcs.detach()
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.pending.append(torch.stack([total, norm, attention]))
        self.step, self.tokens = step, self.tokens + batch.tokens

    def _look(self) -> None:
        """Report, evaluate and write a checkpoint where it is time for it."""
        settings, step = self.settings, self.step
        writes, keeps = step in self.written, step in self.kept
        evaluates = keeps or (step > 0 and step % settings.evaluate_every == 0)
        if self.pending and (writes or evaluates or step % settings.log_every == 0):
            self._report()  # first, so that nothing is evaluated or kept of weights that are no numbers
        if evaluates:
            self._evaluate()
        if writes:
            self._write()
        if writes or evaluates:
            self.clock = time.perf_counter()

    def _report(self) -> None:
        """Log the mean loss since the last report; stop where a loss or gradient is no number."""
        values = self.accelerator.reduce(torch.stack(self.pending), "mean").tolist()
        for number, (loss, norm, _) in enumerate(values, start=self.step - len(values) + 1):
            if not (math.isfinite(loss) and math.isfinite(norm)):
                self.log.write("stopped", number, why=f"loss {loss}, norm of gradients {norm}")
                raise TrainingError(
                    f"step {number}: the loss is {loss} and the norm of its gradients {norm}, so training stopped; "
                    f"{last_good(self.folder)}, but lower learning_rate (or precision fp32) under another name first"
                )
        now = time.perf_counter()
        self.loss = sum(loss for loss, _, _ in values) / len(values)
        pace = (self.tokens - self.reported) / max(now - self.clock, 1e-9)
        self.pending, self.clock, self.reported = [], now, self.tokens
        numbers = {"loss": self.loss, "tokens": self.tokens, "gradient_norm": values[-1][1]}
        numbers |= {"learning_rate": self.optimizer.param_groups[0]["lr"], "tokens_per_second": round(pace, 1)}
        if self.settings.arcs is not None and self.settings.arcs.counts(self.step):
            numbers["attention_on_arcs"] = values[-1][2]
        self.log.write("step", self.step, **numbers)
        self.accelerator.log(numbers, step=self.step)
        if self.on_progress is not None and self.accelerator.is_main_process:
            self.on_progress(TrainingProgress(self.step, self.settings.steps, self.loss, self.tokens, pace))

    @torch.no_grad()
    def _evaluate(self) -> None:
        if self.task.held_out is None:
            return
        self.encoder.eval()
        sums = torch.zeros(2)
        for batch in self.held_out:
            with autocast(self.bf16, self.accelerator.device), fixed_heads(self.encoder, self.settings.fixed):
                loss = masked_lm_loss(self.encoder, batch.to(self.accelerator.device))
            sums += torch.tensor([loss.item() * len(batch.gold), len(batch.gold)])
        loss, masked = self.accelerator.reduce(sums.to(self.accelerator.device), "sum").tolist()
        if not masked:
            return
        self.evaluation_loss = loss / masked
        self.log.write("evaluation", self.step, loss=self.evaluation_loss, tokens=self.tokens)
        self.accelerator.log({"evaluation_loss": self.evaluation_loss}, step=self.step)

    def _write(self) -> None:
        if self.accelerator.is_main_process:
            self.log.force()
            record: dict[str, Any] = {"tokens": self.tokens, "loss": self.loss, "evaluation_loss": self.evaluation_loss}
            record |= {"threads": torch.get_num_threads(), "bf16": self.bf16}
            record |= {"settings": self.settings.recorded(), **self.task.recorded()}
            state = training_state(self.encoder, self.optimizer)
            write_checkpoint(self.folder, self.step, self._fill, state, record)
            prune(self.folder, self.kept, self.settings.keep, self.settings.states)
        self.accelerator.wait_for_everyone()

    def _fill(self, folder: Path) -> None:
        export_encoder(self.encoder, folder)
        save_tokenizer(self.task.vocabulary.tokenizer, folder, self.task.encoder.positions)


def _dropout_seed(*numbers: int) -> int:
    """Return the seed of one backward pass, so that going on needs no state of a random generator."""
    return int.from_bytes(hashlib.blake2b(repr(numbers).encode(), digest_size=8).digest(), "little")
