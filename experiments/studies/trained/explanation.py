"""Attention as explanation in a run: classifiers that attend to the states of the model's last layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from pydantic import Field

from experiments.config.config import StudySection
from experiments.config.train_config import GRAMMAR
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from mha.models.circuits import encoder_of
from probes.explanation.measure import explanation_tables
from probes.explanation.sentences import read_task


class ExplanationSection(StudySection):
    """Whether attention of a small classifier over the model's states explains it; for models of the BERT family."""

    table = "explanation"
    sentences: int = Field(default=0, ge=0)
    "Sentences of the grammar that a classifier is trained on, and half as many that it is measured on; 0 for none."
    classifiers: int = Field(default=5, ge=2)
    "Classifiers that are trained: each has sentences of its own, to train on and to be measured on."
    seed: int = 101
    "Of the sentences to train on; those to measure on are of the next seed."


@dataclass(frozen=True)
class ExplanationStudy(Study[ExplanationSection]):
    """Permuted, adversarial and erased attention of classifiers."""

    name = "attention as explanation"
    reads = ExplanationSection

    @classmethod
    def open(cls, run: RunContext, section: ExplanationSection) -> Self | None:
        """Return the study where its section wants sentences; raises CircuitError for other than BERT's family."""
        if not section.sentences:
            return None
        encoder_of(run.model, "attention as explanation")
        return cls(run, section)

    def measure(self, read: ReadOfStudy) -> Result:
        """Return a row a measure and classifier, and a row a rank correlation and classifier."""
        run, section = self.run, self.section
        measured = -(-section.sentences // 2)
        train = read_task(run.model, section.classifiers * section.sentences, section.seed)
        test = read_task(run.model, section.classifiers * measured, section.seed + 1)
        step = run.counter("classifiers that attend", section.classifiers)
        table, ranks = explanation_tables(run.model, train, test, section.classifiers, run.config.seed, step)
        found = {"explanation": table.assign(n=measured), "explanation_ranks": ranks}
        return Result({name: one.assign(corpus=GRAMMAR) for name, one in found.items()})
