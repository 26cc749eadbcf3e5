"""What the roles of a run's heads explain: the share of their attention between words that lies on pairs of roles."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from experiments.run.context import RunContext
from experiments.run.scope import Scored
from experiments.studies.study import ReadOfStudy, Result, Study
from probes.evidence.results import SPLITS, named_heads
from probes.maps.relation_attention import RelationAttention
from probes.records import IntArray
from probes.registry import RANDOM
from probes.scoring.tally import Question
from probes.words.position import AREAS
from reports.tables.grades import POSITION, own_labels


@dataclass(frozen=True)
class ExplainedStudy(Study[None]):
    """How much of each head's attention its roles explain, beside the same of randomly initialised weights."""

    name = "explained attention"

    @classmethod
    def open(cls, run: RunContext, section: None) -> Self | None:
        """Return the study where attention itself is read."""
        return cls(run, section) if run.config.scoring.maps == "weights" else None

    def measure(self, read: ReadOfStudy) -> Result:
        """Return one row a scope and head: its roles are the questions of that scope in which it has a grade."""
        scores = self.run.verdicts([part.scores for part in read.parts])
        graded = scores[(scores["split"] == SPLITS[1]) & (scores["grade"] > 0)]
        alone = own_labels(zip(scores["probe"], scores["label"], strict=True))
        rows = [self._of_part(part, graded, alone) for part in read.parts]
        return Result({"heads": pd.concat(rows, ignore_index=True)})

    def _of_part(self, scored: Scored, graded: pd.DataFrame, alone: Collection[tuple[str, str]]) -> pd.DataFrame:
        model, part = self.run.model, scored.part
        rows = graded[graded["probe"].isin([probe.name for probe in part.probes]) & (graded["variant"] != AREAS)]
        single = pd.MultiIndex.from_frame(rows[["probe", "label"]]).isin(list(alone))
        head = (rows["layer"] * model.heads + rows["head"]).to_numpy(np.int64)
        roles: list[list[Question]] = [[] for _ in range(model.layers * model.heads)]
        for place, question in zip(head, zip(rows["probe"], rows["variant"], rows["label"], strict=True), strict=True):
            roles[place].append(question)
        (own,) = scored.observed(RelationAttention, SPLITS[1])
        random = scored.observed(RelationAttention, RANDOM)
        columns = {
            "scope": part.scope,
            "roles": np.bincount(head[single], minlength=len(roles)),
            "grade": _highest(rows, head, len(roles)),
            "between": own.between_share,
            "explained": own.explained(roles),
            "explained_random": random[0].explained(roles) if random else np.nan,
        }
        return pd.DataFrame(named_heads((model.layers, model.heads)) | columns)


def _highest(rows: pd.DataFrame, head: IntArray, heads: int) -> IntArray:
    """Return the highest grade [head] in a role of language, 0 without one."""
    highest = np.zeros(heads, np.int64)
    language = (rows["probe"] != POSITION).to_numpy()
    np.maximum.at(highest, head[language], rows["grade"].to_numpy()[language])
    return highest
