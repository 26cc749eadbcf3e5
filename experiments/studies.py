"""What a run measures of heads on its sentences beside their scores: confusion in bits, and relatedness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from experiments.config import Config
from experiments.part import Study
from mha import Model
from probes.confusion import Confusion, confusion_table
from probes.corpora import Texts
from probes.distractors import Distractors
from probes.ratings import Ratings, open_ratings
from probes.relatedness import COLUMNS, Relatedness, relatedness_table
from probes.results import SPLITS
from probes.tally import cluster_blocks
from reports import write_confusion, write_relatedness

Complete = Callable[[pd.DataFrame], pd.DataFrame]
"Adds the columns that say what a table is about: corpus, model and step."


@dataclass(frozen=True)
class ConfusionStudy:
    """The confusion of heads among noun groups (`experiments.part.Study`)."""

    config: Config
    model: Model
    seen: dict[str, Confusion] = field(default_factory=dict)
    "What was measured of each split."

    def observer(self, scope: str, split: str, texts: Texts) -> Confusion:
        """Return what looks at the maps of a split."""
        self.seen[split] = Confusion(self.model.layers, self.model.heads, cluster_blocks(texts.ids()))
        return self.seen[split]

    def table(self) -> pd.DataFrame:
        """Return the confusion on both splits."""
        select, report = (self.seen[split] for split in SPLITS)
        replicates, seed = self.config.scoring.replicates, self.config.seed
        return confusion_table(select, report, SPLITS, replicates=replicates, seed=seed)


@dataclass(frozen=True)
class RelatednessStudy:
    """The correlation of attention with one set of ratings (`experiments.part.Study`)."""

    config: Config
    model: Model
    ratings: Ratings
    seen: dict[str, Relatedness] = field(default_factory=dict)
    "What was measured of each split."

    def observer(self, scope: str, split: str, texts: Texts) -> Relatedness:
        """Return what looks at the maps of a split."""
        self.seen[split] = Relatedness(self.ratings, self.model.layers, self.model.heads)
        return self.seen[split]

    def table(self) -> pd.DataFrame:
        """Return the correlations on both splits."""
        permutations, replicates = self.config.relatedness.permutations, self.config.scoring.replicates
        effort = {"permutations": permutations, "replicates": replicates, "seed": self.config.seed}
        found = [relatedness_table(seen, split, **effort) for split, seen in self.seen.items()]
        return _joined(found or [pd.DataFrame(columns=[*COLUMNS])])


@dataclass(frozen=True)
class Studies:
    """The studies of a run's sentences; they look on where a probe has the sentences read."""

    confusion: ConfusionStudy | None
    "Where the run asks the probe distractors."
    relatedness: Sequence[RelatednessStudy]
    "One for each of the ratings that the config names."

    @classmethod
    def of(cls, config: Config, model: Model) -> Studies:
        """Return what a config asks for; raises CorpusError for ratings that cannot be read."""
        asked = Distractors.name in config.probes.names
        ratings = [open_ratings(name) for name in config.relatedness.ratings]
        return cls(
            ConfusionStudy(config, model) if asked else None, [RelatednessStudy(config, model, one) for one in ratings]
        )

    def watching(self, scope: str) -> list[Study]:
        """Return those that look at texts of a scope."""
        confusion: list[Study] = [] if self.confusion is None else [self.confusion]
        return [*confusion, *self.relatedness] if scope == "sentence" else []

    def write(self, folder: Path, complete: Complete, notes: list[str]) -> None:
        """Write their tables; say in `notes` where there is nothing to measure."""
        if self.confusion is not None:
            write_confusion(complete(self.confusion.table()), folder)
        for study in self.relatedness:
            for split in SPLITS:
                if split not in study.seen:
                    notes.append(f"relatedness, {study.ratings.name}: no probe of this run reads sentences")
                elif not len(study.seen[split].items().rating):
                    notes.append(f"relatedness, {study.ratings.name}: no rated pair in a sentence of the {split} split")
        if self.relatedness:
            write_relatedness(complete(_joined([study.table() for study in self.relatedness])), folder)


def _joined(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return several tables one after the other; those without rows have no dtypes to give."""
    filled = [table for table in tables if len(table)]
    return pd.concat(filled, ignore_index=True) if filled else tables[0]
