"""Sinks in a run: which heads attend to special tokens, and whether they write anything from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from pydantic import Field

from experiments.config.config import StudySection
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from mha.hooks import HookError
from probes.corpora.corpus import MemoryTexts
from probes.evidence.results import SPLITS
from probes.maps.sinks import read_sinks
from probes.scoring.aligned import Aligned, sample_texts


class SinksSection(StudySection):
    """Which heads attend to special tokens, and what they write from there, see `probes.maps.sinks`."""

    table = "sinks"
    texts: int = Field(default=200, ge=0)
    "Sentences of the report split that are read, at the most: those with the smallest hash of their ids; 0 for none."


@dataclass(frozen=True)
class SinkStudy(Study[SinksSection]):
    """The share of special tokens in the attention of heads and in what they write."""

    name = "sinks"
    reads = SinksSection

    @classmethod
    def open(cls, run: RunContext, section: SinksSection) -> Self | None:
        """Return the study where its section wants texts."""
        return cls(run, section) if section.texts else None

    def measure(self, read: ReadOfStudy) -> Result:
        """Return one row a head; a note, and no table, where W_O is not known."""
        model, settings = self.run.model, self.run.settings
        texts = MemoryTexts(sample_texts(self.run.texts("sentence")[1], self.section.texts))
        aligned = Aligned.of(model, texts)
        self.run.note_dropped(SPLITS[1], "sentence", self.name, aligned.dropped)
        progress = self.run.counter(self.name, len(aligned.pieces))
        try:
            return Result({"sinks": read_sinks(model, aligned, settings, progress)})
        except HookError as error:
            self.run.note(f"sinks: {error}")
            return Result({})
