"""Configs: TOML files read into frozen models that refuse what they do not know."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from experiments.config.biography_section import BiographiesSection
from experiments.config.file import read_toml, validated
from experiments.config.section import ConfigError as ConfigError
from experiments.config.section import Section
from experiments.config.sections import BehaviourSection as BehaviourSection
from experiments.config.sections import ControlsSection as ControlsSection
from experiments.config.sections import CorpusPart as CorpusPart
from experiments.config.sections import CorpusSection as CorpusSection
from experiments.config.sections import ModelSection as ModelSection
from experiments.config.sections import PageSection as PageSection
from experiments.config.sections import ProbesSection as ProbesSection
from experiments.config.sections import ScoringSection as ScoringSection
from experiments.config.sections import VerdictSection as VerdictSection
from experiments.config.study_sections import (
    ARC,
    AblationSection,
    AnswersSection,
    CircuitsSection,
    ClassifiersSection,
    DriftSection,
    GatesSection,
    HeadsSection,
    ImportanceSection,
    PatchingSection,
    PruningSection,
    RelatednessSection,
    ShapesSection,
    SlopesSection,
)
from experiments.config.train_config import GRAMMAR as GRAMMAR
from experiments.config.train_config import TrainSection

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"What a folder may be called."


class Config(Section):
    """A run."""

    name: str = Field(pattern=NAME)
    "Name of the run folder."
    seed: int = Field(default=0, ge=0, lt=2**32)
    "Of controls, bootstrap and trained probes."
    model: ModelSection = ModelSection()
    train: TrainSection | None = None
    'A training, for `headscope train` and for source = "train".'
    corpus: CorpusSection
    probes: ProbesSection = ProbesSection()
    scoring: ScoringSection = ScoringSection()
    controls: ControlsSection = ControlsSection()
    verdict: VerdictSection = VerdictSection()
    behaviour: BehaviourSection = BehaviourSection()
    shapes: ShapesSection = ShapesSection()
    relatedness: RelatednessSection = RelatednessSection()
    circuits: CircuitsSection = CircuitsSection()
    classifiers: ClassifiersSection = ClassifiersSection()
    patching: PatchingSection = PatchingSection()
    heads: HeadsSection = HeadsSection()
    ablation: AblationSection = AblationSection()
    importance: ImportanceSection = ImportanceSection()
    slopes: SlopesSection = SlopesSection()
    pruning: PruningSection = PruningSection()
    gates: GatesSection = GatesSection()
    answers: AnswersSection = AnswersSection()
    drift: DriftSection = DriftSection()
    page: PageSection = PageSection()
    biographies: BiographiesSection | None = None
    "Whether, and how, heads are followed through the checkpoints of a training."

    @model_validator(mode="after")
    def _trainable(self) -> Self:
        if self.model.source == "train" and self.train is None:
            raise ValueError('model.source is "train", but there is no table [train] that says what to train')
        if self.biographies is not None and self.model.source not in ("train", "checkpoint"):
            raise ValueError('[biographies] needs the checkpoints of a training: model.source "train" or "checkpoint"')
        if self.drift.texts and self.model.source not in ("train", "checkpoint"):
            raise ValueError('[drift] needs the first checkpoint of a training: model.source "train" or "checkpoint"')
        if self.answers.questions and (self.train is None or len(self.train.masking.answers) != 2):
            raise ValueError("[answers] needs a [train] with two masking.answers, one of which every text begins with")
        if ARC in self.classifiers.tasks and not self.probes.trained:
            raise ValueError('task "arc" of classifiers.tasks codes the trained probes: it needs probes.trained = true')
        return self


class TrainingConfig(Section):
    """A training without a run: what `headscope train` needs of a config."""

    name: str = Field(pattern=NAME)
    train: TrainSection


def load_config(path: Path, changes: Sequence[str] = ()) -> Config:
    """Read a config file; `changes` are "key=value" with dots between tables and TOML values.

    Raises ConfigError with one line that names the file, the key, and what was expected.
    """
    return validated(Config, read_toml(path, changes), path)


def load_training(path: Path, changes: Sequence[str] = ()) -> TrainingConfig:
    """Read what `headscope train` needs of a config file: its name and [train]; other tables must be right as well."""
    found = read_toml(path, changes)
    if found.keys() <= TrainingConfig.model_fields.keys():
        return validated(TrainingConfig, found, path)
    config = validated(Config, found, path)
    if config.train is None:
        raise ConfigError(f"{path}: there is no table [train] that says what to train")
    return TrainingConfig(name=config.name, train=config.train)


def resolved(config: Config) -> dict[str, Any]:
    """Return everything that was decided, defaults included, as plain values for TOML."""
    return config.model_dump(mode="json", exclude_none=True)
