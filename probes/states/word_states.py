"""The states of all words of some texts, layer by layer, and means over words with 95 % intervals by document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Float32

from mha.batches import collate
from mha.models.model import Model
from mha.models.states import layer_states
from mha.parallel import in_order
from probes.corpora.corpus import MemoryTexts, Texts
from probes.records import Document, IntArray
from probes.scoring.aligned import Aligned, name_of, sample_texts
from probes.scoring.score import Settings

NORMAL = 1.959964
"Half the width of a 95 % interval in standard errors."


@dataclass(frozen=True)
class ClusteredMean:
    """A mean with its standard error."""

    value: float
    error: float
    "Standard error; NaN for fewer than two groups."
    n: int

    @classmethod
    def of(cls, values: Float[np.ndarray, " n"], clusters: Sequence[int] | np.ndarray | None = None) -> ClusteredMean:
        """Return the mean of `values`; the error is that of a ratio over whole clusters (Cochran 1977, section 6.4).

        Without `clusters` each value is its own; values that are NaN are left out.
        """
        known = np.isfinite(values)
        groups = np.arange(len(values)) if clusters is None else np.asarray(clusters)
        values, groups = np.asarray(values, np.float64)[known], groups[known]
        if not len(values):
            return cls(math.nan, math.nan, 0)
        mean, count = float(values.mean()), len(np.unique(groups))
        residuals = np.bincount(np.unique(groups, return_inverse=True)[1].reshape(-1), values - mean)
        spread = math.sqrt(float((residuals**2).sum()) * count / (count - 1)) if count > 1 else math.nan
        return cls(mean, spread / len(values), len(values))

    @classmethod
    def of_means(cls, values: Float[np.ndarray, " n"], strata: np.ndarray, clusters: np.ndarray) -> ClusteredMean:
        """Return the mean over strata of the mean of `values` in each; values that are NaN are left out.

        The error is that of a jackknife which leaves out one cluster after the other (Cochran 1977, section 6.17); a
        stratum that stands in one cluster alone is missing without it.
        """
        known = np.isfinite(values)
        kinds, columns = np.unique(np.asarray(strata)[known], return_inverse=True)
        groups, rows = np.unique(np.asarray(clusters)[known], return_inverse=True)
        sums, counts = (np.zeros((len(groups), len(kinds))) for _ in range(2))
        np.add.at(sums, (rows, columns), np.asarray(values, np.float64)[known])
        np.add.at(counts, (rows, columns), 1)
        if not known.any():
            return cls(math.nan, math.nan, 0)
        value = float((sums.sum(0) / counts.sum(0)).mean())
        if len(groups) < 2:
            return cls(value, math.nan, int(known.sum()))
        kept = counts.sum(0) - counts
        with np.errstate(invalid="ignore"):
            without = np.nanmean(np.where(kept > 0, (sums.sum(0) - sums) / kept, np.nan), 1)
        share = (len(groups) - 1) / len(groups)
        return cls(value, math.sqrt(share * float(((without - without.mean()) ** 2).sum())), int(known.sum()))

    def __sub__(self, other: ClusteredMean) -> ClusteredMean:
        """Return the difference of two means that err independently."""
        return ClusteredMean(self.value - other.value, math.hypot(self.error, other.error), min(self.n, other.n))

    @property
    def row(self) -> dict[str, float]:
        """The columns value, low, high and n of a table."""
        low, high = (self.value + sign * NORMAL * self.error for sign in (-1, 1))
        return {"value": self.value, "low": low, "high": high, "n": self.n}


Vectors = Float32[np.ndarray, "_layer _word _model"]


@dataclass(frozen=True)
class WordStates:
    """Texts and the states of their words, text by text."""

    documents: list[Document]
    vectors: Vectors
    "[layer, word, model] Layer 0 is what the first layer reads."
    starts: IntArray
    "[text + 1] Where the words of each text begin; the last one is the number of words."

    @property
    def text(self) -> IntArray:
        """[word] The text of every word."""
        return np.repeat(np.arange(len(self.documents)), np.diff(self.starts))

    @property
    def held_out(self) -> Bool[np.ndarray, " text"]:
        """[text] Whether it is in the fifth of the documents that probes of a selection split do not learn from."""
        held_out: np.ndarray = self.clusters % 5 == 0
        return held_out

    @property
    def clusters(self) -> IntArray:
        """[text] A number for each document id: texts of one document err together."""
        ids = [document.id for document in self.documents]
        found: IntArray = np.unique(ids, return_inverse=True)[1].reshape(-1)
        return found

    @property
    def words(self) -> list[str]:
        """[word] Forms, lower-cased."""
        return [word.lower() for document in self.documents for word in document.words]

    def of_text(self, layer: int, text: int) -> Float32[np.ndarray, "_word _model"]:
        """Return the states of one text's words in a layer."""
        return self.vectors[layer, self.starts[text] : self.starts[text + 1]]

    @classmethod
    def of(cls, model: Model, aligned: Aligned, settings: Settings) -> WordStates:
        """Run a model on texts; what is kept takes 4 bytes x (layers + 1) x words x size of the model."""
        documents = aligned.texts.take(aligned.kept)
        starts = np.cumsum([0, *(len(document) for document in documents)])
        kept: dict[str, Vectors] = {}

        def read(chosen: list[int]) -> tuple[list[int], Float32[np.ndarray, "_layer _text _word _model"]]:
            batch = collate([aligned.pieces[i] for i in chosen], reduce=settings.reduce, padding=model.padding)
            return chosen, layer_states(model, batch).numpy()

        for chosen, states in in_order(read, aligned.batches(settings.batch_pieces), settings.workers):
            size = (states.shape[0], int(starts[-1]), states.shape[-1])
            vectors = kept.setdefault("all", np.empty(size, np.float32))
            for row, text in enumerate(chosen):
                vectors[:, starts[text] : starts[text + 1]] = states[:, row, : len(documents[text])]
        return cls(documents, kept.get("all", np.empty((0, 0, 0), np.float32)), starts)


def whole_texts(model: Model, texts: Texts, count: int) -> Aligned:
    """Return `count` sampled texts that the model can read; those with a word without pieces are left out, counted."""
    aligned = Aligned.of(model, MemoryTexts(sample_texts(texts, count)))
    whole = [place for place, pieces in enumerate(aligned.pieces) if not pieces.missing()]
    for place in sorted({*range(len(aligned.pieces))} - {*whole}):
        (document,) = aligned.texts.take([aligned.kept[place]])
        aligned.dropped.add("text with a word that the tokenizer turns into nothing", name_of(document))
    kept, pieces = [aligned.kept[place] for place in whole], [aligned.pieces[place] for place in whole]
    names, keys = ([every[place] for place in whole] for every in (aligned.names, aligned.keys))
    return replace(aligned, kept=kept, pieces=pieces, names=names, keys=keys)
