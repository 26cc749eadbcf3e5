"""Encoders that claims train, or share with another claim, and what is measured of every one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from pydantic import Field, model_validator

from experiments.config.config import (
    NAME,
    ControlsSection,
    CorpusSection,
    ProbesSection,
    ScoringSection,
    TrainingConfig,
    VerdictSection,
)
from experiments.config.train_config import TrainSection
from experiments.inputs.corpora import open_corpora
from experiments.inputs.open_model import LoadedModel
from experiments.record.run_record import Journal
from experiments.run.config import RunConfig
from experiments.run.context import RunContext
from experiments.run.scope import Part
from experiments.statements.claim import ClaimSection, Work
from experiments.training.texts import open_material, open_rows, open_vocabulary
from experiments.training.train import encoder_config, noted, train_seeds, training_settings
from mha import Encoder, MaskedLM, Model
from mha.encoder.masked_lm import MaskedBatch, masked_lm_loss
from mha.training.task import Task, evaluation_batches
from probes.pairs.grammar_pairs import grammar_pairs
from probes.pairs.scores import MASKED, decide
from reports.progress import silent

TRAININGS = "trainings"
"Folder of a claim's trainings."


class TrainedSection(ClaimSection):
    """What the config of every claim about trained encoders has."""

    train: TrainSection
    "The training; its seeds are the repeats."
    trainings: str | None = Field(default=None, pattern=NAME)
    """Name of the claim whose trainings are looked at, where it is another: those that are there and were trained as
    [train] says are taken, missing ones are trained."""

    @model_validator(mode="after")
    def _enough_seeds(self) -> Self:
        if len(self.train.seeds) < 2:
            raise ValueError("train.seeds: an interval takes two seeds or more")
        return self


class AgreementSection(TrainedSection):
    """What the config of a claim about agreement has."""

    pairs: int = Field(default=800, ge=1)
    "Minimal pairs of the grammar that are drawn."
    pairs_seed: int = 71
    "Of these pairs."


class ScoredSection(TrainedSection):
    """What the config of a claim about specialised heads has: how runs call heads specialised, see `Config`."""

    corpus: CorpusSection
    probes: ProbesSection = ProbesSection(names=("position", "dependency", "agreement"))
    scoring: ScoringSection = ScoringSection()
    controls: ControlsSection = ControlsSection()
    verdict: VerdictSection = VerdictSection()


def trainings(
    section: TrainedSection, work: Work, label: str, *, train: Mapping[str, Any] | None = None, **encoder: Any
) -> dict[int, Path]:
    """Return the folder of every seed's training, trained first where it is not there.

    `train` changes keys of [train] and `encoder` the shape in it; `label` names the folder for that.
    """
    shape = section.train.encoder.model_copy(update=encoder)
    changed = section.train.model_copy(update={"encoder": shape, **(train or {})})
    shared = section.trainings is not None and section.trainings != work.name
    out = work.out / (section.trainings or work.name) / TRAININGS

    def show(what: str, done: int, of: int, note: str) -> None:
        work.progress(f"{label}, {what}", done, of, note)

    config = TrainingConfig(name=label, train=changed)
    return train_seeds(config, out, resume=work.resume or shared, on_progress=noted(show))


def each_training(
    section: TrainedSection, work: Work, label: str, examine: Callable[[Path], Any], **changes: Any
) -> dict[int, Any]:
    """Return what `examine` finds of every seed's training, a part of the work each; `changes` are for `trainings`."""
    folders = trainings(section, work, label, **changes)
    found: dict[int, Any] = {}
    for seed, folder in folders.items():
        found[seed] = work.part(f"{label} seed {seed}", partial(examine, folder))
        work.progress(f"measure {label}", len(found), len(folders))
    return found


def held_out(train: TrainSection) -> tuple[Task, list[MaskedBatch]]:
    """Return what a training is given, and its held-out batches, whose masks are the same for all seeds."""
    material = open_material(train)
    vocabulary = open_vocabulary(train, material)
    rows, held = open_rows(train, material, vocabulary)
    task = Task(encoder_config(train, vocabulary), vocabulary, rows, held)
    return task, evaluation_batches(task, training_settings(train, rows, 0), 0, 1)


@torch.no_grad()
def held_out_loss(encoder: Encoder, batches: Sequence[MaskedBatch]) -> float:
    """Return the mean masked-LM loss in nats, without dropout, every masked piece counting the same."""
    encoder.eval()
    masked = sum(len(batch.gold) for batch in batches)
    return sum(float(masked_lm_loss(encoder, batch)) * len(batch.gold) for batch in batches) / masked


def parameters(model: Model) -> int:
    """Return how many weights a model has, tied ones counted once."""
    return sum(parameter.numel() for parameter in model.module.parameters())


@dataclass(frozen=True)
class AgreementAccuracy:
    """The share of agreement pairs that a masked LM decides correctly, in [0, 1]; NaN where there is no such pair."""

    every: float
    "Over all pairs."
    across: float
    "Over the pairs with a noun of the other number between subject and verb."


def agreement_accuracy(model: Model, pairs: int, seed: int) -> AgreementAccuracy:
    """Return the accuracy on the first `pairs` minimal pairs of the grammar.

    The verb is masked and both its forms are compared (Goldberg 2019).
    """
    made = decide(MaskedLM.of(model), islice(grammar_pairs(seed), pairs), method=MASKED).made
    across = [one.credit for one in made if one.kind.attractors]
    return AgreementAccuracy(_mean([one.credit for one in made]), _mean(across))


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def specialised(section: ScoredSection, model: Model, folder: Path) -> pd.DataFrame:
    """Return the rows of the report split whose head is specialised: what a run says of the model in `folder`.

    All baselines and controls of a run, its tests and corrections over all labels of both scopes.
    """
    config = RunConfig(
        name="claim",
        model={"name": str(folder)},
        **{name: getattr(section, name) for name in ("corpus", "probes", "scoring", "controls", "verdict")},
    )
    run = RunContext(config, LoadedModel(model, config), open_corpora(config), Journal(), silent)
    scores = run.verdicts([Part(run, scope).score().scores for scope in run.scopes])
    return scores[(scores.split == "report") & scores.specialised.eq(True)]


def heads_of(rows: pd.DataFrame) -> int:
    """Return how many heads are specialised in one label or more."""
    return len(rows[["layer", "head"]].drop_duplicates())


def by_seed(results: Mapping[int, Mapping[str, float]], name: str) -> dict[int, float]:
    """Return one number a seed."""
    return {seed: float(one[name]) for seed, one in results.items()}
