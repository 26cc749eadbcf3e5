"""Scoring a corpus: texts in batches, a model's maps layer by layer, sums by label and cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from mha.batches import collate, plan
from mha.maps import stream_maps
from mha.models import Model
from mha.pieces import Pieces, align
from probes.baselines import BASELINES, LEXICAL, Baseline, LexicalTable, Shown
from probes.corpora import Texts
from probes.records import Document, IntArray
from probes.registry import Probe
from probes.scorer import BatchScorer, score_rows
from probes.tally import Numbers, Segments, Tally, cluster_blocks
from probes.targets import Items, Targets, gather

CHUNK = 512
"Texts that are tokenised, or learned from, at a time."


@dataclass
class Dropped:
    """What was left out and why: a count and the first few names for every reason."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, name: str, count: int = 1) -> None:
        """Count something that was left out."""
        self.counts[reason] = self.counts.get(reason, 0) + count
        names = self.examples.setdefault(reason, [])
        if len(names) < 3:
            names.append(name)


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


@dataclass(frozen=True)
class Settings:
    """How maps are read."""

    batch_pieces: int = 2048
    reduce: str = "mean"


@dataclass(frozen=True)
class Aligned:
    """Texts with their pieces, ready for batches."""

    texts: Texts
    kept: list[int]
    "Indices of the texts that the model can read."
    pieces: list[Pieces]
    "Of the kept texts."
    names: list[str]
    "Document ids of the kept texts."
    dropped: Dropped

    @classmethod
    def of(cls, model: Model, texts: Texts) -> Aligned:
        """Cut texts into pieces; leave out, and count, what is empty or longer than the model."""
        aligned = cls(texts, [], [], [], Dropped())
        number = 0
        for chunk in texts.chunks(CHUNK):
            for text, cut in zip(chunk, align(model.tokenizer, [text.words for text in chunk]), strict=True):
                if len(text) == 0:
                    aligned.dropped.add("text without words", name_of(text))
                elif len(cut) > model.max_pieces:
                    aligned.dropped.add(f"longer than the model ({model.max_pieces} pieces)", name_of(text))
                else:
                    aligned.kept.append(number)
                    aligned.pieces.append(cut)
                    aligned.names.append(text.id)
                number += 1
        return aligned

    def batches(self, budget: int) -> list[list[int]]:
        """Return batches of indices into `kept`, a function of the set of texts alone."""
        return plan(self.pieces, self.names, budget)

    def blocks(self) -> dict[str, int]:
        """Return the cluster block of every document id."""
        return cluster_blocks(self.names)


def name_of(text: Document) -> str:
    """Return the id of a text's first sentence, or of its document."""
    return text.sentences[0].id if text.sentences else text.id


def score_corpus(
    model: Model,
    texts: Texts,
    probes: Sequence[Probe],
    baselines: Mapping[str, Baseline],
    settings: Settings,
    progress: Callable[[int], None] = lambda texts: None,
) -> Outcome:
    """Score every head, and every baseline, on every question that `probes` ask of `texts`.

    `progress` is called with the number of texts after each batch.
    """
    aligned = Aligned.of(model, texts)
    heads = Tally(model.layers * model.heads)
    tallies = {name: Tally(1) for name in baselines}
    words = pieces = 0
    block_of = aligned.blocks()
    for chosen in aligned.batches(settings.batch_pieces):
        documents = texts.take([aligned.kept[i] for i in chosen])
        cut = [aligned.pieces[i] for i in chosen]
        groups = ask(probes, documents, cut, aligned.dropped)
        blocks = np.array([block_of[document.id] for document in documents], np.int64)
        if groups:
            segments = Segments.of(groups, blocks)
            heads.add(segments, _score_heads(model, groups, segments, cut, settings))
            _score_baselines(groups, Shown(documents), blocks, probes, baselines, tallies)
        words += sum(piece.words for piece in cut)
        pieces += sum(map(len, cut))
        progress(len(chosen))
    return Outcome(heads, tallies, aligned.dropped, len(aligned.kept), words, pieces)


def _score_heads(
    model: Model, groups: list[Items], segments: Segments, cut: list[Pieces], settings: Settings
) -> Numbers:
    """Return the sums [segment, measure, layer * head] of a batch."""
    batch = collate(cut, reduce=settings.reduce, padding=model.padding)
    scorer = BatchScorer(groups, batch.words.numpy())
    of_item = torch.from_numpy(segments.of_item)
    sums = np.empty((len(segments), 4, model.layers, model.heads))

    def see(layer: int, maps: Tensor) -> None:
        sums[:, :, layer] = scorer.sums(maps, of_item, len(segments)).numpy()

    stream_maps(model, batch, see)
    return sums.reshape(len(segments), 4, -1)


def _score_baselines(
    groups: list[Items],
    shown: Shown,
    blocks: IntArray,
    probes: Sequence[Probe],
    baselines: Mapping[str, Baseline],
    tallies: Mapping[str, Tally],
) -> None:
    by_name = {probe.name: probe for probe in probes}
    for group in groups:
        probe = by_name[group.probe]
        items = group.pooled(probe.pool)
        segments = Segments.of([items], blocks)
        for name in applicable(probe, baselines):
            tallies[name].add_items(segments, score_rows(baselines[name].rows(items, shown), items, shown.words))


def applicable(probe: Probe, baselines: Iterable[str]) -> list[str]:
    """Return the names of the baselines that make sense for a probe; the lexical table where words are the answer."""
    lexical = probe.needs != "words"
    return [name for name in baselines if name in probe.baselines or (name == LEXICAL and lexical)]


def learn_baselines(
    texts: Texts, probes: Sequence[Probe], names: Iterable[str], *, lexical: bool = True
) -> dict[str, Baseline]:
    """Return the named baselines, and the lexical table, taught with the questions of the selection split."""
    baselines: dict[str, Baseline] = {name: BASELINES[name]() for name in names}
    if lexical:
        baselines[LEXICAL] = LexicalTable()
    for documents in texts.chunks(CHUNK):
        shown = Shown(documents)
        for probe in probes:
            for items in _groups(probe, [probe.targets(document) for document in documents]):
                pooled = items.pooled(probe.pool)
                for name in applicable(probe, baselines):
                    baselines[name].learn(pooled, shown)
    return baselines


def ask(
    probes: Sequence[Probe], documents: Sequence[Document], cut: Sequence[Pieces], dropped: Dropped
) -> list[Items]:
    """Return the questions about a batch; those about words without pieces are left out and counted."""
    missing = {i: gone for i, pieces in enumerate(cut) if (gone := pieces.missing())}
    groups: list[Items] = []
    for probe in probes:
        asked = [probe.targets(document) for document in documents]
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
    dropped.add("question about a word that the tokenizer turns into nothing", name_of(document), int(bad.sum()))
    whole = gather("", "", [targets]).take(np.flatnonzero(~bad))
    label = [whole.labels[i] for i in whole.label]
    return replace(targets, query=whole.query, gold=whole.gold, label=label, candidates=whole.candidates)
