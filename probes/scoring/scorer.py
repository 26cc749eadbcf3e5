"""The scorer: word-level maps against targets. It sees keys and numbers, never language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float
from torch import Tensor

from mha.batches import Batch
from mha.device import exact
from mha.models.maps import SeeBoth, stream_maps, sum_rows
from mha.models.model import Model
from mha.pieces import CLS, SEP
from probes.records import IntArray
from probes.scoring.tally import Numbers, Segments
from probes.targets import OTHERS, TOKENS, Items

NEAR_TIE = 1e-5
"The top two candidates are a near-tie if their attention differs by no more than this."

BROAD_LIMIT = 0.1
"A row is broad if no key gets more (Clark et al. 2019, section 3.2)."

MEASURES = ("hits", "mass", "coverage", "near_ties")
"""What is summed over items, a head each: whether the most attended candidate is gold (k of m candidates that tie
exactly count k_gold / m; no attention on any candidate counts 0); attention on gold; attention on all candidates;
whether the top two are a near-tie. For broad items the mass is the attention outside the most attended key.
Of other maps (`mha.models.maps.MAPS`) mass and coverage have the units of those maps."""

PAIRS = 16_384
"Pairs of an item and a gold key that are scored at a time."

BAG = 64
"Rows of one segment that are summed in float32; sums of bags are added up in `mha.device.exact`."

CPU = torch.device("cpu")

TINY = torch.finfo(torch.float32).tiny
"Attention below this is none; heads that put all on one key leave as little to the others."


@dataclass
class Top:
    """The most attended candidate of every query and head, [*row, head] each."""

    best: Tensor
    coverage: Tensor
    "Sum over the candidates."
    near: Tensor | None
    "Whether another candidate is within NEAR_TIE of the best; None where that is nowhere so."
    ties: Tensor | None
    "Number of candidates equal to the best, itself included; None where that is 1 everywhere."

    def joined(self, value: Tensor) -> Top:
        """Return the same with one more candidate."""
        best = torch.maximum(self.best, value)
        close = ((value - self.best).abs() <= NEAR_TIE) & (torch.minimum(value, self.best) >= TINY)
        near, ties = self.near, self.ties
        if near is not None or bool(close.any()):
            near = close if near is None else close | (near & (self.best >= value))
        tied = close & (value == self.best)
        if ties is not None or bool(tied.any()):
            ties = torch.ones_like(best) if ties is None else ties
            ties = torch.where(value > self.best, 1, ties + tied)
        return Top(best, self.coverage + value, near, ties)

    def fields(self) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
        """Return best, coverage, near and ties, flattened to [row, head]."""
        flat = [None if part is None else part.flatten(0, -2) for part in (self.near, self.ties)]
        return self.best.flatten(0, -2), self.coverage.flatten(0, -2), flat[0], flat[1]


def top_of(values: Tensor, dim: int) -> Top:
    """Return the top along `dim` of attention values; a value below TINY is no candidate."""
    best, second = top_two(values, dim)
    close = second >= (best - NEAR_TIE).clamp_(min=TINY)
    tied = second >= best.clamp(min=TINY)
    ties = (values == best.unsqueeze(dim)).sum(dim).to(best.dtype) if bool(tied.any()) else None
    return Top(best, values.sum(dim), close if bool(close.any()) else None, ties)


def top_two(values: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return the greatest and the second greatest value along `dim`, equal where they tie; -1 where there is no second.

    On the CPU one slice after the other: slices are long stretches of memory, which `amax` and comparisons use less
    well; the rows of baselines are such stretches themselves.
    """
    if values.shape[dim] > 1 and (values.stride(dim) == 1 or values.device.type != "cpu"):
        best, second = values.topk(2, dim).values.unbind(dim)
        return best, second
    first, *others = values.unbind(dim)
    best, second, beaten = first.clone(), torch.full_like(first, -1), torch.empty_like(first)
    for value in others:
        torch.minimum(best, value, out=beaten)
        torch.maximum(second, beaten, out=second)
        torch.maximum(best, value, out=best)
    return best, second


def joined_tops(tops: Sequence[Top]) -> Top:
    """Return the rows of several tops one after the other."""
    fields = [top.fields() for top in tops]
    best, coverage = torch.cat([one[0] for one in fields]), torch.cat([one[1] for one in fields])
    near = ties = None
    if any(one[2] is not None for one in fields):
        near = torch.cat([torch.zeros_like(one[0], dtype=torch.bool) if one[2] is None else one[2] for one in fields])
    if any(one[3] is not None for one in fields):
        ties = torch.cat([torch.ones_like(one[0]) if one[3] is None else one[3] for one in fields])
    return Top(best, coverage, near, ties)


@dataclass(frozen=True)
class Bags:
    """Rows in the order of their segments, in bags of at most BAG rows of one segment."""

    order: IntArray
    "[row]"
    begins: IntArray
    "[bag] Place of its first row in `order`."
    starts: Tensor
    "The same on the device."
    segment: Tensor
    "[bag]"

    @classmethod
    def of(cls, segment: IntArray, device: torch.device) -> Bags:
        """Put rows into bags by the numbers of their segments."""
        order = np.argsort(segment, kind="stable")
        ordered = segment[order]
        begins = np.flatnonzero((np.arange(len(ordered)) - np.searchsorted(ordered, ordered)) % BAG == 0)
        return cls(order, begins, *(torch.from_numpy(part).to(device) for part in (begins, ordered[begins])))

    def parts(self, rows: int) -> Iterator[tuple[slice, slice]]:
        """Yield slices of bags with the slices of their rows, of so many rows at most where a bag has no more."""
        step, ends = max(1, rows // BAG), [*self.begins.tolist(), len(self.order)]
        for first in range(0, len(self.begins), step):
            bags = slice(first, min(first + step, len(self.begins)))
            yield bags, slice(ends[bags.start], ends[bags.stop])


class BatchScorer:
    """Scores all heads of a layer on all items of a batch, layer after layer, and sums them by segment.

    Indices are laid out once a batch, and a map is read a fixed number of times, however many probes ask. Maps come as
    [batch, head, query, key]; they are fastest in the memory order that `mha.models.maps.merge` gives them: query, key,
    batch, head.
    """

    def __init__(
        self,
        groups: Sequence[Items],
        words: IntArray,
        segment: IntArray,
        segments: int,
        device: torch.device = CPU,
    ) -> None:
        """Lay out `groups` for texts of `words` words each, whose maps lie on `device`.

        `segment` is the number of every item's segment, of so many.
        """
        self.texts, self.width, self.segments, self.device = len(words), int(words.max()), segments, device
        self.kinds = sorted({_kind(group) for group in groups if isinstance(group.candidates, str)})
        self.explicit: list[tuple[Tensor, ...]] = []
        place: list[IntArray] = []
        gold: list[IntArray] = []
        gold_item: list[IntArray] = []
        spread: list[npt.NDArray[np.bool_]] = []
        rows, items = len(self.kinds) * self.width * self.texts, 0
        for group in groups:
            if isinstance(group.candidates, str):
                first = self.kinds.index(_kind(group)) * self.width * self.texts
                place.append(first + group.query * self.texts + group.text)
            else:
                key, item = group.candidates
                place.append(rows + np.arange(len(group)))
                listed = self._cells(group, key, item), item, np.searchsorted(item, np.arange(len(group)))
                self.explicit.append(tuple(map(self._placed, listed)))
                rows += len(group)
            gold.append(self._cells(group, *group.gold))
            gold_item.append(group.gold[1] + items)
            spread.append(np.full(len(group), group.spread))
            items += len(group)
        places, pair_item = np.concatenate(place), np.concatenate(gold_item)
        self.bags, self.gold_bags = Bags.of(segment, device), Bags.of(segment[pair_item], device)
        self.place, self.segment = self._placed(places), self._placed(segment)
        self.ordered_place = self._placed(places[self.bags.order])
        self.gold = self._placed(np.concatenate(gold)[self.gold_bags.order])
        self.gold_place = self._placed(places[pair_item[self.gold_bags.order]])
        self.every = self._placed(np.arange(max(BAG, PAIRS)))
        self.spread = self._placed(np.flatnonzero(np.concatenate(spread)))

    def _placed(self, numbers: IntArray) -> Tensor:
        return torch.from_numpy(numbers).to(self.device)

    def _cells(self, group: Items, key: IntArray, item: IntArray) -> IntArray:
        """Return where the attention between items and keys lies: [pair] rows of a map's memory as [cell, head]."""
        keys = self.width + 2
        text, query = group.text[item], group.query[item]
        row, column = (key, query) if group.by_column else (query, key % keys)
        cells: IntArray = (row * keys + column) * self.texts + text
        return cells

    def sums(
        self, maps: Float[Tensor, "batch head query key"], *, shares: bool = False, hits_alone: bool = False
    ) -> Float[Tensor, "segment measure head"]:
        """Return the MEASURES of all heads summed over the items of each segment (`mha.device.exact`).

        The maps lie on the scorer's device. With `shares` a broad row is judged by the share of its sum that its most
        attended key has: rows of norms do not sum to 1. With `hits_alone` the other measures are 0.
        """
        memory = maps.permute(2, 3, 0, 1).contiguous()
        cells = memory.view(-1, maps.shape[1])
        top = self._tops(memory, cells)
        sums = maps.new_zeros(self.segments, len(MEASURES), maps.shape[1], dtype=exact(maps.device))
        self._add_gold(sums, top, cells, hits_alone=hits_alone)
        if not hits_alone:
            covered = sum_rows(top.coverage, self.ordered_place, self.bags.starts)
            sums[:, 2].index_add_(0, self.bags.segment, covered.to(sums.dtype))
            if top.near is not None:
                items = top.near.any(1)[self.place].nonzero()[:, 0]  # few
                sums[:, 3].index_add_(0, self.segment[items], top.near[self.place[items]].to(sums.dtype))
        if len(self.spread):
            self._add_spread(sums, top, shares=shares)
        return sums

    def _add_gold(self, sums: Tensor, top: Top, cells: Tensor, *, hits_alone: bool) -> None:
        """Add hits and mass of items that have gold, of PAIRS at a time, which stay in the cache of a core."""
        least = top.best.clamp(min=TINY)
        measures = 1 if hits_alone else 2
        found = cells.new_empty(len(self.gold_bags.starts), measures, cells.shape[1])
        for bags, pairs in self.gold_bags.parts(PAIRS):
            gold, place = cells.index_select(0, self.gold[pairs]), self.gold_place[pairs]
            winner = least.index_select(0, place)
            hits = torch.ge(gold, winner, out=winner)
            if top.ties is not None:
                hits /= top.ties.index_select(0, place)
            every, starts = self.every[: len(gold)], self.gold_bags.starts[bags] - pairs.start
            for measure, values in enumerate((hits, gold)[:measures]):
                found[bags, measure] = sum_rows(values, every, starts)
        sums[:, :measures].index_add_(0, self.gold_bags.segment, found.to(sums.dtype))

    def _add_spread(self, sums: Tensor, top: Top, *, shares: bool) -> None:
        """Add hits, mass and near-ties of broad items, which follow from the greatest attention of their rows."""
        place = self.place[self.spread]
        row = top.coverage[place].clamp(min=TINY) if shares else torch.ones((), device=self.device)
        measures = _spread_measures(top.best[place] / row).to(sums.dtype)
        measures[:, 1] *= row
        if top.near is not None:
            measures[:, 3] -= top.near[place].to(sums.dtype)
        sums.index_add_(0, self.segment[self.spread], measures)

    def _tops(self, memory: Float[Tensor, "query key batch head"], cells: Tensor) -> Top:
        """Return the tops of all queries for each kind of named candidates, then those of explicit candidates."""
        diagonal = torch.arange(self.width, device=self.device)
        itself = memory[diagonal, diagonal]
        memory[diagonal, diagonal] = 0
        others = memory[:, : self.width]
        tops: list[Top] = []
        by_row = top_of(others, 1) if any(not by_column for by_column, _ in self.kinds) else None
        for by_column, kind in self.kinds:
            top = top_of(others, 0) if by_column else by_row
            assert top is not None
            if kind != OTHERS:
                top = top.joined(itself)
            if kind == TOKENS:
                top = top.joined(memory[:, CLS]).joined(memory[:, SEP])
            tops.append(top)
        memory[diagonal, diagonal] = itself
        tops.extend(top_of_listed(cells.index_select(0, where), *listed) for where, *listed in self.explicit)
        return joined_tops(tops)


def top_of_listed(values: Tensor, item: Tensor, starts: Tensor) -> Top:
    """Return the tops [item, head] of candidates that are listed item by item, each from its start to the next."""
    every = torch.arange(len(item), device=item.device)
    empty = values.new_zeros(len(starts), values.shape[1])
    best = empty.scatter_reduce(0, item[:, None].expand_as(values), values, "amax", include_self=False)
    of_item = best.index_select(0, item)
    close = values >= (of_item - NEAR_TIE).clamp_(min=TINY)
    near, ties = (sum_rows(flags.to(values.dtype), every, starts) for flags in (close, values == of_item))
    return Top(best, sum_rows(values, every, starts), near > 1, ties.clamp_(min=1))


def _spread_measures(peak: Tensor) -> Tensor:
    """Return the MEASURES [item, measure, head] of broad items but for coverage, which is left 0."""
    near = (peak - BROAD_LIMIT).abs() <= NEAR_TIE
    parts = ((peak <= BROAD_LIMIT).to(peak.dtype), 1 - peak, torch.zeros_like(peak), near.to(peak.dtype))
    return torch.stack(parts, 1)


def score_rows(rows: npt.NDArray[np.float32], items: Items, words: IntArray) -> npt.NDArray[np.float32]:
    """Return the MEASURES [item, measure, 1] of a baseline that says for each item what its row (or column) is.

    `rows` is [item, key] with keys as in maps; `words` is the number of words of each text of the batch.
    """
    values = torch.from_numpy(np.where(allowed_keys(rows.shape, items, words), rows, 0))
    top = top_of(values, 1)
    if items.spread:
        measures = _spread_measures(top.best[:, None])
    else:
        item = torch.from_numpy(items.gold[1])
        gold = values[item, torch.from_numpy(items.gold[0])]
        hits = (gold >= top.best.clamp(min=TINY)[item]).to(gold.dtype)
        hits = hits if top.ties is None else hits / top.ties[item]
        measures = values.new_zeros(len(items), len(MEASURES), 1)
        measures[:, :2, 0].index_add_(0, item, torch.stack([hits, gold], 1))
        measures[:, 3, 0] = 0 if top.near is None else top.near.to(gold.dtype)
    measures[:, 2, 0] = top.coverage
    scored: npt.NDArray[np.float32] = measures.numpy()
    return scored


def allowed_keys(shape: tuple[int, ...], items: Items, words: IntArray) -> npt.NDArray[np.bool_]:
    """Return [item, key], True at the candidates of each item."""
    if not isinstance(items.candidates, str):
        allowed = np.zeros(shape, bool)
        allowed[items.candidates[1], items.candidates[0]] = True
        return allowed
    allowed = np.arange(shape[1]) < words[items.text][:, None]
    if items.candidates == OTHERS:
        allowed[np.arange(len(items)), items.query] = False
    elif items.candidates == TOKENS:
        allowed[:, -2:] = True
    return allowed


def _kind(group: Items) -> tuple[bool, str]:
    assert isinstance(group.candidates, str)
    return group.by_column, group.candidates


@dataclass(frozen=True)
class BatchQuestions:
    """A batch with its questions; nothing in it depends on the model's weights."""

    batch: Batch
    scorer: BatchScorer
    segments: Segments

    @classmethod
    def of(cls, groups: list[Items], segments: Segments, batch: Batch) -> BatchQuestions:
        """Lay out the questions of a batch, on its device."""
        scorer = BatchScorer(groups, batch.words.numpy(), segments.of_item, len(segments), batch.device)
        return cls(batch, scorer, segments)

    def sums(
        self, model: Model, also: Sequence[SeeBoth] = (), *, maps: str = "weights", hits_alone: bool = False
    ) -> Numbers:
        """Return the sums [segment, measure, layer * head] of all heads; `also` see the same maps.

        `maps` is one of `mha.models.maps.MAPS`. With `hits_alone` other measures are not looked at.
        """
        sums = np.empty((len(self.segments), len(MEASURES), model.layers, model.heads))

        def see(layer: int, of_layer: Tensor) -> None:
            options = {"shares": maps == "norms", "hits_alone": hits_alone}
            found = self.scorer.sums(of_layer.to(self.scorer.device), **options)
            sums[:, :, layer] = found.cpu().numpy()

        stream_maps(model, self.batch, see, also, maps=maps)
        return sums.reshape(len(self.segments), len(MEASURES), -1)
