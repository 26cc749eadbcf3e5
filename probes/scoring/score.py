"""Scoring a corpus: texts in batches, a model's maps layer by layer, sums by label and cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mha.batches import Batch, collate
from mha.causal.interventions import Change, intervene
from mha.models.kept_maps import KeptMaps
from mha.models.maps import SeeMaps, stream_maps
from mha.models.model import Model
from mha.parallel import in_order
from mha.pieces import Pieces
from probes.corpora.corpus import Texts
from probes.records import Document, IntArray
from probes.registry import Probe
from probes.scoring.aligned import CHUNK, Aligned, Dropped, Places, name_of
from probes.scoring.baseline_texts import Shown
from probes.scoring.baselines import BASELINES, LEXICAL, Baseline, LexicalTable
from probes.scoring.expert_rules import BY_TAGS, RULES
from probes.scoring.observers import Observation, Observer
from probes.scoring.scorer import BatchQuestions, score_rows
from probes.scoring.tally import Numbers, Segments, Tally
from probes.targets import Items, Targets, gather

Changes = Callable[[Sequence[Document], Batch], Sequence[Change]]
"Called with the texts of a batch; returns how heads are changed while the model reads it."

PIECELESS = "question about a word that the tokenizer turns into nothing, or reads in one piece with the word before it"


@dataclass(frozen=True)
class Outcome:
    """All sums of one model (or of the baselines) on one split."""

    heads: Tally
    baselines: Mapping[str, Tally]
    "By name, the lexical table included; a tally of one each, with pooled labels."
    dropped: Dropped
    texts: int
    words: int
    pieces: int
    odd: Dropped
    "Words that are read in a way that a reader should know, by reason (`Aligned.odd`)."


@dataclass(frozen=True)
class Settings:
    """How maps are read."""

    batch_pieces: int = 2048
    "Pieces a batch, padding included."
    reduce: str = "mean"
    "How the pieces of a word are reduced as queries, one of `mha.batches.REDUCTIONS`."
    workers: int = 0
    "Batches that are scored at the same time, on one thread each; 0 for the number of threads of torch."
    maps: str = "weights"
    "What is read of the heads, one of `mha.models.maps.MAPS`."
    kept: KeptMaps | None = None
    "Maps of a model that has read its texts before."

    def stream(self, model: Model, batch: Batch, see: SeeMaps) -> None:
        """Show `see` the maps of each layer, as `mha.models.maps.stream_maps` does; kept ones without a pass."""
        if self.kept is None:
            stream_maps(model, batch, see, maps=self.maps)
        else:
            self.kept.stream(model, batch, see, maps=self.maps)


def score_corpus(
    model: Model,
    texts: Texts,
    probes: Sequence[Probe],
    baselines: Mapping[str, Baseline],
    settings: Settings,
    progress: Callable[[int], None] = lambda texts: None,
    *,
    changes: Changes = lambda documents, batch: (),
    hits_alone: bool = False,
    observers: Sequence[Observer] = (),
) -> Outcome:
    """Score every head, and every baseline, on every question that `probes` ask of `texts`.

    `progress` is called with the number of texts after each batch. `changes` says how heads are changed while the model
    reads a batch (`mha.causal.interventions.intervene`). With `hits_alone` no other measure of heads is kept.
    `observers` are shown the maps of every batch, also of one that no question is about.
    """
    aligned = Aligned.of(model, texts)
    heads = Tally(model.layers * model.heads, hits_alone=hits_alone)
    tallies = {name: Tally(1) for name in baselines}
    how = (settings, aligned.blocks(), changes, observers, hits_alone)
    work = _Work(model, aligned, probes, baselines, *how)
    batches = aligned.batches(settings.batch_pieces)
    for chosen, scored in zip(batches, in_order(work.score, batches, settings.workers), strict=True):
        for segments, sums in scored.heads:
            heads.add(segments, sums)
        for name, segments, outcome in scored.baselines:
            tallies[name].add_items(segments, outcome)
        for observer, look in zip(observers, scored.looks, strict=True):
            observer.add(look)
        aligned.dropped.update(scored.dropped)
        progress(len(chosen))
    words, pieces = sum(cut.words for cut in aligned.pieces), sum(map(len, aligned.pieces))
    return Outcome(heads, tallies, aligned.dropped, len(aligned.kept), words, pieces, aligned.odd)


@dataclass
class _Scored:
    """What one batch contributes."""

    dropped: Dropped = field(default_factory=Dropped)
    heads: list[tuple[Segments, Numbers]] = field(default_factory=list)
    baselines: list[tuple[str, Segments, npt.NDArray[np.float32]]] = field(default_factory=list)
    looks: list[Observation] = field(default_factory=list)
    "One an observer."


@dataclass(frozen=True)
class _Work:
    """Scores one batch after the other; several at the same time do not disturb each other."""

    model: Model
    aligned: Aligned
    probes: Sequence[Probe]
    baselines: Mapping[str, Baseline]
    settings: Settings
    block_of: Mapping[str, int]
    changes: Changes
    observers: Sequence[Observer]
    hits_alone: bool

    @cached_property
    def by_name(self) -> dict[str, Probe]:
        return {probe.name: probe for probe in self.probes}

    def score(self, chosen: list[int]) -> _Scored:
        scored = _Scored()
        documents = self.aligned.texts.take([self.aligned.kept[i] for i in chosen])
        cut = [self.aligned.pieces[i] for i in chosen]
        groups = ask(self.probes, documents, cut, scored.dropped)
        if groups or self.observers:
            batch = collate(cut, reduce=self.settings.reduce, padding=self.model.padding).to(self.model.device)
            scored.looks = [observer.observe(documents, batch, groups) for observer in self.observers]
            with _changed(self.model, self.changes(documents, batch)):
                self._read(batch, groups, documents, scored)
        return scored

    def _read(self, batch: Batch, groups: list[Items], documents: Sequence[Document], scored: _Scored) -> None:
        """Let the model read a batch, for the questions about it and for whoever looks at its maps."""
        also = [look.see for look in scored.looks]
        if not groups:
            stream_maps(self.model, batch, lambda layer, maps: None, also, maps=self.settings.maps)
            return
        blocks = np.array([self.block_of[document.id] for document in documents], np.int64)
        shown = Shown(documents)
        segments = Segments.of(groups, blocks)
        asked = BatchQuestions.of(groups, segments, batch)
        sums = asked.sums(self.model, also, maps=self.settings.maps, hits_alone=self.hits_alone)
        scored.heads.append((segments, sums))
        scored.baselines.extend(score_baselines(groups, shown, blocks, self.by_name, self.baselines))


def _changed(model: Model, changes: Sequence[Change]) -> AbstractContextManager[None]:
    return intervene(model.module, *changes) if changes else nullcontext()


def score_baselines(
    groups: list[Items],
    shown: Shown,
    blocks: IntArray,
    by_name: Mapping[str, Probe],
    baselines: Mapping[str, Baseline],
) -> Iterator[tuple[str, Segments, npt.NDArray[np.float32]]]:
    """Yield name, segments and MEASURES [item, measure, 1] of every baseline on every group, labels pooled."""
    for group in groups:
        probe = by_name[group.probe]
        names = applicable(probe, baselines)
        if names and not group.spread:  # rows that are told to be broad are broad: no baseline, but the ceiling
            items = group.pooled(probe.pool)
            segments = Segments.of([items], blocks)
            for name in names:
                yield name, segments, score_rows(baselines[name].rows(items, shown), items, shown.words)


def applicable(probe: Probe, baselines: Iterable[str]) -> list[str]:
    """Return the names of the baselines and rules that make sense for a probe.

    The lexical table does where a probe needs more than words.
    """
    known = {*probe.baselines, *probe.rules, *((LEXICAL,) if probe.needs != "words" else ())}
    return [name for name in baselines if name in known]


def learn_baselines(
    texts: Texts,
    probes: Sequence[Probe],
    names: Iterable[str],
    *,
    lexical: bool = True,
) -> dict[str, Baseline]:
    """Return the named baselines and rules, and the lexical table, taught with the questions of the selection split.

    Rules that go by parts of speech are left out where most words have none of Universal Dependencies.
    """
    baselines: dict[str, Baseline] = {name: (BASELINES | RULES)[name]() for name in names}
    tagged = words = 0
    if lexical:
        baselines[LEXICAL] = LexicalTable()
    for documents in texts.chunks(CHUNK):
        shown = Shown(documents)
        tagged, words = tagged + int(np.count_nonzero(shown.tags)), words + int(shown.words.sum())
        for probe in probes:
            learners = [baselines[name] for name in applicable(probe, baselines)]
            asked = [probe.targets(document) for document in documents] if learners else []
            for items in _groups(probe, asked) if asked else ():
                if items.spread:
                    continue
                pooled = items.pooled(probe.pool)
                for learner in learners:
                    learner.learn(pooled, shown)
    return {name: one for name, one in baselines.items() if name not in BY_TAGS or 2 * tagged >= words}


def ask(
    probes: Sequence[Probe],
    documents: Sequence[Document],
    cut: Sequence[Pieces],
    dropped: Dropped,
    places: Places | None = None,
) -> list[Items]:
    """Return the questions about a batch; those about words without pieces are left out and counted.

    With `places` the questions are those about the texts as they are, and follow the words to where the model reads
    them: a head that knows a word by its form alone keeps its accuracy, one that goes by order or syntax loses it.
    """
    missing = {i: gone for i, pieces in enumerate(cut) if (gone := pieces.missing())}
    moves = None if places is None else [places(document) for document in documents]
    groups: list[Items] = []
    for probe in probes:
        asked = [probe.targets(document) for document in documents]
        for i, to in enumerate(moves or ()):
            asked[i] = {name: targets.moved(to) for name, targets in asked[i].items()}
        for i, gone in missing.items():
            asked[i] = {name: _without(targets, gone, documents[i], dropped) for name, targets in asked[i].items()}
        groups.extend(_groups(probe, asked))
    return groups


def _groups(probe: Probe, asked: Sequence[Mapping[str, Targets]]) -> Iterator[Items]:
    for variant in probe.variants:
        items = gather(probe.name, variant, [targets[variant] for targets in asked])
        if len(items):
            yield items


def _without(targets: Targets, gone: list[int], document: Document, dropped: Dropped) -> Targets:
    """Return the items whose query and gold have pieces."""
    key, item = targets.gold
    bad = np.isin(targets.query, gone)
    bad[item[np.isin(key, gone)]] = True
    if not bad.any():
        return targets
    dropped.add(PIECELESS, name_of(document), int(bad.sum()))
    whole = gather("", "", [targets]).take(np.flatnonzero(~bad))
    label = [whole.labels[i] for i in whole.label]
    return replace(targets, query=whole.query, gold=whole.gold, label=label, candidates=whole.candidates)
