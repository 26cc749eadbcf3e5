"""What the weights alone say of heads in a run, and whether heads do it on text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pandas as pd

from experiments.studies.study import Study, Surroundings
from mha.models.circuits import encoder_of
from probes.corpora.corpus import MemoryTexts
from probes.evidence.results import SPLITS
from probes.scoring.aligned import Aligned, sample_texts
from probes.weights.circuits import CircuitSettings, read_circuits
from probes.weights.relations import RELATIONS, Pairs, read_relations


@dataclass(frozen=True)
class CircuitStudy(Study):
    """What the weights say, held against sentences of the report split, those with the smallest hash of their ids."""

    name = "weights alone"
    run: Surroundings
    relations: Pairs

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where it is switched on.

        Raises CircuitError for an architecture of which it cannot be told, and for relations that cannot be read.
        """
        section = run.config.circuits
        if not section.enabled:
            return None
        encoder_of(run.model)
        return cls(run, RELATIONS if section.relations is None else read_relations(section.relations))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return what weights say beside what heads do; note what was read and what was left out."""
        config, journal = self.run.config, self.run.journal
        section, scoring = config.circuits, config.scoring
        texts = self.run.texts("sentence")[1]
        chosen = MemoryTexts(sample_texts(texts, section.sentences))
        aligned = Aligned.of(self.run.model, chosen)
        settings = CircuitSettings(section.words, replicates=scoring.replicates, seed=config.seed)
        step = self.run.counter("what the weights say, on text", len(chosen))
        found = read_circuits(self.run.model, aligned, self.relations, settings, self.run.settings, step)
        journal.record["circuits"] = {**found.facts, "sentences": len(aligned.kept)}
        for dropped in (aligned.dropped, found.dropped):
            self.run.note_dropped(SPLITS[1], "sentence", self.name, dropped)
        return found.tables
