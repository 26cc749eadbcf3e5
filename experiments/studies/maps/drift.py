"""What a training made of the maps that it began with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from experiments.studies.study import Study, Surroundings
from experiments.training.train import open_checkpoint
from probes.corpora.corpus import MemoryTexts
from probes.maps.drift import map_cosines
from probes.scoring.aligned import Aligned, sample_texts


@dataclass(frozen=True)
class DriftStudy(Study):
    """How near the maps of a model stay to those of the first checkpoint of its training."""

    name = "drift"
    run: Surroundings

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where the config asks for texts."""
        return cls(run) if run.config.drift.texts else None

    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Return the cosine of every head's maps before and after, on sentences of the report split."""
        model = self.run.model
        before, _, _ = open_checkpoint(next(iter(self.run.opened.trainings.values())), 0)
        aligned = Aligned.of(
            model, MemoryTexts(sample_texts(self.run.texts("sentence")[1], self.run.config.drift.texts))
        )
        self.run.note_dropped("report", "sentence", "drift", aligned.dropped)
        step = self.run.counter("maps before and after", len(aligned.pieces))
        found = []
        for text in aligned.pieces:
            found.append(map_cosines(before, model, text).numpy())
            step()
        text, layer, head = (part.ravel() for part in np.indices((len(found), model.layers, model.heads)))
        rows = pd.DataFrame({"text": text, "layer": layer, "head": head, "cosine": np.stack(found).ravel()})
        names = (rows["layer"] + 1).astype(str) + "-" + (rows["head"] + 1).astype(str)
        return {"drift": rows.assign(split="report", name=names)}
