"""The parsers of a run, which see the attention of all heads at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pandas as pd

from experiments.studies.study import Study, Surroundings
from probes.evidence.results import SPLITS
from probes.trained.parser_scores import ATTENTION, DISTANCES, parser_table


@dataclass(frozen=True)
class ParserStudy(Study):
    """How well parsers find heads of words from a model's attention."""

    name = "parsers"
    run: Surroundings

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where the config asks for parsers."""
        return cls(run) if run.config.classifiers.parser else None

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the table of parsers; none where a split has no sentence with a tree."""
        run, section = self.run, self.run.config.classifiers
        step = run.counter(self.name, len(ATTENTION) * (1 + section.random) + len(DISTANCES))
        found, aligned = parser_table(
            run.model,
            run.fresh() if section.random else None,
            run.texts("sentence"),
            run.settings,
            sentences=section.sentences,
            replicates=run.config.scoring.replicates,
            seed=run.config.seed,
            step=lambda _: step(),
        )
        for split, one in zip(SPLITS, aligned, strict=True):
            run.note_dropped(split, "sentence", self.name, one.dropped)
        if found.empty:
            run.journal.record["notes"].append("parsers: a split has no sentence with a tree")
            return {}
        return {"parser": found}
