"""The confusion of heads among noun groups in a run, measured where it asks the probe distractors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from probes.corpora.corpus import Texts
from probes.evidence.results import SPLITS
from probes.maps.confusion import Confusion, confusion_table
from probes.scoring.tally import cluster_blocks
from probes.syntax.distractors import Distractors


@dataclass(frozen=True)
class ConfusionStudy(Study[None]):
    """The confusion of a model's heads, and of its layers, in bits."""

    name = "confusion"

    @classmethod
    def open(cls, run: RunContext, section: None) -> Self | None:
        """Return the study where the run has the probe."""
        return cls(run, section) if Distractors.name in run.config.probes.names else None

    def observers(self, scope: str, split: str, texts: Texts) -> Sequence[Confusion]:
        """Return what sees the maps of the sentences of a split."""
        model = self.run.model
        return [Confusion(model.layers, model.heads, cluster_blocks(texts.ids()))] * (scope == Distractors.scope)

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the confusion on both splits."""
        select, report = (one for split in SPLITS for part in read.parts for one in part.observed(Confusion, split))
        replicates, seed = self.run.config.scoring.replicates, self.run.config.seed
        return Result({"confusion": confusion_table(select, report, SPLITS, replicates=replicates, seed=seed)})
