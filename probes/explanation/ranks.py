"""Rank correlations of attention with gradients and with leaving pieces out, sentence by sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from mha.models.model import Model
from mha.pieces import Pieces
from probes.explanation.classifier import TrainedClassifier
from probes.explanation.importance import Importance, input_gradients, left_out, own_attention

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
