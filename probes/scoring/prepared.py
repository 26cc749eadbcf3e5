"""Prepared targets: questions about a corpus, asked once of many models, such as the checkpoints of a training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mha.batches import collate
from mha.models.model import Model
from mha.parallel import in_order
from probes.corpora.corpus import Texts
from probes.registry import Probe
from probes.scoring.aligned import Aligned, Dropped, Places
from probes.scoring.baseline_texts import Shown
from probes.scoring.baselines import Baseline
from probes.scoring.score import Settings, ask, score_baselines
from probes.scoring.scorer import BatchQuestions
from probes.scoring.tally import Numbers, Pooled, Segments, Tally


class PreparedError(ValueError):
    """A model that reads other pieces than those of the prepared targets."""


@dataclass(frozen=True)
class PreparedTargets:
    """All about a corpus that does not depend on weights: pieces, batches, targets and what baselines achieve."""

    probes: Sequence[Probe]
    batches: Sequence[BatchQuestions]
    baselines: Mapping[str, Pooled]
    "By name: the sums of one scored column a question."
    dropped: Dropped
    texts: int
    tokenizer: str
    "The tokenizer in JSON."
    max_pieces: int
    workers: int
    maps: str = "weights"
    "What is read of the heads, one of `mha.models.maps.MAPS`."

    @classmethod
    def of(
        cls,
        model: Model,
        texts: Texts,
        probes: Sequence[Probe],
        baselines: Mapping[str, Baseline],
        settings: Settings,
        places: Places | None = None,
    ) -> PreparedTargets:
        """Lay out what `probes` ask of `texts`, in the pieces of `model`, and score the (taught) baselines.

        With `places` models read the words of every text in another order, and the questions follow them
        (`probes.scoring.score.ask`). Raises ValueError for baselines beside `places`: they read no other order.
        """
        if places is not None and baselines:
            raise ValueError("baselines read words in their order, without `places`")
        aligned = Aligned.of(model, texts, places)
        by_name, block_of = {probe.name: probe for probe in probes}, aligned.blocks()
        tallies = {name: Tally(1) for name in baselines}
        batches = []
        for chosen in aligned.batches(settings.batch_pieces):
            documents = texts.take([aligned.kept[i] for i in chosen])
            cut = [aligned.pieces[i] for i in chosen]
            groups = ask(probes, documents, cut, aligned.dropped, places)
            if not groups:
                continue
            blocks = np.array([block_of[document.id] for document in documents], np.int64)
            batch = collate(cut, reduce=settings.reduce, padding=model.padding).to(model.device)
            batches.append(BatchQuestions.of(groups, Segments.of(groups, blocks), batch))
            for name, segments, outcome in score_baselines(groups, Shown(documents), blocks, by_name, baselines):
                tallies[name].add_items(segments, outcome)
        pooled: dict[str, Pooled] = {
            name: dict(tally.pooled(lambda question: (question[2],))) for name, tally in tallies.items()
        }
        kept, tokenizer = len(aligned.kept), model.tokenizer.to_str()
        facts = (aligned.dropped, kept, tokenizer, model.max_pieces, settings.workers, settings.maps)
        return cls(probes, batches, pooled, *facts)

    def fits(self, model: Model) -> bool:
        """Return whether a model cuts texts into the pieces of these targets, and reads as many of them."""
        return bool(model.max_pieces == self.max_pieces and model.tokenizer.to_str() == self.tokenizer)

    def put(
        self, model: Model, progress: Callable[[int], None] = lambda texts: None, *, hits_alone: bool = False
    ) -> Pooled:
        """Return the sums of all heads of a model on every question, labels pooled.

        They are those of `probes.scoring.score.score_corpus` on the same texts. `progress` is called with the number of
        texts after each batch. With `hits_alone` no other measure is kept. Raises PreparedError for a model with
        another tokenizer or another longest input.
        """
        if not self.fits(model):
            raise PreparedError(
                f"{model.name}: another tokenizer or longest input than the prepared targets; make new ones for it"
            )
        by_name = {probe.name: probe for probe in self.probes}
        tally = Tally(model.layers * model.heads, hits_alone=hits_alone)

        def read(asked: BatchQuestions) -> Numbers:
            return asked.sums(model, maps=self.maps, hits_alone=hits_alone)

        for asked, sums in zip(self.batches, in_order(read, self.batches, self.workers), strict=True):
            tally.add(asked.segments, sums)
            progress(len(asked.batch.words))
        return dict(tally.pooled(lambda question: by_name[question[0]].pool(question[2])))
