"""The confusion of heads among noun groups in a run, measured where it asks the probe distractors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import pandas as pd

from experiments.config.config import Config
from experiments.studies.study import Study, Surroundings
from mha import Model
from probes.corpora.corpus import Texts
from probes.evidence.results import SPLITS
from probes.maps.confusion import Confusion, confusion_table
from probes.scoring.tally import cluster_blocks
from probes.syntax.distractors import Distractors


@dataclass(frozen=True)
class ConfusionStudy(Study):
    """The confusion of a model's heads, and of its layers, in bits."""

    name = "confusion"
    config: Config
    model: Model
    seen: dict[str, Confusion] = field(default_factory=dict)
    "What was measured of each split."

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where the run asks the probe."""
        return cls(run.config, run.model) if Distractors.name in run.config.probes.names else None

    def observer(self, scope: str, split: str, texts: Texts) -> Confusion | None:
        """Return what looks at the maps of the sentences of a split."""
        if scope != Distractors.scope:
            return None
        self.seen[split] = Confusion(self.model.layers, self.model.heads, cluster_blocks(texts.ids()))
        return self.seen[split]

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the confusion on both splits."""
        select, report = (self.seen[split] for split in SPLITS)
        replicates, seed = self.config.scoring.replicates, self.config.seed
        return {"confusion": confusion_table(select, report, SPLITS, replicates=replicates, seed=seed)}
