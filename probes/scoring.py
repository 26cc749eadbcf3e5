"""Scoring a corpus: texts in batches, a model's maps layer by layer, sums by label and cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from mha.batches import collate, plan
from mha.maps import stream_maps
from mha.models import Model
from mha.parallel import in_order
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
        if len(names) < 3 and name not in names:
            names.append(name)

    def update(self, other: Dropped) -> None:
        """Count what another one counted."""
        for reason, count in other.counts.items():
            self.counts[reason] = self.counts.get(reason, 0) + count
            names = self.examples.get(reason, [])
            self.examples[reason] = list(dict.fromkeys(names + other.examples[reason]))[:3]


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

    batch_pieces: int = 4096
    "Pieces a batch, padding included."
    reduce: str = "mean"
    "How the pieces of a word are reduced as queries, one of `mha.batches.REDUCTIONS`."
    workers: int = 0
    "Batches that are scored at the same time, on one thread each; 0 for the number of threads of torch."


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
    keys: list[str]
    "Ids of document and first sentence of the kept texts: they order texts of the same pieces."
    dropped: Dropped

    @classmethod
    def of(cls, model: Model, texts: Texts) -> Aligned:
        """Cut texts into pieces; leave out, and count, what is empty or longer than the model."""
        aligned = cls(texts, [], [], [], [], Dropped())
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
                    aligned.keys.append(f"{text.id} {name_of(text)}")
                number += 1
        return aligned

    def batches(self, budget: int) -> list[list[int]]:
        """Return batches of indices into `kept`, a function of the set of texts alone."""
        return plan(self.pieces, self.keys, budget)

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
    work = _Work(model, aligned, probes, baselines, settings, aligned.blocks())
    batches = aligned.batches(settings.batch_pieces)
    for chosen, scored in zip(batches, in_order(work.score, batches, settings.workers), strict=True):
        for segments, sums in scored.heads:
            heads.add(segments, sums)
        for name, segments, outcome in scored.baselines:
            tallies[name].add_items(segments, outcome)
        aligned.dropped.update(scored.dropped)
        progress(len(chosen))
    words, pieces = sum(cut.words for cut in aligned.pieces), sum(map(len, aligned.pieces))
    return Outcome(heads, tallies, aligned.dropped, len(aligned.kept), words, pieces)


@dataclass
class _Scored:
    """What one batch contributes."""

    dropped: Dropped = field(default_factory=Dropped)
    heads: list[tuple[Segments, Numbers]] = field(default_factory=list)
    baselines: list[tuple[str, Segments, npt.NDArray[np.float32]]] = field(default_factory=list)


@dataclass(frozen=True)
class _Work:
    """Scores one batch after the other; several at the same time do not disturb each other."""

    model: Model
    aligned: Aligned
    probes: Sequence[Probe]
    baselines: Mapping[str, Baseline]
    settings: Settings
    block_of: Mapping[str, int]

    def score(self, chosen: list[int]) -> _Scored:
        scored = _Scored()
        documents = self.aligned.texts.take([self.aligned.kept[i] for i in chosen])
        cut = [self.aligned.pieces[i] for i in chosen]
        groups = ask(self.probes, documents, cut, scored.dropped)
        if groups:
            blocks = np.array([self.block_of[document.id] for document in documents], np.int64)
            segments = Segments.of(groups, blocks)
            scored.heads.append((segments, _score_heads(self.model, groups, segments, cut, self.settings)))
            scored.baselines.extend(_score_baselines(groups, Shown(documents), blocks, self.probes, self.baselines))
        return scored


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
) -> Iterator[tuple[str, Segments, npt.NDArray[np.float32]]]:
    """Yield name, segments and MEASURES [item, measure, 1] of every baseline on every group, labels pooled."""
    by_name = {probe.name: probe for probe in probes}
    for group in groups:
        probe = by_name[group.probe]
        names = applicable(probe, baselines)
        if names:
            items = group.pooled(probe.pool)
            segments = Segments.of([items], blocks)
            for name in names:
                yield name, segments, score_rows(baselines[name].rows(items, shown), items, shown.words)


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
            names = applicable(probe, baselines)
            for items in _groups(probe, [probe.targets(document) for document in documents]) if names else ():
                pooled = items.pooled(probe.pool)
                for name in names:
                    baselines[name].learn(pooled, shown)
    return baselines


def ask(probes: Sequence[Probe], documents: Sequence[Document], cut: Sequence[Pieces], dropped: Dropped) -> list[Items]:
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
