"""What a training made of the maps that it began with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from pydantic import Field

from experiments.config.config import Config, StudySection
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from experiments.training.train import open_checkpoint
from probes.corpora.corpus import MemoryTexts
from probes.maps.drift import map_cosines
from probes.scoring.aligned import Aligned, sample_texts


class DriftSection(StudySection):
    """What a training made of the maps that it began with, see `probes.maps.drift`."""

    table = "drift"
    texts: int = Field(default=0, ge=0)
    "Sentences of the report split on which the maps of the first checkpoint and of the model are compared; 0 for none."

    def check(self, config: Config) -> None:
        """Refuse a model of which no checkpoint is known."""
        if self.texts and config.model.source not in ("train", "checkpoint"):
            raise ValueError('[drift] needs the first checkpoint of a training: model.source "train" or "checkpoint"')


@dataclass(frozen=True)
class DriftStudy(Study[DriftSection]):
    """How near the maps of a model stay to those of the first checkpoint of its training."""

    name = "drift"
    reads = DriftSection

    @classmethod
    def open(cls, run: RunContext, section: DriftSection) -> Self | None:
        """Return the study where its section wants texts."""
        return cls(run, section) if section.texts else None

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the cosine of every head's maps before and after, on sentences of the report split."""
        model = self.run.model
        before, _, _ = open_checkpoint(next(iter(self.run.opened.trainings.values())), 0)
        sample = sample_texts(self.run.texts("sentence")[1], self.section.texts)
        aligned = Aligned.of(model, MemoryTexts(sample))
        self.run.note_dropped("report", "sentence", "drift", aligned.dropped)
        step = self.run.counter("maps before and after", len(aligned.pieces))
        found = []
        for text in aligned.pieces:
            found.append(map_cosines(before, model, text).numpy())
            step()
        text, layer, head = (part.ravel() for part in np.indices((len(found), model.layers, model.heads)))
        rows = pd.DataFrame({"text": text, "layer": layer, "head": head, "cosine": np.stack(found).ravel()})
        names = (rows["layer"] + 1).astype(str) + "-" + (rows["head"] + 1).astype(str)
        return Result({"drift": rows.assign(split="report", name=names)})
