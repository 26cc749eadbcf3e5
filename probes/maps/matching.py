"""How far the maps of heads are from each other, and which head of one model is which of another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from mha import record
from mha.batches import Batch, collate
from mha.models.maps import stream_maps
from mha.models.model import Model
from mha.pieces import Pieces
from probes.records import Document, IntArray
from probes.scoring.aligned import cut_texts, name_of, unfit
from probes.scoring.scorer import TINY
from probes.scoring.tally import Numbers
from probes.targets import Items

SMOOTHING = 0.001
"Share of every row that is laid evenly over its keys before rows are compared (the code of Clark et al. 2019)."

CELLS = 1 << 17
"Numbers of maps that are compared at a time: they stay in the cache of a core."


@dataclass(frozen=True)
class SeenMaps:
    """The maps of all heads of a model over sentences, and which of the sentences it could read."""

    layers: int
    kept: list[int]
    "Indices of the sentences that the model reads, every word of them."
    maps: Float[Tensor, "text query key head"]
    words: IntArray
    "[text] Number of words."

    @property
    def heads(self) -> int:
        """Number of heads of a layer."""
        return self.maps.shape[3] // self.layers


def see_maps(
    model: Model, sentences: Sequence[Document], step: Callable[[int], None] = lambda layers: None
) -> SeenMaps | None:
    """Return the word-level maps of `sentences`, each a document; None where the model can read none of them.

    `step` is told of every layer that was read.
    """
    kept = readable(model, sentences)
    if not kept:
        return None
    cut = cut_texts(model, [sentences[number] for number in kept])
    batch = collate(cut, padding=model.padding)
    return SeenMaps(model.layers, kept, head_maps(model, batch, step), batch.words.numpy())


def readable(model: Model, sentences: Sequence[Document]) -> list[int]:
    """Return the indices of the sentences that the model can read whole, with a piece for every word."""
    cut = zip(sentences, cut_texts(model, sentences), strict=True)
    return [i for i, (text, one) in enumerate(cut) if not unfit(model, text, one) and not one.missing()]


def head_maps(
    model: Model, batch: Batch, step: Callable[[int], None] = lambda layers: None
) -> Float[Tensor, "text query key head"]:
    """Return the word-level maps of all heads, layer by layer."""
    layers: list[Tensor] = []

    def keep(_: int, maps: Tensor) -> None:
        layers.append(maps.cpu().permute(0, 2, 3, 1))
        step(1)

    stream_maps(model, batch, keep)
    return torch.cat(layers, 3)


def map_rows(
    maps: Float[Tensor, "text query key head"], words: IntArray, texts: IntArray
) -> Float[Tensor, "row key head"]:
    """Return the rows of the words of some texts, one text after the other, smoothed; `words` of every text.

    A share of SMOOTHING of each row lies evenly on the keys of its text: its words, [SEP] and [CLS].
    """
    inside = torch.from_numpy(np.arange(maps.shape[1]) < words[texts][:, None])
    rows = maps[torch.from_numpy(texts)][inside]
    return rows.mul_(1 - SMOOTHING).add_((SMOOTHING * _keys(words[texts], maps.shape[2]))[:, :, None])


def _keys(words: IntArray, keys: int) -> Float[Tensor, "row key"]:
    """Return a uniform row over the keys of its text for every word of every text."""
    there = np.arange(keys) < words[:, None]
    there[:, -2:] = True
    return torch.from_numpy(np.repeat((there / (words[:, None] + 2)).astype(np.float32), words, 0))


def mates(words: IntArray) -> IntArray:
    """Return [text] another text with as many words for every text, no two the same; -1 where there is none."""
    found = np.full(len(words), -1)
    for length in np.unique(words):
        same = np.flatnonzero(words == length)
        if len(same) > 1:
            found[same] = np.roll(same, 1)
    return found


def map_distance(
    first: Float[Tensor, "row key head"],
    second: Float[Tensor, "row key other"],
    step: Callable[[int], None] = lambda rows: None,
) -> Numbers:
    """Return [head, other head], the mean Jensen-Shannon divergence in nats between rows that belong together.

    In [0, ln 2]; 0 for heads with the same maps. The head distance of Clark et al. 2019, section 6, as a mean over
    words instead of a sum.
    """
    return divergence(first, second, step) / len(first)


def divergence(
    first: Float[Tensor, "row key head"],
    second: Float[Tensor, "row key other"],
    step: Callable[[int], None] = lambda rows: None,
) -> Numbers:
    """Return [head, other head], the Jensen-Shannon divergence in nats, summed over rows in double precision.

    `step` is told how many rows more were compared.
    """
    total = np.zeros((first.shape[2], second.shape[2]))
    rows = max(CELLS // (second.shape[1] * second.shape[2]), 1)
    for left, right in zip(torch.split(first, rows), torch.split(second, rows), strict=True):
        own = _entropy(left)[:, None] + _entropy(right)[None]
        mixed = torch.stack([_entropy((left[:, :, head, None] + right).mul_(0.5)) for head in range(left.shape[2])])
        total += (mixed - own / 2).numpy()
        step(len(left))
    return np.maximum(total, 0)


def _entropy(rows: Float[Tensor, "row key head"]) -> Float[Tensor, " head"]:
    """Return [head], the entropy in nats, summed over rows in double precision."""
    # torch.xlogy, which knows 0 log 0, takes 40 times longer
    logs = rows.clamp_min(torch.finfo(rows.dtype).tiny).log_()
    return -logs.mul_(rows).sum(1).double().sum(0)


@dataclass(frozen=True)
class Match:
    """An assignment of the heads of one model to those of another."""

    partner: IntArray
    "[head] The head of the other model, as a flat index; -1 where that has too few heads."
    distance: Numbers
    "[head] Distance to the partner, in nats; NaN where there is none."
    chance: float
    "Mean distance of a random assignment under the same restriction."


def match_heads(distance: Numbers, layers: int, *, within_layers: bool) -> Match:
    """Match heads so that the sum of `distance` [head, other head] is smallest, within layers or over all heads.

    Within layers both models have `layers` layers.
    """
    from scipy.optimize import linear_sum_assignment

    parts = layers if within_layers else 1
    blocks = list(zip(*(np.array_split(np.arange(size), parts) for size in distance.shape), strict=True))
    partner = np.full(len(distance), -1)
    for one, other in blocks:
        rows, columns = linear_sum_assignment(distance[np.ix_(one, other)])
        partner[one[rows]] = other[columns]
    found = np.where(partner >= 0, distance[np.arange(len(distance)), partner], np.nan)
    chance = float(np.mean([distance[np.ix_(*block)].mean() for block in blocks]))
    return Match(partner, found, chance)


@dataclass(frozen=True)
class Matched:
    """A match, and how near heads are matched by what they do with positions alone."""

    match: Match
    null: float
    """Mean distance where the other model reads other sentences of the same lengths, so that heads can be alike only in
    what they do with positions; NaN where no two sentences are equally long."""


def compared_rows(seen: SeenMaps) -> int:
    """Return how many rows of a head `match_models` compares: those of all sentences, and of those that have mates."""
    return int(seen.words.sum() + seen.words[mates(seen.words) >= 0].sum())


def match_models(
    first: SeenMaps, second: SeenMaps, *, within_layers: bool, step: Callable[[int], None] = lambda rows: None
) -> Matched:
    """Match the heads of two models by their maps of the same sentences (`kept` of both is the same).

    `step` is told how many rows more were compared, of `compared_rows`.
    """
    texts, mate = np.arange(len(first.words)), mates(first.words)
    paired = np.flatnonzero(mate >= 0)
    null = float("nan")
    if len(paired):
        null = float(np.nanmean(_match(first, second, paired, mate[paired], within_layers, step).distance))
    return Matched(_match(first, second, texts, texts, within_layers, step), null)


def _match(
    one: SeenMaps,
    other: SeenMaps,
    mine: IntArray,
    theirs: IntArray,
    within_layers: bool,
    step: Callable[[int], None],
) -> Match:
    """Match heads by their maps of the texts `mine` of one model and `theirs`, as long, of the other."""
    rows, others = map_rows(one.maps, one.words, mine), map_rows(other.maps, other.words, theirs)
    distance = map_distance(rows, others, step)
    return match_heads(distance, one.layers, within_layers=within_layers)


def same_roles(partner: IntArray, first: Sequence[str], second: Sequence[str]) -> tuple[float, float]:
    """Return the share of heads with a role whose partner has the same, and the share that chance gives.

    `first` and `second` are the main roles [head] of two models, empty for none. Chance pairs each head with every head
    of the other model alike. NaN where no head has a role, or none of these a partner.
    """
    mine, theirs = np.array(first, str), np.array(second, str)
    with_role = np.flatnonzero((mine != "") & (partner >= 0))
    if not len(with_role):
        return float("nan"), float("nan")
    seen = (mine[with_role] == theirs[partner[with_role]]).mean()
    return float(seen), float((mine[with_role, None] == theirs[None]).mean())


def map_cosines(first: Model, second: Model, text: Pieces) -> Float[Tensor, "layer head"]:
    """Return the cosine of the maps of each head of two models on a text, each map [piece, piece] taken as one vector.

    In [0, 1]; 1 where nothing differs. Special tokens count (Kovaleva et al. 2019, who hold heads before and after
    fine-tuning against each other so).
    """
    ids = torch.from_numpy(text.ids)[None].long()
    found = []
    for model in (first, second):
        with torch.inference_mode(), record(model.module) as seen:
            model.run(ids, None)
        found.append(torch.cat(seen["pattern"]).cpu().double().flatten(2))
    return F.cosine_similarity(found[0], found[1], dim=2)


Text = tuple[str, str]
"Ids of the document and of the first sentence."


def text_key(text: Document) -> Text:
    """Return what tells a text from the others of a corpus."""
    return text.id, name_of(text)


class Distances:
    """An observer of scoring: the mean distance (`probes.maps.matching.map_distance`) of every two heads.

    It compares the maps that the run reads, each row as shares of its sum.
    """

    def __init__(self, selected: Collection[Text] | None = None) -> None:
        """Compare heads on the `selected` texts, on all if None; on no text with a word that has no piece."""
        self.selected = None if selected is None else frozenset(selected)
        self.texts = 0
        self.words = 0
        "Rows that were compared."
        self._sums: Numbers | None = None

    def observe(self, documents: Sequence[Document], batch: Batch, items: Sequence[Items] = ()) -> DistanceObservation:
        """Return what compares the heads on one batch."""
        whole = ((batch.from_words.sum(2) > 0.5).sum(1).cpu() == batch.words).tolist()
        wanted = [self.selected is None or text_key(text) in self.selected for text in documents]
        return DistanceObservation(batch.words.numpy(), np.flatnonzero(np.logical_and(wanted, whole)))

    def add(self, observation: DistanceObservation) -> None:
        """Add the distances of one batch."""
        self.texts += len(observation.texts)
        self.words += int(observation.words[observation.texts].sum())
        if observation.blocks:
            sums = observation.sums()
            self._sums = sums if self._sums is None else self._sums + sums

    def means(self) -> Numbers | None:
        """Return [head, head], symmetric with zeros in the diagonal, in nats; None where nothing was seen."""
        return None if self._sums is None else self._sums / self.words


class DistanceObservation:
    """The heads of one batch, layer after layer: each is compared with those of its own layer and of layers below."""

    def __init__(self, words: IntArray, texts: IntArray) -> None:
        """Look at the `texts` of a batch whose texts have so many `words`."""
        self.words, self.texts = words, texts
        self.blocks: list[Numbers] = []
        "Of every layer [head, head of this layer or of one below], sums over rows."
        self._rows: list[Tensor] = []

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Compare the heads of the next layer."""
        if len(self.texts):
            shares = maps / maps.sum(3, keepdim=True).clamp(min=TINY)  # rows of norms have no sum in common
            rows = map_rows(shares.cpu().permute(0, 2, 3, 1), self.words, self.texts)
            self._rows.append(rows)
            self.blocks.append(np.concatenate([divergence(rows, other) for other in self._rows], 1))

    def sums(self) -> Numbers:
        """Return [head, head], summed over rows."""
        count = self.blocks[-1].shape[1]
        sums = np.zeros((count, count))
        for block in self.blocks:
            own, below = len(block), block.shape[1]
            sums[below - own : below, :below] = block
        lower = np.tril(sums, -1)
        return lower + lower.T
