"""The hits of every head by groups of texts: what a paired comparison of two runs needs of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from probes.evidence.results import named_heads
from probes.scoring.tally import Question
from probes.training.biography import Marks, marks


@dataclass(frozen=True)
class HitCounts(Study[None]):
    """Keeps the hits of all heads on the report split, by question and group of clusters."""

    name = "counts"

    @classmethod
    def open(cls, run: RunContext, section: None) -> Self:
        """Return the study: every run keeps its counts."""
        return cls(run, section)

    def measure(self, read: ReadOfStudy) -> Result:
        """Return one row a question of the scores and group that has items of it; a column a head."""
        found: dict[Question, Marks] = {}
        for part in read.parts:
            scored = set(zip(part.scores["probe"], part.scores["variant"], part.scores["label"], strict=True))
            found |= marks({question: sums for question, sums in part.splits[1].heads.items() if question in scored})
        heads = pd.DataFrame(named_heads((self.run.model.layers, self.run.model.heads)))["name"].tolist()
        places = {question: np.flatnonzero(mark.n) for question, mark in found.items()}
        rows = [
            (*question, int(group), int(found[question].n[group]))
            for question, groups in places.items()
            for group in groups
        ]
        about = pd.DataFrame(rows, columns=["probe", "variant", "label", "group", "n"])
        hits = [mark.hits[places[question]] for question, mark in found.items()]
        counts = pd.DataFrame(np.concatenate(hits) if hits else None, columns=heads)
        return Result({"counts": pd.concat([about, counts], axis=1)})
