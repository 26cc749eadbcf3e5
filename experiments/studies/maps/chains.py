"""Coreference chains in a run: what single heads link, scored beside rules that link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from pydantic import Field

from experiments.config.config import StudySection
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from mha import Model
from probes.chains.links import Linker, Links
from probes.chains.table import MethodSums, chain_table
from probes.corpora.corpus import MemoryTexts, Texts
from probes.evidence.results import SPLITS
from probes.scoring.aligned import sample_texts
from probes.scoring.score import score_corpus


class ChainsSection(StudySection):
    """Coreference chains that single heads link, by MUC, B-cubed and CEAF beside rules, see `probes.chains`."""

    table = "chains"
    enabled: bool = False
    "Whether mentions are linked at all; for corpora with coreference."
    texts: int = Field(default=1000, ge=1)
    "Windows of each split that are read, at the most: those with the smallest hash of their ids."
    random: bool = True
    "Whether the heads of randomly initialised weights link too; the best of them is a baseline."


@dataclass(frozen=True)
class ChainStudy(Study[ChainsSection]):
    """How well the head that links best does beside rules; mentions are given."""

    name = "coreference chains"
    reads = ChainsSection

    @classmethod
    def open(cls, run: RunContext, section: ChainsSection) -> Self | None:
        """Return the study where it is switched on."""
        return cls(run, section) if section.enabled else None

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the scores of all heads and baselines; a note, and no table, where a split has no mentions."""
        model, section = self.run.model, self.section
        samples = [MemoryTexts(sample_texts(texts, section.texts)) for texts in self.run.texts("window")]
        own = self._links(model, samples, baselines=True)
        if empty := [split for split, links in zip(SPLITS, own, strict=True) if not links]:
            self.run.note(f"coreference chains: no mention in the windows of the {' and the '.join(empty)} split")
            return Result({})
        fresh = self._links(self.run.random_model(), samples, baselines=False) if section.random else None
        random = None if fresh is None else MethodSums.of(*fresh)
        shape = (model.layers, model.heads)
        return Result({"chains": chain_table(MethodSums.of(*own), random, shape, self.run.effort)})

    def _links(self, model: Model, samples: Sequence[Texts], *, baselines: bool) -> tuple[list[Links], list[Links]]:
        """Return the links of the texts of both splits; those that the model cannot read are left out, and counted."""
        found = []
        for split, texts in zip(SPLITS, samples, strict=True):
            linker, step = Linker(model.layers, model.heads, baselines=baselines), self.run.counter("links", len(texts))
            outcome = score_corpus(model, texts, [], {}, self.run.settings, step, observers=[linker])
            self.run.note_dropped(split, "window", "coreference chains", outcome.dropped)
            found.append(linker.texts)
        select, report = found
        return select, report
