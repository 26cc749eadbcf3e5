"""Deciles of a head's attention between words over a whole corpus, in memory that does not grow with it.

Attention falls into bins whose edges are those of its floating-point number: 8 bins between a power of 2 and the next,
so that a bin's upper edge is at most an eighth above its lower one, as in a high-dynamic-range histogram. Of every bin
is counted what its pairs link; deciles are put together from bins, and take their part of a bin on their border.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from torch import Tensor

from mha.batches import Batch
from probes.corpora.annotation import ud_trees
from probes.evidence.results import named_heads
from probes.records import Document, IntArray, basic
from probes.scoring.hashed_random import draws, random_bits
from probes.scoring.tally import Numbers
from probes.targets import Items

TAGS: Final = (*sorted(ud_trees.TAGS), "")
"Universal parts of speech (de Marneffe et al. 2021, table 1); the last stands for any other."

RELATIONS: Final = (*sorted(ud_trees.RELATIONS - {"root"}), "")
"Universal relations without the root (the same, table 2); the last stands for any other."

FARTHEST: Final = 9
"Offsets of so many words or more count as this."

UNRELATED: Final = 2 * len(RELATIONS)
"The kind of relation of two words that no arc links."

_TAG: Final[Mapping[str, int]] = {tag: place for place, tag in enumerate(TAGS)}
_RELATION: Final[Mapping[str, int]] = {relation: place for place, relation in enumerate(RELATIONS)}

KINDS: Final[Mapping[str, int]] = {
    "tags": len(TAGS) ** 2,
    "relations": UNRELATED + 1,
    "offsets": 2 * FARTHEST + 1,
}
"What is told of a pair -> how many values it has."


def tags_of(text: Document) -> IntArray:
    """Return the place in TAGS of every word's part of speech, [word]."""
    return np.array([_TAG.get(tag, len(TAGS) - 1) for tag in text.upos], np.int64)


@dataclass(frozen=True)
class LinkedWords:
    """The pairs of different words of a batch, text after text, [pair]."""

    text: IntArray
    "Place in the batch."
    query: IntArray
    key: IntArray
    kinds: Mapping[str, IntArray]
    "Name of KINDS -> value of each pair."
    random: npt.NDArray[np.uint64]
    "A random number for each pair: a hash of its text's ids and its place."

    @classmethod
    def of(cls, texts: Sequence[Document]) -> LinkedWords:
        """Lay out the pairs of these texts."""
        parts: list[tuple[Any, ...]] = [_pairs(number, text) for number, text in enumerate(texts)]
        text, query, key, tags, relations, random = (np.concatenate(part) for part in zip(*parts, strict=True))
        offsets = np.clip(key - query, -FARTHEST, FARTHEST) + FARTHEST
        return cls(text, query, key, {"tags": tags, "relations": relations, "offsets": offsets}, random)


def _pairs(number: int, text: Document) -> tuple[Any, ...]:
    n = len(text)
    query, key = np.nonzero(~np.eye(n, dtype=bool))
    tags = tags_of(text)
    of_pair = np.full((n, n), UNRELATED)
    arcs = [(word, int(head)) for word, head in enumerate(text.heads) if head >= 0]
    for word, head in arcs:
        of_pair[word, head] = _RELATION.get(basic(text.deprels[word]), len(RELATIONS) - 1)
    for word, head in arcs:
        of_pair[head, word] = len(RELATIONS) + of_pair[word, head]
    seed = np.uint64(draws("pairs", text.id, text.sentences[0].id)[0])
    random = random_bits(np.arange(n * n, dtype=np.uint64) ^ seed).reshape(n, n)
    return (
        np.full(len(query), number),
        query,
        key,
        tags[query] * len(TAGS) + tags[key],
        of_pair[query, key],
        random[query, key],
    )


def kind_name(kind: str, value: int) -> str:
    """Return what a value of KINDS is called.

    >>> kind_name("tags", 1), kind_name("relations", 26), kind_name("relations", UNRELATED), kind_name("offsets", 8)
    ('ADJ→ADP', 'nsubj: dependent→head', 'no arc', '-1')
    """
    if kind == "tags":
        query, key = divmod(value, len(TAGS))
        return f"{TAGS[query] or 'other'}→{TAGS[key] or 'other'}"
    if kind == "offsets":
        return f"{value - FARTHEST:+d}"
    if value == UNRELATED:
        return "no arc"
    upward, relation = value < len(RELATIONS), RELATIONS[value % len(RELATIONS)]
    return f"{relation or 'other'}: {'dependent→head' if upward else 'head→dependent'}"


PARTS: Final = 10
"Deciles."

MOST: Final = 3
"Kinds of pairs that a decile names, and strongest pairs of a head that are kept."

_OCTAVES, _MANTISSA = 20, 3
_SHIFT = 23 - _MANTISSA
_FIRST = (127 - _OCTAVES) << _MANTISSA

BINS: Final = (_OCTAVES << _MANTISSA) + 1
"The first bin holds all below 2^-20 too, the last holds 1."

EDGES: Final[npt.NDArray[np.float64]] = np.array(
    [0.0, *((1 + place % 8 / 8) * 2.0 ** (place // 8 - _OCTAVES) for place in range(1, BINS)), 1.0]
)
"[BINS + 1] Lower edge of every bin, and 1."


def bins_of(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """Return the bin of every weight in [0, 1].

    >>> [float(EDGES[place]) for place in bins_of(np.array([0.0, 0.3, 0.5, 1.0], np.float32))]
    [0.0, 0.28125, 0.5, 1.0]
    """
    bits = np.ascontiguousarray(weights, np.float32).view(np.int32).astype(np.int64)
    places: npt.NDArray[np.int64] = np.clip((bits >> _SHIFT) - _FIRST, 0, BINS - 1)
    return places


class Deciles:
    """An observer that counts pairs of words by bin and kind, head by head (`probes.scoring.observers.Observer`)."""

    def __init__(self, layers: int, heads: int) -> None:
        self.shape = (layers, heads)
        self.counts = {kind: np.zeros((layers, heads, BINS, values), np.int64) for kind, values in KINDS.items()}
        self.mass = np.zeros(self.shape)
        "[layer, head] Sum of attention between different words."
        self.queries = 0
        self._lowest = np.full((layers, heads, BINS), np.iinfo(np.uint64).max)
        self._random = np.full((layers, heads, BINS), None, object)
        self._strongest: dict[tuple[int, int], list[tuple[float, int, Place]]] = {}

    def observe(self, documents: Sequence[Document], batch: Batch, items: Sequence[Items] = ()) -> DecileObservation:
        """Return what counts the pairs of a batch."""
        return DecileObservation(documents, self.shape)

    def add(self, observation: DecileObservation) -> None:
        """Add the pairs of a batch."""
        self.queries += sum(len(text) for text in observation.documents if len(text) > 1)
        self.mass += observation.mass
        for kind, counts in self.counts.items():
            for layer, (cells, more) in enumerate(observation.counts[kind]):
                counts[layer].reshape(-1)[cells] += more
        for layer, (cells, pairs, weights) in enumerate(observation.random):
            self._keep_random(observation, layer, cells, pairs, weights)
        for (layer, head), (pairs, weights) in observation.strongest.items():
            self._keep_strongest(observation, layer, head, pairs, weights)

    def _keep_random(self, look: DecileObservation, layer: int, cells: Any, pairs: Any, weights: Any) -> None:
        """Keep the pair with the smallest random number of each bin: a random one, whatever the batches."""
        drawn, lowest = look.pairs.random[pairs], self._lowest[layer].reshape(-1)
        better = drawn < lowest[cells]
        lowest[cells[better]] = drawn[better]
        kept = self._random[layer].reshape(-1)
        for cell, pair, weight in zip(cells[better], pairs[better], weights[better], strict=True):
            kept[cell] = look.place(int(pair), float(weight))

    def _keep_strongest(self, look: DecileObservation, layer: int, head: int, pairs: Any, weights: Any) -> None:
        drawn = look.pairs.random[pairs]
        more = [
            (-float(weight), int(number), look.place(int(pair), float(weight)))
            for pair, weight, number in zip(pairs, weights, drawn, strict=True)
        ]
        self._strongest[layer, head] = sorted([*self._strongest.get((layer, head), []), *more])[:MOST]

    @cached_property
    def totals(self) -> npt.NDArray[np.int64]:
        """[layer, head, bin] Pairs in each bin."""
        totals: npt.NDArray[np.int64] = self.counts["offsets"].sum(-1)
        return totals

    def table(self) -> pd.DataFrame:
        """Return a row a head and decile: its limits, what its pairs link, and one of them at random."""
        rows = [row for layer in range(self.shape[0]) for head in range(self.shape[1]) for row in self._of(layer, head)]
        return pd.DataFrame(rows)

    def _of(self, layer: int, head: int) -> list[dict[str, Any]]:
        totals = self.totals[layer, head]
        if not totals.sum():
            return []
        limits, parts = deciles(totals)
        by_kind = {kind: parts.T @ counts[layer, head] for kind, counts in self.counts.items()}
        rows = []
        for part in range(PARTS):
            offsets = by_kind["offsets"][part] / by_kind["offsets"][part].sum()
            apart = np.abs(np.arange(-FARTHEST, FARTHEST + 1))
            related = by_kind["relations"][part]
            rows.append(
                {
                    **{"layer": layer, "head": head, "name": f"{layer + 1}-{head + 1}", "decile": part + 1},
                    **{"low": limits[part], "high": limits[part + 1], "n": round(float(by_kind["tags"][part].sum()))},
                    **{"before": offsets[:FARTHEST].sum(), "distance": float(offsets @ apart)},
                    **{"arcs": 1 - related[UNRELATED] / related.sum()},
                    **{kind: _named(kind, by_kind[kind][part]) for kind in ("tags", "relations", "offsets")},
                    **{"random": self._random_of(layer, head, parts[:, part] * totals)},
                    **{"strongest": self._strongest_of(layer, head) if part == PARTS - 1 else ""},
                }
            )
        return rows

    def _random_of(self, layer: int, head: int, inside: Numbers) -> str:
        """Return the kept pair with the smallest random number of the bins that lie mostly in a decile."""
        held = np.flatnonzero(inside > 0)
        mostly = held[inside[held] * 2 >= self.totals[layer, head][held]]
        bins = mostly if len(mostly) else held
        return str(self._random[layer, head][bins[self._lowest[layer, head][bins].argmin()]])

    def _strongest_of(self, layer: int, head: int) -> str:
        return "; ".join(str(place) for _, _, place in self._strongest.get((layer, head), ()))

    def between(self) -> pd.DataFrame:
        """Return a row a head: the mean attention of a word to other words."""
        return pd.DataFrame(named_heads(self.shape) | {"between": self.mass.reshape(-1) / max(self.queries, 1)})


@dataclass(frozen=True, order=True)
class Place:
    """Where a pair of words stands: a corpus whose licence forbids it need not be quoted."""

    sentence: str
    query: int
    key: int
    weight: float

    def __str__(self) -> str:
        """Return it in words that count from 1."""
        return f"{self.sentence}: {self.query + 1}→{self.key + 1} ({100 * self.weight:.1f} %)"


class DecileObservation:
    """What one batch contributes."""

    def __init__(self, documents: Sequence[Document], shape: tuple[int, int]) -> None:
        """Lay out the pairs of different words; `shape` is (layers, heads)."""
        self.documents, self.pairs = documents, LinkedWords.of(documents)
        self.mass = np.zeros(shape)
        nothing = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
        self.counts: dict[str, list[tuple[Any, Any]]] = {kind: [nothing[:2]] * shape[0] for kind in KINDS}
        "Kind -> layer -> places of [head, bin, value] that have pairs, and how many."
        self.random: list[tuple[Any, Any, Any]] = [nothing] * shape[0]
        "Layer -> places of [head, bin], the pair of each with the smallest random number, and its weight."
        self.strongest: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._falling = np.argsort(self.pairs.random)[::-1].copy()

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Count the pairs of a layer."""
        if not len(self.pairs.text):
            return
        at = [torch.from_numpy(part) for part in (self.pairs.text, self.pairs.query, self.pairs.key)]
        weights = maps[at[0], :, at[1], at[2]].T.contiguous().float().cpu().numpy()
        heads = len(weights)
        cells = bins_of(weights) + BINS * np.arange(heads)[:, None]
        self.mass[layer] = weights.sum(1, dtype=np.float64)
        for kind, values in KINDS.items():
            counts = np.bincount((cells * values + self.pairs.kinds[kind]).reshape(-1), minlength=heads * BINS * values)
            held = np.flatnonzero(counts)
            self.counts[kind][layer] = (held, counts[held])
        first = np.full(heads * BINS, -1)
        order = np.broadcast_to(self._falling, (heads, len(self._falling)))
        first[cells[:, self._falling].reshape(-1)] = order.reshape(-1)  # what is written last stays: the smallest
        held = np.flatnonzero(first >= 0)
        self.random[layer] = (held, first[held], weights[held // BINS, first[held]])
        few = min(MOST, weights.shape[1])
        least = np.partition(weights, -few, axis=1)[:, -few]
        for head, row in enumerate(weights):
            near = np.flatnonzero(row >= least[head])
            top = near[np.lexsort((self.pairs.random[near], -row[near]))[:few]]
            self.strongest[layer, head] = (top, row[top])

    def place(self, pair: int, weight: float) -> Place:
        """Return where a pair stands."""
        text = self.documents[int(self.pairs.text[pair])]
        return Place(text.sentences[0].id, int(self.pairs.query[pair]), int(self.pairs.key[pair]), weight)


def deciles(totals: npt.NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """Return the limits [PARTS + 1] of deciles and the part [bin, decile] of each bin that lies in each.

    Within a bin pairs are taken to lie evenly between its edges; a limit is off by at most the width of its bin.
    """
    ends = np.concatenate([[0], np.cumsum(totals)]).astype(np.float64)
    wanted = ends[-1] * np.arange(PARTS + 1) / PARTS
    held = np.flatnonzero(totals)
    inside = held[np.searchsorted(ends[held + 1], wanted)]
    upper = np.append(EDGES[1:-1], 1.0)[inside]
    limits = EDGES[inside] + (wanted - ends[inside]) / totals[inside] * (upper - EDGES[inside])
    overlap = np.minimum(ends[1:, None], wanted[1:]) - np.maximum(ends[:-1, None], wanted[:-1])
    parts: Numbers = np.clip(overlap, 0, None) / np.maximum(totals, 1)[:, None]
    return limits, parts


def _named(kind: str, counts: Numbers) -> str:
    """Return the most frequent values with their shares."""
    shares = counts / counts.sum()
    order = np.argsort(-shares, kind="stable")[:MOST]
    return ", ".join(
        f"{kind_name(kind, int(value))} {100 * shares[value]:.0f} %" for value in order if shares[value] > 0
    )
