"""Shards of a run that workers do.

A shard is a control on the texts of one scope, some of the permutations that are tried, or a checkpoint of a training.
"""

from __future__ import annotations

import pickle
import platform
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from experiments.config.config import Config, flat_keys
from experiments.inputs.controls import ModelControl, Strengths, model_controls
from experiments.inputs.corpora import open_corpora
from experiments.inputs.open_model import open_model
from experiments.record.job import packed, unpacked
from experiments.record.provenance import Start, device_name, installed, machine_record, uncommitted_changes
from experiments.record.run_record import Journal
from experiments.run.behaviours import grader
from experiments.run.cluster import ClusterError, DaskWorkers, WorkerCall, one_call, open_cluster
from experiments.run.context import RunContext
from experiments.run.scope import Part, Scored
from experiments.training.checkpoint_reader import CheckpointAnswers, CheckpointReader
from experiments.training.checkpoints import Checkpoint
from mha.models.folders import weights_sha256
from mha.parallel import threads
from probes import Probe
from probes.maps.relation_attention import RelationAttention
from probes.pairs.corpora import open_pairs
from probes.scoring.tally import Pooled
from reports.progress import silent
from reports.run.record import RunRecord

PERMUTATION_CALLS: Final = 8
"In how many calls permutations are tried at the most; each takes a sample of the texts of its own."


@dataclass(frozen=True)
class Shards:
    """The shards of one run, and the workers that do them."""

    workers: DaskWorkers
    job: bytes
    "What all shards share, pickled; a worker opens it once."
    begun: list[str] = field(default_factory=list)
    "What workers were asked for."

    def begin_control(self, scope: str, control: str, permutations: Sequence[int]) -> WorkerCall[ControlSums]:
        """Have a control read the texts of a scope."""
        return self._begin(f"control: {control}", read_control, scope, control, tuple(permutations))

    def permutation_strengths(self, scope: str, seeds: Sequence[int]) -> Strengths:
        """Return the hits of the best heads of permutations, in a few calls."""
        count = min(PERMUTATION_CALLS, len(seeds))
        calls = [
            self._begin("selecting permutations", try_permutations, scope, tuple(seeds[first::count]))
            for first in range(count)
        ]
        return {seed: hits for call in calls for seed, hits in call.result().items()}

    def read_checkpoints(self, checkpoints: Sequence[Checkpoint]) -> Iterator[CheckpointAnswers]:
        """Yield what the heads of each checkpoint do, in order; errors begin with its folder."""
        whole = [replace(one, folder=one.folder.resolve()) for one in checkpoints]
        calls = deque(
            self._begin(f"biographies, {one.folder}", read_checkpoint, one, weights_sha256(one.folder)) for one in whole
        )
        while calls:
            yield calls.popleft().result()

    @property
    def read_by(self) -> str | None:
        """The workers, for the record; None where they were asked for nothing."""
        return self.workers.described if self.begun else None

    def _begin(self, what: str, work: Callable[..., Any], *call: Any) -> WorkerCall[Any]:
        self.begun.append(what)
        return self.workers.begin(what, work, self.job, *call)


@contextmanager
def open_shards(config: Config, record: RunRecord) -> Iterator[Shards | None]:
    """Yield the shards of a run for the workers of its cluster; None without one.

    `config` names the model's folder, in the place of what it came from. Raises ClusterError, see `open_cluster`.
    """
    if not config.cluster.address:
        yield None
        return
    with open_cluster(config.cluster) as workers:
        shared = pickle.dumps((config, _inputs(config, record), workers.threads))
        yield Shards(workers, pickle.dumps((_code(), shared)))


@dataclass(frozen=True)
class ShardedPart(Part):
    """The part of a run whose controls are read by workers, while the model of the run reads the same texts here."""

    shards: Shards = field(kw_only=True)
    calls: dict[str, WorkerCall[ControlSums]] = field(default_factory=dict)
    "By name, the controls that workers read."

    def score(self, permutations: Callable[[], Sequence[int]]) -> Scored:
        """Return the scores of all heads, see `Part.score`; workers begin before the run's model does."""
        seeds = permutations()
        for control in model_controls(self.config, self.model, seeds):
            if control.probes(self.probes) and not self.run.job.has(self.part_name(control)):
                self.calls[control.name] = self.shards.begin_control(self.scope, control.name, seeds)
        return super().score(permutations)

    def each_control(
        self, read: Callable[[ModelControl], Sequence[Pooled]], controls: Sequence[ModelControl]
    ) -> list[Sequence[Pooled]]:
        """Return the sums of all controls, which are kept as they come; this thread waits, which Ctrl-C interrupts."""
        found: dict[str, Sequence[Pooled]] = {}
        while left := [control for control in controls if control.name not in found]:
            ended = [one for one in left if one.name not in self.calls or self.calls[one.name].done()]
            found |= {control.name: read(control) for control in ended or left[:1]}
        return [found[control.name] for control in controls]

    def control_heads(
        self, control: ModelControl, probes: Sequence[Probe], observers: Sequence[RelationAttention]
    ) -> Sequence[Pooled]:
        """Return the sums of a control's heads when its worker has them; `observers` get what it has observed."""
        found = self.calls[control.name].result()
        self.run.progress(
            f"controls ({self.scope}s)", sum(call.done() for call in self.calls.values()), len(self.calls)
        )
        for observer, arrays in zip(observers, found.observed, strict=True):
            observer.take(arrays)
        return [unpacked(arrays) for arrays in found.heads]

    def permutation_strengths(self, seeds: Sequence[int]) -> Strengths:
        """Return the hits of the best heads of permutations, which workers try."""
        return self.shards.permutation_strengths(self.scope, seeds)


@dataclass(frozen=True)
class ControlSums:
    """What a worker has measured of a control."""

    heads: Sequence[Mapping[str, Any]]
    "Its sums on both splits, packed."
    observed: Sequence[Mapping[str, Any]]
    "What the observers of its maps of the report split have `saved`."


def read_control(job: bytes, scope: str, name: str, permutations: Sequence[int]) -> ControlSums:
    """Have the control of that name read the texts of a scope."""
    with _part(job, scope) as part:
        control = next(one for one in model_controls(part.config, part.model, permutations) if one.name == name)
        observers = part.control_observers(control)
        heads = part.control_heads(control, control.probes(part.probes), observers)
    return ControlSums([packed(pooled) for pooled in heads], [one.saved() for one in observers])


def try_permutations(job: bytes, scope: str, seeds: Sequence[int]) -> Strengths:
    """Return the hits of the best heads of these permutations on a sample of the texts of a scope."""
    with _part(job, scope) as part:
        return part.permutation_strengths(seeds)


def read_checkpoint(job: bytes, checkpoint: Checkpoint, sha256: str) -> CheckpointAnswers:
    """Return what the heads of a checkpoint do; raises ClusterError where its weights have another sha256 here."""
    with _job(job) as opened:
        where = str(checkpoint.folder)
        _refuse_differing({where: sha256}, {where: weights_sha256(checkpoint.folder)})
        return opened.reader.read(checkpoint)


@dataclass(frozen=True)
class _Job:
    """A run that a worker has opened."""

    run: RunContext
    threads: int

    @cached_property
    def reader(self) -> CheckpointReader:
        """What reads checkpoints of its trainings."""
        config = self.run.config
        assert config.biographies is not None
        grade = grader(config, self.run.model)
        return CheckpointReader(config, config.biographies, self.run.corpora, grade)


_open: Final[dict[bytes, _Job]] = {}
"The job that a worker did last."


@contextmanager
def _job(job: bytes) -> Iterator[_Job]:
    """Yield a job, opened, to one shard at a time, which has the job's threads."""
    with one_call():
        if job not in _open:
            _open.clear()
            _open[job] = _opened(job)
        with threads(_open[job].threads):
            yield _open[job]


@contextmanager
def _part(job: bytes, scope: str) -> Iterator[Part]:
    """Yield the part of the run whose texts are of that scope."""
    with _job(job) as opened:
        yield Part(opened.run, scope)


def _opened(job: bytes) -> _Job:
    """Open model and corpora of a run.

    Raises ClusterError, which says in what they differ, where this worker has another version, model or corpus.
    """
    code, shared = pickle.loads(job)
    _refuse_differing(code, _loaded())
    config, inputs, number = pickle.loads(shared)
    try:
        opened, corpora = open_model(config, Path(), silent), open_corpora(config)
    except (OSError, ValueError) as error:
        told = " ".join(str(error).split())
        raise ClusterError(f"a worker on {platform.node()} cannot open the run: {told}") from None
    _refuse_differing(inputs, _inputs(config, machine_record(config, opened.model, corpora, Start())))
    return _Job(RunContext(config, opened, corpora, Journal(), silent), number)


def _refuse_differing(expected: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    there = dict(flat_keys(found))
    differing = [
        f"{key} ({there.get(key)}, not {value})" for key, value in flat_keys(expected) if there.get(key) != value
    ]
    if differing:
        raise ClusterError(
            f"a worker on {platform.node()} has another {', '.join(differing)}; make them the same and start it again"
        )


def _code() -> dict[str, Any]:
    return installed() | {"changes": uncommitted_changes()}


@cache
def _loaded() -> dict[str, Any]:
    """Return the code that this worker has loaded: that which was there when it was first asked."""
    return _code()


def _inputs(config: Config, record: RunRecord) -> dict[str, Any]:
    """Return what the numbers of shards depend on, but for the code and the weights of checkpoints."""
    section, pairs = config.behaviour, dict[str, str]()
    if config.biographies is not None:
        for name in section.corpora:
            pairs[name] = open_pairs(name, first=section.first, seed=section.seed).count()[1]
    return {
        "pairs": pairs,
        "device": record.device,
        "device name": device_name(record.device),
        "precision": dict(record.precision),
        "model": {"sha256": record.model.sha256, "tokenizer_sha256": record.model.tokenizer_sha256},
        "corpora": {split: corpus.fingerprint for split, corpus in record.corpora.items()},
        "frequencies": None if record.frequencies is None else record.frequencies.sha256,
    }
