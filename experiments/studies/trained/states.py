"""States in a run: their geometry by layer, outlier dimensions, and what is lost without these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pandas as pd
from pydantic import Field

from experiments.config.config import StudySection
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from mha.hooks import HookError
from probes.evidence.results import SPLITS
from probes.scoring.aligned import Aligned
from probes.states.geometry import geometry
from probes.states.outliers import Outliers, ablated
from probes.states.word_states import WordStates, whole_texts


class StatesSection(StudySection):
    """The geometry of words' states by layer, and outlier dimensions; nothing where no texts are wanted."""

    table = "states"
    texts: int = Field(default=0, ge=0)
    "Sentences of each split that are read, at the most: those with the smallest hash of their ids; 0 for none."
    contexts: int = Field(default=20, ge=2)
    "Sentences that a word stands in at least to be compared with itself."
    sets: int = Field(default=10, ge=1)
    "Sets of random dimensions that outlier dimensions are compared with."


@dataclass(frozen=True)
class StatesStudy(Study[StatesSection]):
    """What the states of words look like from layer to layer."""

    name = "states"
    reads = StatesSection

    @classmethod
    def open(cls, run: RunContext, section: StatesSection) -> Self | None:
        """Return the study where its section wants texts."""
        return cls(run, section) if section.texts else None

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the tables; without those of outlier dimensions, and a note, where LayerNorms are not known."""
        run, section = self.run, self.section
        with run.journal.stage("states: read"):
            select, report = (whole_texts(run.model, texts, section.texts) for texts in run.texts("sentence"))
            aligned = (select, report)
            states = (self._read(select), self._read(report))
        for split, one in zip(SPLITS, aligned, strict=True):
            run.note_dropped(split, "sentence", self.name, one.dropped)
        if not (select.pieces and report.pieces):
            run.note("states: the corpora have no sentence that the model can read")
            return Result({})
        with run.journal.stage("states: geometry"):
            tables = {"states": geometry(states[1], run.config.seed, contexts=section.contexts)}
        with run.journal.stage("states: outlier dimensions"):
            try:
                tables |= self._outliers(aligned, states)
            except HookError as error:
                run.note(f"states: {error}")
        return Result({name: table for name, table in tables.items() if len(table)})

    def _read(self, aligned: Aligned) -> WordStates:
        return WordStates.of(self.run.model, aligned, self.run.settings)

    def _outliers(
        self, aligned: tuple[Aligned, Aligned], states: tuple[WordStates, WordStates]
    ) -> dict[str, pd.DataFrame]:
        """Return the outlier dimensions, and what is lost without them where there are any."""
        run, sets = self.run, self.section.sets
        outliers = Outliers.of(run.model, states[1])
        tables = {"outlier_dimensions": outliers.table().assign(size=states[1].vectors.shape[-1])}
        if len(found := outliers.dimensions):
            step = run.counter("states: passes without dimensions", sets + 2)
            tables["ablated_dimensions"] = ablated(
                run.model, aligned, states, found.tolist(), run.settings, sets=sets, seed=run.config.seed, step=step
            )
        return tables
