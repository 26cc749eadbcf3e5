"""Sinks in a run: which heads attend to special tokens, and whether they write anything from there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from pydantic import Field

from experiments.config.config import StudySection
from experiments.studies.study import Read, Result, Study
from experiments.studies.surroundings import Surroundings
from mha.hooks import HookError
from probes.corpora.corpus import MemoryTexts
from probes.maps.sinks import SpecialShare, sink_table
from probes.scoring.aligned import sample_texts
from probes.scoring.score import score_corpus
from probes.scoring.tally import Numbers


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
    def open(cls, run: Surroundings, section: SinksSection) -> Self | None:
        """Return the study where its section wants texts."""
        return cls(run, section) if section.texts else None

    def measure(self, read: Read) -> Result:
        """Return one row a head; a note, and no table, where W_O is not known."""
        model = self.run.model
        try:
            attention, written = (self._share(maps) for maps in ("weights", "norms"))
        except HookError as error:
            self.run.note(f"sinks: {error}")
            return Result({})
        return Result({"sinks": sink_table(attention, written, (model.layers, model.heads))})

    def _share(self, maps: str) -> Numbers:
        model, texts = self.run.model, sample_texts(self.run.texts("sentence")[1], self.section.texts)
        share = SpecialShare(model.layers, model.heads)
        score_corpus(model, MemoryTexts(texts), [], {}, replace(self.run.settings, maps=maps), observers=[share])
        return share.share
