"""The hits of every head by groups of texts: what a paired comparison of two runs needs of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
import pandas as pd

from experiments.studies.scope import Scored
from experiments.studies.study import Study, Surroundings
from probes.evidence.results import named_heads
from probes.scoring.tally import Question
from probes.training.biography import Marks, marks


@dataclass(frozen=True)
class HitCounts(Study):
    """Keeps the hits of all heads on the report split, by question and group of clusters."""

    name = "counts"
    run: Surroundings
    found: dict[Question, Marks] = field(default_factory=dict)

    @classmethod
    def asked(cls, run: Surroundings) -> Self:
        """Return the study: every run keeps its counts."""
        return cls(run)

    def scored(self, scored: Scored) -> None:
        """Keep the sums of the questions that the part tells."""
        told = set(zip(scored.scores["probe"], scored.scores["variant"], scored.scores["label"], strict=True))
        kept = {question: sums for question, sums in scored.splits[1].heads.items() if question in told}
        self.found.update(marks(kept))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return one row a question and group that has items of it; a column a head."""
        heads = pd.DataFrame(named_heads((self.run.model.layers, self.run.model.heads)))["name"].tolist()
        places = {question: np.flatnonzero(mark.n) for question, mark in self.found.items()}
        rows = [
            (*question, int(group), int(self.found[question].n[group]))
            for question, groups in places.items()
            for group in groups
        ]
        about = pd.DataFrame(rows, columns=["probe", "variant", "label", "group", "n"])
        hits = [mark.hits[places[question]] for question, mark in self.found.items()]
        counts = pd.DataFrame(np.concatenate(hits) if hits else None, columns=heads)
        return {"counts": pd.concat([about, counts], axis=1)}
