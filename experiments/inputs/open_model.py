"""The model of a run, wherever its weights come from: loaded, made anew, or trained first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from experiments.config.config import Config, ModelSection
from experiments.training.train import noted, open_checkpoint, refuse_fixed, train_seeds
from mha import Model, load_model
from mha.device import find_device
from mha.models.model import SOURCES
from reports.progress import Progress


@dataclass(frozen=True)
class LoadedModel:
    """The model of a run."""

    model: Model
    config: Config
    "The run's config, with the model's folder in the place of what it came from: controls are made from that."
    step: int | None = None
    "Of its training, where that is known."
    trainings: Mapping[int, Path] = field(default_factory=dict)
    "Seed -> folder of the trainings whose checkpoints the run may follow."


def open_model(config: Config, out: Path, progress: Progress) -> LoadedModel:
    """Load the model that a config names, or train it first; a training that lies in `out` is gone on with.

    Raises ConfigError, before anything is trained, for heads with fixed patterns, and DeviceError for a device that is
    not there.
    """
    section = config.model
    find_device(section.device)
    if section.source in SOURCES:
        loaded = load_model(section.reference, section.source, config.seed, device=section.device)
        return LoadedModel(replace(loaded, precision=section.precision), config)
    trainings: dict[int, Path] = {}
    if section.source == "train":
        assert config.train is not None
        refuse_fixed("train.fixed", config.train.fixed)
        trainings = train_seeds(config, out, resume=True, needed=_steps(config), on_progress=noted(progress))
    training = next(iter(trainings.values()), Path(section.name))
    model, checkpoint, step = open_checkpoint(training, section.step, device=section.device)
    model = replace(model, precision=section.precision)
    if section.source == "train":
        model = replace(model, name=config.name, source="train")
    else:
        folder = checkpoint.parent.parent
        trainings = {int(folder.name.removeprefix("seed-")) if _is_seed(folder.name) else 0: folder}
    named = ModelSection(name=str(checkpoint.resolve()), precision=section.precision, device=section.device)
    return LoadedModel(model, config.model_copy(update={"model": named}), step, trainings)


def _steps(config: Config) -> set[int]:
    """Return the steps whose checkpoints a run will read, as far as its config names them."""
    followed = config.biographies.steps if config.biographies else ()
    named = () if config.model.step is None else (config.model.step,)
    return {*named, *(followed if isinstance(followed, tuple) else ())}


def _is_seed(name: str) -> bool:
    return name.startswith("seed-") and name.removeprefix("seed-").isdigit()
