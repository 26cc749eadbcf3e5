"""Kobayashi, Kuribayashi, Yokoi and Inui 2020: attention weights are not what heads add."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd

from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.numbers import correlation, over_units, points, rows
from experiments.statements.rule import LearnedRule, Rule
from probes.evidence.statistics import spearman
from reports.statements.figure import Figure

PAPER = Paper(
    "kobayashi-2020",
    "Kobayashi, Kuribayashi, Yokoi and Inui 2020",
    "Attention is Not Only a Weight: Analyzing Transformers with Vector Norms",
)

SPECIAL = ("[CLS]", "[SEP]")


def _of_heads(evidence: Evidence) -> pd.DataFrame:
    """Return for every head and special token its weight and its norm, alone and as a share of that of all tokens."""
    columns: dict[str, pd.Series] = {}
    for reading, kind in (("trees", "weights"), ("norms", "norms")):
        found = rows(evidence[reading].scores, probe="position", split="report")
        of_heads = found[found.label.isin(SPECIAL)].set_index(["label", "layer", "name"])
        columns |= {f"{column} of {kind}": of_heads[column] for column in ("mass", "share")}
    if not len(of_heads):
        raise Missing("special tokens were not scored")
    return pd.DataFrame(columns).reset_index()


def _shrunk(heads: pd.DataFrame) -> float:
    """Return the share of the norms over the share of the weights."""
    weights = float(heads["share of weights"].mean())
    return float(heads["share of norms"].mean()) / weights if weights else math.nan


def _told(heads: pd.DataFrame) -> str:
    weights, norms = (heads.groupby("name")[f"share of {kind}"].sum().mean() for kind in ("weights", "norms"))
    return f"{100 * weights:.1f} % of the weights, {100 * norms:.1f} % of the norms"


def _lengths(evidence: Evidence, token: str) -> tuple[np.ndarray, np.ndarray]:
    """Return each head's weight on a token and the mean length of what it takes from there, ||f(x)||."""
    heads = rows(_of_heads(evidence), label=token)
    weights = heads["mass of weights"].to_numpy(np.float64)
    return weights, heads["mass of norms"].to_numpy(np.float64) / weights


def _separators(evidence: Evidence) -> Numbers:
    heads = _of_heads(evidence)
    sep = rows(heads, label="[SEP]")
    return {
        "weights": Measured(over_units(lambda part: float(part["share of weights"].mean()), sep)),
        "norms": Measured(over_units(_shrunk, sep), note=_told(sep)),
        "[CLS] and [SEP]": Measured(over_units(_shrunk, heads, "name"), note=_told(heads)),
    }


def _plane(evidence: Evidence) -> Figure:
    pairs = {name: _lengths(evidence, name) for name in SPECIAL}
    series = {name: list(zip(x.tolist(), y.tolist(), strict=True)) for name, (x, y) in pairs.items()}
    return Figure("dots", "Every head at special tokens", "weight", "length of the transformed value", series=series)


def _profile(evidence: Evidence) -> Figure:
    layers = _of_heads(evidence).groupby(["label", "layer"]).mean(numeric_only=True).reset_index()
    series = {
        f"{name}, {kind}": points(rows(layers, label=name), "layer", f"share of {kind}", first=1)
        for name in SPECIAL
        for kind in ("weights", "norms")
    }
    return Figure("lines", "What special tokens get", "layer", "share of all tokens", series=series)


finding = partial(Finding, model="BERT base, uncased", data="The pairs of paragraphs of Wikipedia of clark-2019")

tested = partial(
    finding,
    stands_in="UD English EWT, dev.",
    differs="Single sentences of one segment with one [SEP]; mean over the tokens of words, without those of [CLS] and "
    "[SEP].",
    readings=("trees", "norms"),
)

FINDINGS = (
    tested(
        id="kobayashi-separators",
        claim="[SEP] gets about half of the attention, and little of what heads add comes from there.",
        where="the figure of weights and norms by layer",
        metric="Weights alpha against norms ||alpha f(x)||, f(x) = (x W_V + b_V) W_O of a head, as shares of the sum "
        "over all tokens.",
        statements=[
            Statement(
                name="weights",
                text="[SEP] gets about half of the attention, four tenths at least.",
                number="share of the weights on [SEP], mean over heads",
                rule=LearnedRule(above=0.4, unit="%"),
                weaker=LearnedRule(above=0.25),
                published=Published(0.5, text="about half", provenance="second-hand"),
            ),
            Statement(
                name="norms",
                text="Of the norms [SEP] has less than half of the share that it has of the weights.",
                number="share of the norms on [SEP] over its share of the weights",
                rule=LearnedRule(below=0.5, unit=""),
                published=Published(text="small", provenance="second-hand"),
            ),
            Statement(
                name="[CLS] and [SEP]",
                text="So have [CLS] and [SEP] together.",
                number="share of the norms on both over their share of the weights",
                rule=LearnedRule(below=0.5, unit=""),
                published=Published(text="small on special tokens", provenance="second-hand"),
            ),
        ],
        measure=_separators,
        figure=_profile,
    ),
    tested(
        id="kobayashi-cancelling",
        claim="Where a head gives a special token much weight, what it takes from there is short: the two cancel out.",
        where="on weights and transformed vectors",
        metric="Rank correlation, over heads, of the mean weight on the token and the mean of ||f(x)|| at the token, "
        "weighted by attention.",
        statements=[
            Statement(
                name=name,
                text=f"Heads that attend more to {name} take shorter vectors from there.",
                number="Spearman's rho over heads",
                rule=LearnedRule(below=0.0, unit=""),
                published=Published(text="negative", provenance="memory"),
            )
            for name in SPECIAL
        ],
        measure=lambda evidence: {name: Measured(correlation(spearman, *_lengths(evidence, name))) for name in SPECIAL},
        figure=_plane,
    ),
    finding(
        id="kobayashi-frequency",
        claim="Frequent words are transformed to short vectors; the weights do not know of frequency.",
        where="on the frequency of words",
        metric="Rank correlation of the frequency rank of a word with ||f(x)||, and with alpha.",
        statements=[
            Statement(
                name=name,
                text=text,
                number="Spearman's rho over words",
                rule=rule,
                published=Published(rho, provenance="memory"),
            )
            for name, text, rule, rho in (
                ("norms", "The rarer a word, the longer ||f(x)||.", Rule(above=0.0, unit=""), 0.75),
                ("weights", "The weight has next to nothing to do with it.", Rule(below=0.2, unit=""), 0.06),
            )
        ],
        missing="The length of f(x) by word: norms are told by the place and the role of words.",
    ),
    finding(
        id="kobayashi-alignment",
        claim="Words are aligned with their translations far better by norms than by weights.",
        where="on machine translation",
        model="Transformer, encoder and decoder",
        data="A corpus of sentences with word alignments",
        metric="Alignment error rate of the most attended source word.",
        statements=[
            Statement(
                name="alignment",
                text="The alignment error rate of norms is below that of weights.",
                number="error rate of norms minus that of weights",
                rule=LearnedRule(below=0.0),
                published=Published(text="far below", provenance="second-hand"),
            )
        ],
        missing="A model that translates, and cross-attention read as maps of words.",
    ),
)
