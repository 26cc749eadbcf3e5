"""The place of a run: whether its folder is free, and what in it is none of the run's."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from experiments.config.config import Config, ConfigError, differing_keys, flat_keys, resolved
from experiments.config.file import toml_of
from experiments.inputs.corpora import open_corpora
from experiments.inputs.open_model import LoadedModel, open_model
from experiments.record.provenance import device_name, own_files, processor_name, uncommitted_changes
from experiments.run.config import checked
from experiments.training.train import find_training
from mha.models.folders import find_model, settings_sha256, weights_sha256
from mha.models.model import SOURCES
from mha.models.packages import ModelError
from mha.models.tokenizer import load_tokenizer, tokenizer_sha256
from mha.training.checkpoints import find_checkpoint
from probes.evidence.results import SPLITS
from reports import Run
from reports.progress import silent
from reports.run.record import RunRecord, read_record

CONFIG = "config.toml"

NAMED = 4
"How many of the keys in which two configs differ an error names."


def check_free(folder: Path, config: Config, overwrite: bool) -> None:
    """Raise ConfigError where `folder` holds something that this run must not replace.

    A run of the same config may be replaced, also one that differs in `[page]` alone: its numbers are the same.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    before = folder / CONFIG
    if folder.is_dir() and all(map(is_training, folder.iterdir())):
        return
    if not (before.is_file() and (folder / "scores.parquet").is_file()):
        raise ConfigError(f"{folder} exists and is not a run folder; choose another --out or name")
    if not overwrite and (found := _differences(before, config)):
        raise ConfigError(
            f"{folder} holds a run of another config ({found}); choose another --out or name, or add --overwrite"
        )


def is_done(folder: Path, config: Config) -> bool:
    """Return whether `folder` holds a whole run of this config, but for `[page]`, of today's code, texts and weights.

    What can no longer be read is not the same.
    """
    there = (folder / CONFIG).is_file() and (folder / "scores.parquet").is_file()
    if not there or _differences(folder / CONFIG, config):
        return False
    try:
        record, corpora = read_record(folder / "run.json"), zip(SPLITS, open_corpora(config), strict=True)
        texts = all(corpus.fingerprint == record.corpus(split).fingerprint for split, corpus in corpora)
        model, files = record.model, record.files == own_files(config)
        read = (model.sha256, model.tokenizer_sha256, model.settings_sha256)
        return texts and files and _hashes(config) in (None, read)
    except (OSError, ValueError):
        return False


def _hashes(config: Config) -> tuple[str, str, str] | None:
    """Return the sha256 of weights, tokenizer and settings of a config's model; None where the run trains it."""
    section = config.model
    if section.source == "train":
        return None
    if section.source in SOURCES:
        folder = find_model(section.reference)
    else:
        training = Path(section.name)
        folder = find_checkpoint(find_training(training) or training, section.step)
    return weights_sha256(folder), tokenizer_sha256(load_tokenizer(folder)[0]), settings_sha256(folder)


def is_training(path: Path) -> bool:
    """Return whether a path in a run folder is the training of one seed, or the lock on one."""
    return (path.name.startswith("seed-") and path.is_dir()) or path.name.startswith(".seed-")


def _differences(path: Path, config: Config) -> str:
    """Say in which keys the config at `path` differs from this one beside those of `[page]`; empty where in none."""
    try:
        before = dict(flat_keys(tomllib.loads(path.read_text(encoding="utf-8"))))
    except (ValueError, RecursionError):
        return "its config.toml cannot be read"
    now = dict(flat_keys(resolved(config)))
    differing = [key for key in differing_keys(before, now) if not key.startswith("page.")]
    told = [f"{key}: {_shown(before, key)} there, {_shown(now, key)} here" for key in differing[:NAMED]]
    more = len(differing) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more else "")


def _shown(values: Mapping[str, Any], key: str) -> str:
    return repr(values[key]) if key in values else "not set"


def made_for(config: Config, record: RunRecord) -> dict[str, Any]:
    """Return all that the numbers of a run depend on: its config and record, code and machine."""
    same = replace(record, started=None, wall_seconds=None, peak_memory_mb=None, cores=None)
    machine = {"processor": processor_name(), "device name": device_name(record.device)}
    values = resolved(config) | {"page": None}
    return {"config": values, "record": asdict(same), "changes": uncommitted_changes(), **machine}


def reopened(run: Run) -> LoadedModel:
    """Load the model of a finished run on the CPU, with the config of what is read; one that it trained is its own.

    Measures and probes of files have no part in it: they are code, and may be a stranger's. Raises ModelError where
    the weights are not those that the run had read.
    """
    path = run.folder / "config.toml"
    kept = ("name", "seed", "model", "train", "corpus", "scoring", "behaviour", "ablation", "importance", "gates")
    values = {key: value for key, value in toml_of(run.config, path).items() if key in kept}
    config, changes = checked(values, path.parent, path), {"device": "cpu"}
    if trained := config.train if config.model.source == "train" else None:
        changes |= {"name": str(run.folder / f"seed-{trained.seeds[0]}"), "source": "checkpoint"}
    config = config.model_copy(update={"model": config.model.model_copy(update=changes)})
    opened = open_model(config, run.folder.parent, silent)
    if run.record.model.sha256 not in (None, opened.model.sha256):
        raise ModelError(
            f"{run.folder}: the weights of {opened.model.name} changed after the run, so that its roles are not those "
            "of today's heads; do the run again"
        )
    return replace(opened, model=replace(opened.model, name=run.name)) if trained else opened
