"""Shards of a run that workers do: a control on the texts of one scope, or some of the shuffles that are tried."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Final

from experiments.cluster.workers import ClusterError, DaskWorkers
from experiments.config.config import Config, flat_keys
from experiments.inputs.controls import ModelControl, Strengths, model_controls
from experiments.inputs.corpora import open_corpora
from experiments.inputs.open_model import open_model
from experiments.record.kept import packed, unpacked
from experiments.record.progress import Progress, silent
from experiments.record.provenance import Start, machine_record
from experiments.record.run_record import Journal
from experiments.studies.scope import Part, Scored
from experiments.studies.surroundings import Surroundings
from mha.parallel import threads
from probes import Probe, get_probe
from probes.maps.relation_attention import RelationAttention
from probes.scoring.observers import Observer
from probes.scoring.tally import Pooled
from reports.run.record import RunRecord

_ONE_SHARD: Final = Lock()
"Held by the shard that a worker is at: Dask gives a worker with several threads several calls."


@dataclass(frozen=True)
class Shards:
    """What the workers of a cluster do of one run."""

    workers: DaskWorkers
    job: bytes
    "Config, facts and number of threads, pickled: the same for all shards, so that a worker opens them once."

    @classmethod
    def of(cls, workers: DaskWorkers, config: Config, record: RunRecord) -> Shards:
        """Return those of a run; `config` names the model's folder, in the place of what it came from."""
        return cls(workers, pickle.dumps((config, _facts(record), workers.threads)))

    def begin(self, scope: str, control: str, shuffles: Sequence[int]) -> Callable[[], ControlSums]:
        """Have a control read the texts of a scope; return what waits for its sums."""
        return self.workers.begin(f"control: {control}", read_control, self.job, scope, control, tuple(shuffles))

    def strengths(self, scope: str, seeds: Sequence[int]) -> Strengths:
        """Return the hits of the best heads of shuffles, of which every worker tries a part."""
        parts = [tuple(seeds[first :: self.workers.count]) for first in range(min(self.workers.count, len(seeds)))]
        begun = [self.workers.begin("choosing shuffles", try_shuffles, self.job, scope, part) for part in parts]
        found = {seed: hits for wait in begun for seed, hits in wait().items()}
        return {seed: found[seed] for seed in seeds}


@dataclass(frozen=True)
class ShardedPart(Part):
    """The part of a run whose controls are read by workers, while the model of the run reads the same texts here."""

    shards: Shards = field(kw_only=True)
    begun: dict[str, Callable[[], ControlSums]] = field(default_factory=dict)
    "Name of a control -> what waits for its sums."

    def score(self, journal: Journal, progress: Progress, shuffles: Sequence[int]) -> Scored:
        """Return the scores of all heads, see `Part.score`; all controls begin before the run's model does."""
        for control in model_controls(self.config, self.model, shuffles):
            if control.probes(self.probes) and not self.kept.has(self.named(control)):
                self.begun[control.name] = self.shards.begin(self.scope, control.name, shuffles)
        return super().score(journal, progress, shuffles)

    def control_heads(
        self, control: ModelControl, probes: Sequence[Probe], progress: Progress, beside: Sequence[Observer]
    ) -> Sequence[Pooled]:
        """Return the sums of a control's heads when its worker has them; `beside` get what they would have seen."""
        found = self.begun.pop(control.name)()
        looked = [one for one in beside if isinstance(one, RelationAttention)]
        for one, arrays in zip(looked, found.beside, strict=True):
            one.take(arrays)
        return [unpacked(arrays) for arrays in found.heads]

    def shuffle_strengths(self, seeds: Sequence[int]) -> Strengths:
        """Return the hits of the best heads of shuffles, which workers try."""
        return self.shards.strengths(self.scope, seeds)


@dataclass(frozen=True)
class ControlSums:
    """What a worker has read of a control."""

    heads: Sequence[Mapping[str, Any]]
    "Its sums on both splits, packed."
    beside: Sequence[Mapping[str, Any]]
    "What its maps of the report split were looked at for, see `RelationAttention.saved`."


def read_control(job: bytes, scope: str, name: str, shuffles: Sequence[int]) -> ControlSums:
    """Have the control of that name read the texts of a scope."""
    with _part(job, scope) as part:
        control = next(one for one in model_controls(part.config, part.model, shuffles) if one.name == name)
        beside = part.seen_by(control)
        heads = part.control_heads(control, control.probes(part.probes), silent, beside)
    return ControlSums([packed(pooled) for pooled in heads], [one.saved() for one in beside])


def try_shuffles(job: bytes, scope: str, seeds: Sequence[int]) -> Strengths:
    """Return the hits of the best heads of these shuffles on a sample of the texts of a scope."""
    with _part(job, scope) as part:
        return part.shuffle_strengths(seeds)


@contextmanager
def _part(job: bytes, scope: str) -> Iterator[Part]:
    """Yield the part of the run whose texts are of that scope, to one shard at a time, which has the job's threads."""
    with _ONE_SHARD:
        run, number = _opened(job)
        probes = [probe for probe in map(get_probe, run.config.probes.names) if probe.scope == scope]
        with threads(number):
            yield Part(run.config, run.model, scope, probes, run.texts(scope))


@lru_cache(maxsize=1)
def _opened(job: bytes) -> tuple[Surroundings, int]:
    """Open model and corpora of a run; return them with the number of threads for a shard.

    Raises ClusterError, which says in what they differ, where this worker has another version, model or corpus.
    """
    config, expected, number = pickle.loads(job)
    opened, corpora = open_model(config, Path(), silent), open_corpora(config)
    found = dict(flat_keys(_facts(machine_record(config, opened.model, corpora, Start()))))
    if differing := [key for key, value in flat_keys(expected) if found.get(key) != value]:
        what = ", ".join(differing)
        raise ClusterError(f"a worker differs from this process in {what}; give it the same packages, models and data")
    return Surroundings(config, opened, corpora, Journal(), silent), number


def _facts(record: RunRecord) -> dict[str, Any]:
    """Return what a worker must have in common with the process that it works for."""
    return {
        "headscope": record.headscope,
        "git_commit": record.git_commit,
        "versions": dict(record.versions),
        "device": record.device,
        "model": {"sha256": record.model.sha256, "tokenizer_sha256": record.model.tokenizer_sha256},
        "corpora": {split: corpus.fingerprint for split, corpus in record.corpora.items()},
    }
