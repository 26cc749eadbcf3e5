"""Heads from few labels: how many labelled arcs it takes to select a head, beside what the same arcs teach a rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import pandas as pd
from pydantic import Field

from experiments.config.config import StudySection
from experiments.run.context import RunContext
from experiments.run.scope import Scored
from experiments.studies.maps.ensembles import choose_relations
from experiments.studies.study import ReadOfStudy, Result, Study
from mha import Model
from probes.maps.few_labels import FewLabels, LabelledArcs, labelled
from probes.scoring.tally import Question


class FewLabelsSection(StudySection):
    """Heads, and ensembles of heads, selected from few labelled arcs, beside rules that learn from the same arcs."""

    table = "few_labels"
    relations: int = Field(default=0, ge=0)
    "Labels, those with the most items, that are asked about; 0 for none."
    arcs: list[int] = Field(default=[10, 30, 100, 300, 1000], min_length=1)
    "Numbers of labelled arcs, from which heads are selected and rules learn."
    draws: int = Field(default=20, ge=2)
    "Times that arcs are drawn from the selection split."
    largest: int = Field(default=4, ge=2, le=8)
    "Heads of the largest ensemble."


@dataclass(frozen=True)
class FewLabelsStudy(Study[FewLabelsSection]):
    """How heads do beside what is learned from the same labelled arcs."""

    name = "heads from few labels"
    reads = FewLabelsSection

    @classmethod
    def open(cls, run: RunContext, section: FewLabelsSection) -> Self | None:
        """Return the study where labels are asked about."""
        return cls(run, section) if section.relations else None

    def of_part(self, scored: Scored) -> Sequence[pd.DataFrame]:
        """Return a table a label; both splits are read once more by the model and by one with random weights."""
        with self.run.journal.stage(self.name):
            return [*self._tables(scored)]

    def measure(self, read: ReadOfStudy) -> Result:
        """Return one row a label, method and number of arcs; nothing where no label has enough items."""
        return Result({"few_labels": pd.concat(read.rows, ignore_index=True)} if read.rows else {})

    def _tables(self, scored: Scored) -> Iterator[pd.DataFrame]:
        model, section = self.run.model, self.section
        relations = choose_relations(scored.scores, scored.part.probes, section.relations, model.heads)
        questions = [relation.question for relation in relations]
        own, random = (self._read(one, scored, questions) for one in (model, self.run.random_model()))
        for question in (question for question in questions if all(question in split for split in own)):
            select, report = (split[question] for split in own)
            untrained = (random[0][question].hits, random[1][question].hits)
            probe, variant, label = question
            asked = next(one for one in scored.part.probes if one.name == probe)
            few = FewLabels(select, report, untrained, asked, section.draws, section.largest, self.run.config.seed)
            known = {"n": len(report.hits), "clusters": len(set(report.answers.cluster.tolist()))}
            yield few.table(section.arcs).assign(probe=probe, variant=variant, label=label, **known)

    def _read(
        self, model: Model, scored: Scored, questions: Sequence[Question]
    ) -> tuple[dict[Question, LabelledArcs], dict[Question, LabelledArcs]]:
        part = scored.part
        select, report = (labelled(model, texts, part.probes, questions, part.settings) for texts in part.texts)
        return select, report
