"""Attention between related words in a run: looked at where a probe has the sentences of the corpora read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import pandas as pd
from pydantic import Field, model_validator

from experiments.config.config import StudySection
from experiments.config.section import Placed
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from probes.corpora.corpus import Texts
from probes.corpora.named import NAMED_RATINGS
from probes.corpora.ratings import Ratings, open_ratings, ratings_path
from probes.evidence.results import SPLITS
from probes.maps.relatedness import COLUMNS, Relatedness, relatedness_table


class RelatednessSection(StudySection):
    """Whether heads attend more between words that people find more related, see `probes.maps.relatedness`."""

    table = "relatedness"
    ratings: Annotated[tuple[str, ...], Placed(NAMED_RATINGS)] = ()
    "Names of ratings (men; simlex and simverb as the contrast), or files of them, relative to the config file."
    permutations: int = Field(default=999, ge=19)
    "Times that ratings are dealt anew; p cannot be below 1 / (permutations + 1)."

    @model_validator(mode="after")
    def _there(self) -> Self:
        for name in self.ratings:
            if name not in NAMED_RATINGS:
                ratings_path(name)
            if self.ratings.count(name) > 1:
                raise ValueError(f"ratings {name!r} are named twice")
        return self


@dataclass(frozen=True)
class RelatednessStudy(Study[RelatednessSection]):
    """The correlation of the attention of a model's heads with ratings of word pairs."""

    name = "relatedness"
    reads = RelatednessSection
    ratings: Sequence[Ratings]

    @classmethod
    def open(cls, run: RunContext, section: RelatednessSection) -> Self | None:
        """Return the study where its section names ratings; raises CorpusError for those that cannot be read."""
        ratings = [open_ratings(name) for name in section.ratings]
        return cls(run, section, ratings) if ratings else None

    def observers(self, scope: str, split: str, texts: Texts) -> Sequence[Relatedness]:
        """Return what sees the maps of the sentences of a split, one for each of the ratings."""
        model, ratings = self.run.model, self.ratings if scope == "sentence" else ()
        return [Relatedness(one, model.layers, model.heads) for one in ratings]

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the correlations on both splits; a note says where there is nothing to measure."""
        seen = {split: [one for part in read.parts for one in part.observed(Relatedness, split)] for split in SPLITS}
        tables = []
        for place, ratings in enumerate(self.ratings):
            for split in SPLITS:
                if not seen[split]:
                    self.run.note(f"relatedness, {ratings.name}: no probe of this run reads sentences")
                elif (table := self._table(seen[split][place], split)).empty:
                    self.run.note(f"relatedness, {ratings.name}: no rated pair in a sentence of the {split} split")
                else:
                    tables.append(table)
        return Result(
            {"relatedness": pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)}
        )

    def _table(self, seen: Relatedness, split: str) -> pd.DataFrame:
        permutations, config = self.section.permutations, self.run.config
        effort = {"permutations": permutations, "replicates": config.scoring.replicates}
        return relatedness_table(seen, split, **effort, seed=config.seed)
