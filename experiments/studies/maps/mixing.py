"""Mixing in a run: effective attention, attention beside the residual, and states that become alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from pydantic import Field

from experiments.config.config import StudySection
from experiments.run.context import SCOPES, RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from mha.models.circuits import encoder_of
from probes.evidence.results import SPLITS
from probes.mixing.measure import Mixing, mixing_texts


class MixingStudySection(StudySection):
    """How much attention mixes; for models of the BERT family."""

    table = "mixing"
    texts: int = Field(default=0, ge=0)
    "Sentences, and as many windows, of each split that are read, at the most; 0 for none."


@dataclass(frozen=True)
class MixingStudy(Study[MixingStudySection]):
    """How much of attention reaches the states, and how much of the states comes from attention."""

    name = "mixing"
    reads = MixingStudySection

    @classmethod
    def open(cls, run: RunContext, section: MixingStudySection) -> Self | None:
        """Return the study where its section wants texts; raises CircuitError for other than BERT's family."""
        if not section.texts:
            return None
        encoder_of(run.model, "mixing")
        return cls(run, section)

    def measure(self, read: ReadOfStudy) -> Result:
        """Return a row a measure and depth, a row a head and length of text, and a row a head and text."""
        run = self.run
        by_scope = [run.texts(scope) for scope in SCOPES]
        select, report = (mixing_texts(run.model, texts, self.section.texts) for texts in zip(*by_scope, strict=True))
        for split, aligned in zip(SPLITS, (select, report), strict=True):
            run.note_dropped(split, "sentence and window", self.name, aligned.dropped)
        step = run.counter("mixing", len(select.pieces) + len(report.pieces))
        by_depth, by_head, by_text = Mixing.learned(run.model, select, step).tables(report, run.effort, step)
        return Result({"mixing": by_depth, "effective_attention": by_head, "effective_texts": by_text})
