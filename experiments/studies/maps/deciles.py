"""A head's whole distribution in a run: deciles of its attention between words, and a description that is scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from pydantic import Field

from experiments.config.config import StudySection
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from mha import Model
from mha.batches import collate
from mha.models.maps import stream_maps
from probes.corpora.corpus import MemoryTexts, Texts
from probes.distribution.deciles import Deciles
from probes.distribution.description import RulePredictions, describe
from probes.evidence.results import SPLITS
from probes.scoring.aligned import Aligned, sample_texts
from probes.scoring.observers import Observer


class DecilesSection(StudySection):
    """Deciles of each head's attention between words over the whole report split, and a description of the head."""

    table = "deciles"
    enabled: bool = False
    "Whether they are counted, in the pass in which heads are scored."
    random_texts: int = Field(default=200, ge=1)
    "Sentences of each split that a randomly initialised model reads, to which descriptions are fitted the same way."


@dataclass(frozen=True)
class DecileStudy(Study[DecilesSection]):
    """What heads link with how much attention, over all sentences of the report split."""

    name = "deciles"
    reads = DecilesSection

    @classmethod
    def open(cls, run: RunContext, section: DecilesSection) -> Self | None:
        """Return the study where it is wanted and the run reads sentences' attention; else a note says why not."""
        if not section.enabled:
            return None
        if run.config.scoring.maps != "weights" or "sentence" not in run.scopes:
            run.note("deciles: they are of attention in sentences, which the run does not read")
            return None
        return cls(run, section)

    def observers(self, scope: str, split: str, texts: Texts) -> Sequence[Observer]:
        """Return what sees the maps of a split of sentences."""
        if scope != "sentence":
            return []
        shape = (self.run.model.layers, self.run.model.heads)
        return [RulePredictions(*shape), *([Deciles(*shape)] if split == SPLITS[1] else [])]

    def measure(self, read: ReadOfStudy) -> Result:
        """Return a row a head and decile, and a row a head with its description."""
        [scored] = [one for one in read.parts if one.part.scope == "sentence"]
        (select,), (report,) = (scored.observed(RulePredictions, split) for split in SPLITS)
        [deciles] = scored.observed(Deciles, SPLITS[1])
        described = describe(select, report, self._untrained())
        between = deciles.between()[["layer", "head", "between"]]
        return Result({"deciles": deciles.table(), "descriptions": described.merge(between, on=["layer", "head"])})

    def _untrained(self) -> tuple[RulePredictions, RulePredictions]:
        model = self.run.random_model()
        texts = self.run.texts("sentence")
        select, report = (MemoryTexts(sample_texts(one, self.section.random_texts)) for one in texts)
        return self._predictions(model, select), self._predictions(model, report)

    def _predictions(self, model: Model, texts: MemoryTexts) -> RulePredictions:
        """Return what rules predict of a model on texts."""
        found, settings = RulePredictions(model.layers, model.heads), self.run.settings
        aligned = Aligned.of(model, texts)
        for chosen in aligned.batches(settings.batch_pieces):
            documents = texts.take([aligned.kept[i] for i in chosen])
            pieces = [aligned.pieces[i] for i in chosen]
            batch = collate(pieces, reduce=settings.reduce, padding=model.padding)
            look = found.observe(documents, batch)
            stream_maps(model, batch, lambda layer, maps: None, [look.see])
            found.add(look)
        return found
