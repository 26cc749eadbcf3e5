"""How important each piece of a sentence is: attention, gradients, leaving it out, and how far their orders agree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from jaxtyping import Bool, Float, Float64, Int
from torch import Tensor

from mha.models.circuits import encoder_of
from mha.models.model import Model
from mha.models.states import followed_embeddings
from mha.pieces import Pieces
from probes.explanation.classifier import AttentionDecisions, TrainedClassifier

ATTENTION, GRADIENT, LEFT_OUT = "attention", "gradient", "leaving out"

PAIRS = {
    "attention and gradient": (ATTENTION, GRADIENT),
    "attention and leaving out": (ATTENTION, LEFT_OUT),
    "gradient and leaving out": (GRADIENT, LEFT_OUT),
}
"What is correlated; the last is the reference: how far two measures agree that know nothing of attention."

ALPHA = 0.05
"A sentence whose p is no higher has a significant correlation (Jain and Wallace 2019)."


def importance(model: Model, classifier: TrainedClassifier, texts: Sequence[Pieces]) -> dict[str, Importance]:
    """Return what attention, gradients and leaving out say of the pieces of texts."""
    model = model.on_cpu()
    return {
        ATTENTION: own_attention(model, classifier, texts),
        GRADIENT: input_gradients(model, classifier, texts),
        LEFT_OUT: left_out(model, classifier, texts),
    }


def rank_table(measured: Mapping[str, Importance]) -> pd.DataFrame:
    """Return a row for each of PAIRS: pair, the mean of tau over sentences, its interval, share significant, and n."""
    return pd.DataFrame([{"pair": pair} | summary(taus(measured, pair)) for pair in PAIRS])


def taus(measured: Mapping[str, Importance], pair: str) -> pd.DataFrame:
    """Return Kendall's tau-b of two measures over the pieces of each sentence, and its two-sided p, exact without ties.

    NaN where a measure is the same for all pieces, or a sentence has one.
    """
    from scipy import stats

    one, other = (measured[name] for name in PAIRS[pair])
    found = [stats.kendalltau(a, b) for a, b in zip(one, other, strict=True)]
    return pd.DataFrame({"tau": [x.statistic for x in found], "p": [x.pvalue for x in found]})


def summary(sentences: pd.DataFrame) -> dict[str, float | int]:
    """Return the mean of tau, its interval over sentences, the share with p <= ALPHA, and how many have a tau.

    The interval is Student's t; its ends are NaN for fewer than two sentences.
    """
    from scipy import stats

    known = sentences[sentences["tau"].notna()]
    n, values = len(known), known["tau"].to_numpy(np.float64)
    if not n:
        return {"tau": math.nan, "low": math.nan, "high": math.nan, "significant": math.nan, "n": 0}
    mean = float(values.mean())
    half = float(stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    significant = float((known["p"] <= ALPHA).mean())
    return {"tau": mean, "low": mean - half, "high": mean + half, "significant": significant, "n": n}


BATCH = 64

Importance = list[Float64[np.ndarray, " _"]]
"A number for each piece of each sentence, special tokens left out; higher is more important."


def own_attention(model: Model, classifier: TrainedClassifier, texts: Sequence[Pieces]) -> Importance:
    """Return the attention of the classifier to each piece."""
    found: Importance = []
    for decided in _decisions(model, classifier, [text.ids for text in texts]):
        found += _rows(decided.attention, decided.real)
    return found


def left_out(model: Model, classifier: TrainedClassifier, texts: Sequence[Pieces]) -> Importance:
    """Return the total variation distance between the output and that of the sentence without each piece.

    The model reads the shorter sentence anew. In [0, 1]; of two classes it is the change of the probability (Jain and
    Wallace 2019, algorithm 1, leave one out).
    """
    shorter = [np.delete(text.ids, place) for text in texts for place in range(1, len(text) - 1)]
    whole = np.array(_outputs(model, classifier, [text.ids for text in texts]))
    without = np.array(_outputs(model, classifier, shorter))
    sizes = [len(text) - 2 for text in texts]
    return np.split(np.abs(without - np.repeat(whole, sizes)), np.cumsum(sizes)[:-1])


def input_gradients(model: Model, classifier: TrainedClassifier, texts: Sequence[Pieces]) -> Importance:
    """Return |x . dy/dx| for the embedding x of each piece and the output y, attention held as it is.

    That is the gradient at the one-hot vector of the piece (Jain and Wallace 2019, algorithm 1, where the graph is cut
    at attention); the embedding is that of the piece alone, before position and LayerNorm.
    """
    encoder = encoder_of(model, "attention as explanation")
    found: Importance = []
    for ids, real in padded(model, [text.ids for text in texts]):
        with torch.enable_grad(), followed_embeddings(encoder) as seen:
            decided = classifier(model.run(ids, real)[:, 1:-1], real[:, 2:])
            output = torch.sigmoid(decided.odds(decided.attention.detach()).double())
        (slope,) = torch.autograd.grad(output.sum(), seen[-1])
        product = torch.zeros(real.shape, dtype=torch.float64)
        product[real] = (seen[-1].detach().double() * slope.double()).sum(-1).abs().flatten()
        found += _rows(product[:, 1:-1], real[:, 2:])
    return found


def padded(
    model: Model, texts: Sequence[npt.NDArray[np.int32]]
) -> Iterator[tuple[Int[Tensor, "text piece"], Bool[Tensor, "text piece"]]]:
    """Yield the ids of some texts at a time, and True at pieces that are no padding.

    Without the first two it is True at the pieces between the special tokens, as many as are left of each text.
    """
    for start in range(0, len(texts), BATCH):
        part = texts[start : start + BATCH]
        lengths = torch.tensor([len(one) for one in part])
        real = torch.arange(int(lengths.max())) < lengths[:, None]
        ids = torch.full(real.shape, model.padding or 0)
        ids[real] = torch.from_numpy(np.concatenate(part)).long()
        yield ids, real


def _outputs(model: Model, classifier: TrainedClassifier, texts: Sequence[npt.NDArray[np.int32]]) -> list[float]:
    """Return the probability of the plural."""
    found: list[float] = []
    for decided in _decisions(model, classifier, texts):
        found += torch.sigmoid(decided.odds(decided.attention).double()).tolist()
    return found


def _decisions(
    model: Model, classifier: TrainedClassifier, texts: Sequence[npt.NDArray[np.int32]]
) -> Iterator[AttentionDecisions]:
    for ids, real in padded(model, texts):
        with torch.no_grad():
            decided = classifier(model.run(ids, real)[:, 1:-1], real[:, 2:])
        yield decided


def _rows(values: Float[Tensor, "text piece"], real: Bool[Tensor, "text piece"]) -> Importance:
    return [row[kept].double().numpy() for row, kept in zip(values, real, strict=True)]
