"""Attention between related words in a run: looked at where a probe has the sentences of the corpora read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import pandas as pd

from experiments.studies.study import Study, Surroundings
from probes.corpora.corpus import Texts
from probes.corpora.ratings import Ratings, open_ratings
from probes.evidence.results import SPLITS
from probes.maps.relatedness import COLUMNS, Relatedness, relatedness_table
from probes.scoring.observers import Together


@dataclass(frozen=True)
class RelatednessStudy(Study):
    """The correlation of the attention of a model's heads with ratings of word pairs."""

    name = "relatedness"
    run: Surroundings
    ratings: Sequence[Ratings]
    seen: dict[str, list[Relatedness]] = field(default_factory=dict)
    "What was measured of each split, one for each of the ratings."

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where the config names ratings; raises CorpusError for those that cannot be read."""
        ratings = [open_ratings(name) for name in run.config.relatedness.ratings]
        return cls(run, ratings) if ratings else None

    def observer(self, scope: str, split: str, texts: Texts) -> Together | None:
        """Return what looks at the maps of the sentences of a split."""
        if scope != "sentence":
            return None
        model = self.run.model
        self.seen[split] = [Relatedness(ratings, model.layers, model.heads) for ratings in self.ratings]
        return Together(self.seen[split])

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the correlations on both splits; a note says where there is nothing to measure."""
        config = self.run.config
        effort = {"permutations": config.relatedness.permutations, "replicates": config.scoring.replicates}
        found = []
        for place, ratings in enumerate(self.ratings):
            for split in SPLITS:
                if split not in self.seen:
                    self._note(ratings, "no probe of this run reads sentences")
                    continue
                table = relatedness_table(self.seen[split][place], split, **effort, seed=config.seed)
                if table.empty:
                    self._note(ratings, f"no rated pair in a sentence of the {split} split")
                else:
                    found.append(table)
        return {"relatedness": pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=[*COLUMNS])}

    def _note(self, ratings: Ratings, said: str) -> None:
        notes = self.run.journal.record["notes"]
        if (note := f"relatedness, {ratings.name}: {said}") not in notes:
            notes.append(note)
