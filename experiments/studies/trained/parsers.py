"""The parsers of a run, which see the attention of all heads at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from experiments.studies.trained.classifiers import ClassifiersSection
from probes.evidence.results import SPLITS
from probes.trained.parser_scores import ATTENTION, DISTANCES, parser_table


@dataclass(frozen=True)
class ParserStudy(Study[ClassifiersSection]):
    """How well parsers find heads of words from a model's attention."""

    name = "parsers"
    reads = ClassifiersSection

    @classmethod
    def open(cls, run: RunContext, section: ClassifiersSection) -> Self | None:
        """Return the study where its section wants parsers."""
        return cls(run, section) if section.parser else None

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the table of parsers; none where a split has no sentence with a tree."""
        run, section = self.run, self.section
        step = run.counter(self.name, len(ATTENTION) * (1 + section.random) + len(DISTANCES))
        found, aligned = parser_table(
            run.model,
            run.random_model() if section.random else None,
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
            run.note("parsers: a split has no sentence with a tree")
            return Result({})
        return Result({"parser": found})
