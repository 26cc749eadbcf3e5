"""Shards of a run that workers do.

A shard is a control on the sample of one scope, or a checkpoint of a training.
"""

from __future__ import annotations

import pickle
import platform
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from experiments.config.config import Config, flat_keys
from experiments.inputs.controls import Control
from experiments.inputs.corpora import open_corpora
from experiments.inputs.open_model import open_model
from experiments.record.job import packed, unpacked
from experiments.record.provenance import Start, device_name, installed, machine_record, uncommitted_changes
from experiments.record.run_record import Journal
from experiments.run.behaviours import grader
from experiments.run.cluster import ClusterError, DaskWorkers, WorkerCall, one_call, open_cluster
from experiments.run.config import OF_PROBES, define_probes
from experiments.run.context import RunContext
from experiments.run.scope import Part, Scored
from experiments.training.checkpoint_reader import CheckpointAnswers, CheckpointReader
from experiments.training.checkpoints import Checkpoint
from mha.models.folders import weights_sha256
from mha.parallel import threads
from probes import get_probe
from probes.maps.relation_attention import RelationAttention
from probes.pairs.corpora import open_pairs
from probes.scoring.tally import Pooled
from probes.words.own import OwnProbe
from reports.progress import silent
from reports.run.record import RunRecord


@dataclass(frozen=True)
class Shards:
    """The shards of one run, and the workers that do them."""

    workers: DaskWorkers
    job: bytes
    "What all shards share, pickled; a worker opens it once."
    begun: list[str] = field(default_factory=list)
    "What workers were asked for."

    def begin_control(self, scope: str, name: str) -> WorkerCall[ControlSums]:
        """Have the control of that name read the sample of a scope."""
        return self._begin(f"control: {name}", read_control, scope, name)

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
    of_files = {f"{OF_PROBES}{Path(file).stem}" for file in config.probes.files or ()}
    known = [(name, get_probe(name)) for name in config.probes.names]
    own = [name for name, probe in known if isinstance(probe, OwnProbe) and probe.module not in of_files]
    if own:
        raise ClusterError(f"workers cannot know the probe {own[0]!r}: put it into a file of [probes] files")
    with open_cluster(config.cluster) as workers:
        shared = pickle.dumps((config, _inputs(config, record), workers.threads))
        yield Shards(workers, pickle.dumps((_code(), shared)))


@dataclass(frozen=True)
class ShardedPart(Part):
    """The part of a run whose controls are read by workers, while the model of the run reads the same texts here."""

    shards: Shards = field(kw_only=True)
    calls: dict[str, WorkerCall[ControlSums]] = field(default_factory=dict)
    "By name, the controls that workers read."

    def score(self) -> Scored:
        """Return the scores of all heads, see `Part.score`; workers begin before the run's model does."""
        for one in self.controls:
            if not self.run.job.has(self.part_name(one)):
                self.calls[one.name] = self.shards.begin_control(self.scope, one.name)
        return super().score()

    def each_control(self, read: Callable[[Control], Pooled], models: Sequence[Control]) -> list[Pooled]:
        """Return the sums of all models, which are kept as they come; this thread waits, which Ctrl-C interrupts."""
        found: dict[str, Pooled] = {}
        while left := [one for one in models if one.name not in found]:
            ended = [one for one in left if one.name not in self.calls or self.calls[one.name].done()]
            found |= {one.name: read(one) for one in ended or left[:1]}
        return [found[one.name] for one in models]

    def control_heads(self, one: Control, observers: Sequence[RelationAttention]) -> Pooled:
        """Return the sums of a model's heads when its worker has them; `observers` get what it has observed."""
        found = self.calls[one.name].result()
        self.run.progress(
            f"controls ({self.scope}s)", sum(call.done() for call in self.calls.values()), len(self.calls)
        )
        for observer, arrays in zip(observers, found.observed, strict=True):
            observer.take(arrays)
        return unpacked(found.heads)


@dataclass(frozen=True)
class ControlSums:
    """What a worker has measured of a control."""

    heads: Mapping[str, Any]
    "Its sums, packed."
    observed: Sequence[Mapping[str, Any]]
    "What the observers of its maps have `saved`."


def read_control(job: bytes, scope: str, name: str) -> ControlSums:
    """Have the control of that name read the sample of a scope."""
    with _job(job) as opened:
        part = opened.parts.setdefault(scope, Part(opened.run, scope))
        control = next(one for one in part.controls if one.name == name)
        observers = part.control_observers(control)
        heads = part.control_heads(control, observers)
    return ControlSums(packed(heads), [one.saved() for one in observers])


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
    parts: dict[str, Part] = field(default_factory=dict)
    "By scope, those that were asked for."

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


def _opened(job: bytes) -> _Job:
    """Open model and corpora of a run.

    Raises ClusterError, which says in what they differ, where this worker has another version, model or corpus.
    """
    code, shared = pickle.loads(job)
    _refuse_differing(code, _loaded())
    config, inputs, number = pickle.loads(shared)
    try:
        define_probes([Path(name) for name in config.probes.files or ()])
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
        "model": {name: of for name, of in asdict(record.model).items() if "sha256" in name},
        "corpora": {split: corpus.fingerprint for split, corpus in record.corpora.items()},
        "files": record.files or {},
        "frequencies": None if record.frequencies is None else record.frequencies.sha256,
    }
