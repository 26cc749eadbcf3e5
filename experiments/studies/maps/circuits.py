"""What the weights alone say of heads in a run, and whether heads do it on text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import Field

from experiments.config.config import StudySection
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from mha.models.circuits import encoder_of
from probes.corpora.corpus import MemoryTexts
from probes.evidence.results import SPLITS
from probes.scoring.aligned import Aligned, sample_texts
from probes.weights.circuits import CircuitSettings, read_circuits
from probes.weights.relations import RELATIONS, Pairs, read_relations
from reports.run.study_facts import CircuitsRead


class CircuitsSection(StudySection):
    """What the weights alone say of heads, compared with what they do on text; for models of the BERT family."""

    table = "circuits"
    enabled: bool = False
    "Whether weights are asked at all."
    words: int = Field(default=500, ge=20)
    "Words of the vocabulary between which heads are asked, evenly spaced in its order."
    sentences: int = Field(default=500, ge=1)
    "Sentences of the report split that are read to compare."
    relations: Path | None = None
    """A file of word pairs in the place of those that headscope brings, relative to the config: lines of a relation, a
    source and a target, divided by tabs."""


@dataclass(frozen=True)
class CircuitStudy(Study[CircuitsSection]):
    """What the weights say, compared with sentences of the report split, those with the smallest hash of their ids."""

    name = "weights alone"
    reads = CircuitsSection
    relations: Pairs

    @classmethod
    def open(cls, run: RunContext, section: CircuitsSection) -> Self | None:
        """Return the study where it is switched on.

        Raises CircuitError for an architecture without such circuits, and for relations that cannot be read.
        """
        if not section.enabled:
            return None
        encoder_of(run.model)
        return cls(run, section, RELATIONS if section.relations is None else read_relations(section.relations))

    def measure(self, read: ReadOfStudy) -> Result:
        """Return what weights say beside what heads do; note what was read and what was left out."""
        config, section = self.run.config, self.section
        texts = self.run.texts("sentence")[1]
        chosen = MemoryTexts(sample_texts(texts, section.sentences))
        aligned = Aligned.of(self.run.model, chosen)
        settings = CircuitSettings(section.words, replicates=config.scoring.replicates, seed=config.seed)
        step = self.run.counter("circuits from the weights, on text", len(chosen))
        found = read_circuits(self.run.model, aligned, self.relations, settings, self.run.settings, step)
        self.run.journal.circuits = CircuitsRead(**found.facts, sentences=len(aligned.kept))
        for dropped in (aligned.dropped, found.dropped):
            self.run.note_dropped(SPLITS[1], "sentence", self.name, dropped)
        return Result(found.tables)
