"""Probing in a run: trees, sentences and properties in states, relations in the attention of all heads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pandas as pd
from pydantic import Field

from experiments.config.config import StudySection
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from probes.evidence.results import SPLITS
from probes.scoring.aligned import Aligned
from probes.states.amnesic import PROPERTIES, amnesic
from probes.states.pair_relations import probe_pairs
from probes.states.sentence_tasks import TASKS
from probes.states.sentences import probe_sentences
from probes.states.structural import probe_trees
from probes.states.trees import is_tree
from probes.states.word_states import WordStates, whole_texts


class ProbingSection(StudySection):
    """Probes of layers, and of the attention of all heads, on sentences with trees; nothing where none are wanted."""

    table = "probing"
    sentences: int = Field(default=0, ge=0)
    "Sentences of each split whose words are probed, at the most; 0 for none."
    labelled: int = Field(default=2000, ge=0)
    "Sentences of each split that are probed as wholes, at the most; 0 for none."
    pairs: int = Field(default=2000, ge=0)
    "Arcs of each split, and as many pairs without, at the most; 0 for none."


@dataclass(frozen=True)
class LayerProbingStudy(Study[ProbingSection]):
    """What linear probes find out from states and from attention."""

    name = "probing"
    reads = ProbingSection

    @classmethod
    def open(cls, run: RunContext, section: ProbingSection) -> Self | None:
        """Return the study where its section wants sentences."""
        return cls(run, section) if section.sentences else None

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the tables; a note, and none of them, where the corpora have no trees."""
        run, section = self.run, self.section
        aligned = self._aligned(section.sentences)
        if not all(any(is_tree(one) for one in part.texts.take(part.kept)) for part in aligned):
            run.note("probing: the corpora have no trees")
            return Result({})
        with run.journal.stage("probing: read"):
            select, report = (WordStates.of(run.model, one, run.settings) for one in aligned)
        with run.journal.stage("probing: trees"):
            layers = [probe_trees(select, report, run.config.seed)]
        with run.journal.stage("probing: properties"):
            step = run.counter("properties removed", len(PROPERTIES))
            tables = {"amnesic": amnesic(select, report, run.config.seed, step)}
        with run.journal.stage("probing: pairs"):
            tables["pair_probes"] = self._pairs(aligned, (select, report))
        with run.journal.stage("probing: sentences"):
            layers.append(self._sentences())
        tables["layer_probes"] = pd.concat([one for one in layers if len(one)] or [pd.DataFrame()], ignore_index=True)
        return Result({name: table for name, table in tables.items() if len(table)})

    def _aligned(self, count: int) -> tuple[Aligned, Aligned]:
        select, report = (whole_texts(self.run.model, texts, count) for texts in self.run.texts("sentence"))
        for split, one in zip(SPLITS, (select, report), strict=True):
            self.run.note_dropped(split, "sentence", self.name, one.dropped)
        return select, report

    def _pairs(self, aligned: tuple[Aligned, Aligned], states: tuple[WordStates, WordStates]) -> pd.DataFrame:
        run, most = self.run, self.section.pairs
        if not most:
            return pd.DataFrame()
        clusters = (states[0].clusters, states[1].clusters)
        return probe_pairs(run.model, aligned, clusters, run.settings, most=most, seed=run.config.seed)

    def _sentences(self) -> pd.DataFrame:
        run = self.run
        if not self.section.labelled:
            return pd.DataFrame()
        step = run.counter("tasks about sentences", len(TASKS))
        splits = self._aligned(self.section.labelled)
        return probe_sentences(run.model, splits, run.settings, seed=run.config.seed, step=step)
