"""Relatedness: whether heads attend more between words that people find more related, at the same distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from mha.batches import Batch
from probes.corpora.ratings import Ratings
from probes.evidence.statistics import Bootstrap
from probes.records import Document, IntArray
from probes.scoring.tally import Numbers, cluster_blocks
from probes.targets import Items

CONTENT = ("NOUN", "VERB", "ADJ", "ADV")
"Parts of speech of content words; where a text has none, every rated word counts as one."

BANDS = (1, 2, 3, 5, 9, 17)
"Distances in words at which a stratum begins: 1, 2, 3 to 4, 5 to 8, 9 to 16, 17 and more."


class Relatedness:
    """Collects the attention of all heads between rated words of a sentence, while heads are scored (an Observer).

    An item is two content words of one sentence that people were asked to rate as a pair. Its attention is the mean of
    that from one to the other and back, in [0, 1].
    """

    def __init__(self, ratings: Ratings, layers: int, heads: int) -> None:
        self.ratings, self.shape = ratings, (layers, heads)
        self._looks: list[_Observation] = []

    def observe(self, documents: Sequence[Document], batch: Batch, items: Sequence[Items] = ()) -> _Observation:
        """Find the pairs of a batch."""
        found = [
            (text, document.id, *one)
            for text, document in enumerate(documents)
            for one in rated_pairs(document, self.ratings)
        ]
        return _Observation(found, self.shape[0] * self.shape[1])

    def add(self, observation: _Observation) -> None:
        """Take in a batch."""
        if observation.found:
            self._looks.append(observation)

    def items(self) -> RatedItems:
        """Return everything that was collected."""
        found = [one for look in self._looks for one in look.found]
        kinds = {pair: kind for kind, pair in enumerate(sorted({one[4] for one in found}))}
        blocks = cluster_blocks(one[1] for one in found)
        return RatedItems(
            rating=np.array([one[5] for one in found]),
            band=np.searchsorted(BANDS, [one[3] - one[2] for one in found], "right") - 1,
            pair=np.array([kinds[one[4]] for one in found], np.int64),
            block=np.array([blocks[one[1]] for one in found], np.int64),
            attention=np.concatenate([look.attention for look in self._looks] or [np.zeros((0, np.prod(self.shape)))]),
        )


RatedOccurrence = tuple[int, str, int, int, tuple[str, str], float]
"Text, document id, the two words, the rated pair and its rating."


class _Observation:
    """The pairs of one batch, and the attention between them."""

    def __init__(self, found: Sequence[RatedOccurrence], heads: int) -> None:
        self.found = found
        self.attention: np.ndarray = np.zeros((len(found), heads), np.float32)
        "[item, layer * head]"
        self._places = [torch.tensor([item[i] for item in found], dtype=torch.int64) for i in (0, 2, 3)]

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Take the attention of a layer."""
        text, one, other = self._places
        columns = slice(layer * maps.shape[1], (layer + 1) * maps.shape[1])
        both = maps[text, :, one, other] + maps[text, :, other, one]
        self.attention[:, columns] = (both / 2).cpu().numpy()


def rated_pairs(document: Document, ratings: Ratings) -> list[tuple[int, int, tuple[str, str], float]]:
    """Return first word, second word, pair and rating of all rated pairs of content words of each sentence."""
    found = []
    for sentence, start in zip(document.sentences, document.starts.tolist(), strict=True):
        known = [
            (start + place, form)
            for place, (word, upos) in enumerate(zip(sentence.words, sentence.upos, strict=True))
            if upos in (*CONTENT, "") and (form := ratings.form(word))
        ]
        for last, (other, second) in enumerate(known):
            for one, first in known[:last]:
                if rated := ratings.of(first, second):
                    found.append((one, other, *rated))
    return found


@dataclass(frozen=True)
class RatedItems:
    """Pairs of words that stood in one sentence."""

    rating: Numbers
    "[item]"
    band: IntArray
    "[item] Stratum of the distance, an index into BANDS."
    pair: IntArray
    "[item] Which two words they are."
    block: IntArray
    "[item] Cluster block of the document."
    attention: np.ndarray
    "[item, layer * head]"

    def correlation(self, rating: Numbers) -> Numbers:
        """Return [..., head], the rank correlation of attention with ratings [..., item] within strata of distance.

        Ranks are taken in each stratum and centred there, so that no difference between distances counts (a partial
        Spearman correlation). In [-1, 1]; NaN where either does not vary.
        """
        x, y = self.centred(rating), self.centred(self.attention.T)
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Numbers = (x @ y.T) / np.sqrt((x**2).sum(-1)[..., None] * (y**2).sum(-1))
        return found

    def centred(self, values: np.ndarray) -> Numbers:
        """Return the ranks [..., item] of values within their strata, in (-1/2, 1/2), of mean 0 in each."""
        from scipy.stats import rankdata

        ranks = np.zeros(values.shape)
        for band in np.unique(self.band):
            inside = np.flatnonzero(self.band == band)
            ranks[..., inside] = (rankdata(values[..., inside], axis=-1) - (len(inside) + 1) / 2) / len(inside)
        return ranks

    def shuffled(self, permutations: int, seed: int) -> Numbers:
        """Return [permutation, item], ratings dealt anew to the pairs of words; items of a pair keep the same one.

        A pair changes with pairs of the stratum in which it stands most often, the nearest of equal ones.
        """
        random = np.random.default_rng(seed)
        _, first, place = np.unique(self.pair, return_index=True, return_inverse=True)
        counts = np.zeros((len(first), len(BANDS)), np.int64)
        np.add.at(counts, (place, self.band), 1)
        of_pair = np.tile(self.rating[first], (permutations, 1))
        for band in range(len(BANDS)):
            inside = np.flatnonzero(counts.argmax(1) == band)
            of_pair[:, inside] = random.permuted(of_pair[:, inside], axis=1)
        dealt: Numbers = of_pair[:, place]
        return dealt


def relatedness_table(
    observed: Relatedness, split: str, *, permutations: int, replicates: int, seed: int
) -> pd.DataFrame:
    """Return one row a head; none where no rated pair stood in a sentence.

    p is two-sided, of a permutation of ratings over pairs of words (`RatedItems.shuffled`): the share of permutations
    whose correlation is as far from 0, the real one among them; p_adjusted that of permutations in which any head's is
    (single-step maximum, Westfall and Young 1993). Intervals are of a bootstrap over documents.
    """
    items = observed.items()
    seen = items.correlation(items.rating)
    if len(items.rating) < 2 or np.isnan(seen).all():
        return pd.DataFrame()
    dealt = np.nan_to_num(np.abs(items.correlation(items.shuffled(permutations, seed))))
    least = np.abs(seen) - 1e-12
    p, p_adjusted = ((1 + (found >= least).sum(0)) / (1 + permutations) for found in (dealt, dealt.max(1)[:, None]))
    layer, head = np.divmod(np.arange(len(seen)), observed.shape[1])
    blocks = np.unique(items.block)
    low, high = _interval(items, Bootstrap.draw(blocks.tolist(), replicates, seed))
    told = {"ratings": observed.ratings.name, "layer": layer, "head": head, "split": split, "n": len(items.rating)}
    told |= {"pairs": len(np.unique(items.pair)), "clusters": len(blocks), "correlation": seen}
    told |= {"ci_low": low, "ci_high": high}
    told |= {name: np.where(np.isnan(seen), np.nan, one) for name, one in (("p", p), ("p_adjusted", p_adjusted))}
    return pd.DataFrame(told)


def _interval(items: RatedItems, drawn: Bootstrap) -> Numbers:
    """Return [2, head], the interval of the correlation by cluster; the ranks stay those of all items."""
    x, y = items.centred(items.rating), items.centred(items.attention.T)
    place = np.searchsorted(drawn.clusters, items.block)
    n = np.bincount(place).astype(np.float64)
    resamples = drawn.of(drawn.clusters, n)
    products = [np.zeros((len(n), len(y))) for _ in range(3)]
    for sums, product in zip(products, (x * y, x * x + 0 * y, y * y), strict=True):
        np.add.at(sums, place, product.T)
    xy, xx, yy = (resamples.means(sums) for sums in products)
    with np.errstate(invalid="ignore", divide="ignore"):
        return resamples.interval(np.nan_to_num(xy / np.sqrt(xx * yy)))
