"""Brunner, Liu, Pascual, Richter, Ciaramita and Wattenhofer 2020: what attention and states identify, and what not."""

from __future__ import annotations

import math

import pandas as pd

from experiments.statements.estimates import Estimate
from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import estimate_of, floats, minus, over_units, rows
from experiments.statements.rule import Rule

PAPER = Paper(
    "brunner-2020",
    "Brunner, Liu, Pascual, Richter, Ciaramita and Wattenhofer 2020",
    "On Identifiability in Transformers",
)

MODEL = "BERT base, uncased"

STANDS_IN = "UD English EWT, sentences and windows of dev."

DIFFERS = "Effective attention is that of values with their bias; the means are over heads, the interval too."

IDENTIFIED = "identified pieces"


def _heads(evidence: Evidence) -> pd.DataFrame:
    found: pd.DataFrame = evidence["mixing"].studies["effective_attention"]
    return found


def _of_length(evidence: Evidence, least: int, most: int) -> pd.DataFrame:
    """Return for every head the means over texts of a length, in sizes of a head."""
    heads = _heads(evidence)
    heads = heads[heads["sizes"].between(least, most)]
    columns = ["pearson", "removed", "cls", "cls_effective", "sep", "sep_effective"]
    weighted = heads[columns].mul(heads["n"], axis=0).groupby(heads["name"]).sum()
    return weighted.div(heads.groupby("name")["n"].sum(), axis=0)


def _mean(heads: pd.DataFrame, column: str) -> Measured | Missing:
    if not len(heads):
        return Missing("no text is of this length")
    return Measured(over_units(lambda part: float(part[column].mean()), heads))


def _null_space(evidence: Evidence) -> Numbers:
    return {
        "short": _mean(_of_length(evidence, 1, 1), "removed"),
        "long": _mean(_of_length(evidence, 2, 4), "removed"),
    }


def _by_length(evidence: Evidence) -> Numbers:
    short, long = _of_length(evidence, 2, 2), _of_length(evidence, 4, 4)
    both = pd.concat([short["pearson"].rename("short"), long["pearson"].rename("long")], axis=1, join="inner")
    if not len(both):
        return {"length": Missing("no texts of both lengths")}
    note = f"{short['pearson'].mean():.2f} at one to two sizes of a head, {long['pearson'].mean():.2f} beyond three"
    falls = over_units(lambda part: float((part["long"] - part["short"]).mean()), both)
    return {"length": Measured(falls, note=note)}


def _special(evidence: Evidence) -> Numbers:
    heads = _of_length(evidence, 2, 4)
    both = {"[SEP]": ["sep"], "[CLS] and [SEP]": ["cls", "sep"]}
    return {name: _kept(heads, columns) for name, columns in both.items()}


def _kept(heads: pd.DataFrame, columns: list[str]) -> Measured | Missing:
    """Return the effective attention to special tokens over the attention to them."""
    if not len(heads):
        return Missing("no text is longer than a head is wide")
    raw, effective = heads[columns].sum(axis=1), heads[[f"{one}_effective" for one in columns]].sum(axis=1)
    frame = pd.DataFrame({"raw": raw, "effective": effective})
    note = f"{100 * raw.mean():.1f} % of attention, {100 * effective.mean():.1f} % of effective attention"
    return Measured(over_units(_share, frame), note=note)


def _share(heads: pd.DataFrame) -> float:
    raw = float(heads["raw"].mean())
    return float(heads["effective"].mean()) / raw if raw else math.nan


def _at(evidence: Evidence, depth: int | None = None) -> Estimate:
    """Return the share of identified pieces at a depth, or behind the last layer."""
    found = rows(evidence["mixing"].studies["mixing"], measure=IDENTIFIED)
    row = found[found["depth"] == (found["depth"].max() if depth is None else depth)].iloc[0]
    return estimate_of(row, "value", "low", "high")


def _identity(evidence: Evidence) -> Numbers:
    return {"last layer": Measured(_at(evidence))}


def _depth(evidence: Evidence) -> Numbers:
    first, last = _at(evidence, 1), _at(evidence)
    return {
        "depth": Measured(minus(first, last), note=f"{first.value:.1%} behind the first, {last.value:.1%} the last")
    }


def _curve(evidence: Evidence) -> Figure:
    heads = _heads(evidence)
    lengths = [over_units(lambda part: float(part["pearson"].mean()), part) for _, part in heads.groupby("sizes")]
    points: list[Point] = [
        (float(size), one.value, one.low, one.high)
        for size, one in zip(sorted(heads["sizes"].unique()), lengths, strict=True)
    ]
    across = "length of text in sizes of a head; 4: longer than 3"
    return Figure("lines", "Attention and effective attention", across, "Pearson's r", {"mean of heads": points})


def _identified(evidence: Evidence) -> Figure:
    found = rows(evidence["mixing"].studies["mixing"], measure=IDENTIFIED)
    points: list[Point] = [
        (x, y, low, high) for x, y, low, high in floats(found.sort_values("depth"), "depth", "value", "low", "high")
    ]
    return Figure("lines", "Pieces found again", "layer", "share of pieces", {"linear map": points})


FINDINGS = (
    Finding(
        id="brunner-null-space",
        claim="For texts longer than a head has dimensions attention weights are not identifiable: a part changes "
        "nothing.",
        where="section 3.1",
        model=MODEL,
        data="texts of up to 512 tokens; a head has 64 dimensions",
        metric="Share of the squared norm of attention that lies in the left null space of T = V W_O of a head.",
        stands_in=STANDS_IN,
        differs=DIFFERS,
        statements=[
            Statement(
                name="short",
                text="Of texts with no more pieces than a head has dimensions all attention changes something.",
                number="share of the squared norm of attention that changes nothing",
                rule=Rule(below=0.01),
                unit="%",
                published=Published(0.0, text="no null space", provenance="memory"),
            ),
            Statement(
                name="long",
                text="Of longer texts a part changes nothing.",
                number="share of the squared norm of attention that changes nothing",
                rule=Rule(above=0.0),
                unit="%",
                published=Published(text="not identifiable", provenance="second-hand"),
            ),
        ],
        readings=("mixing",),
        measure=_null_space,
        fact="vectors of d dimensions span no more than d, whatever the weights",
    ),
    Finding(
        id="brunner-length",
        claim="The longer the text, the less effective attention looks like attention.",
        where="section 3.2, figure of correlations by length",
        model=MODEL,
        data="texts of many lengths",
        metric="Pearson's correlation of attention and effective attention over the cells of a map.",
        stands_in=STANDS_IN,
        differs=DIFFERS,
        statements=[
            Statement(
                name="length",
                text="Of texts longer than three sizes of a head the correlation is lower than of texts of one to two.",
                number="difference of the correlations, mean over heads",
                rule=Rule(below=0.0),
                unit="",
                published=Published(text="falls with length; shown in a figure", provenance="memory"),
                shown="",
            )
        ],
        readings=("mixing",),
        measure=_by_length,
        figure=_curve,
        fact="the null space grows with the text, whatever the weights",
    ),
    Finding(
        id="brunner-special-tokens",
        revised="the bar was raised after untrained weights had passed the first one, the sign of the effect, and the "
        "statement on both tokens together was added",
        claim="Effective attention goes to special tokens less than attention does.",
        where="section 3.2, figure of attention and effective attention by kind of token",
        model=MODEL,
        data="texts longer than 64 tokens",
        metric="Mean effective attention to the token over mean attention to it, texts longer than a head is wide.",
        stands_in=STANDS_IN,
        differs=DIFFERS + " The paper shows punctuation too, and prints no number: that it is half is our bar.",
        statements=[
            Statement(
                name=name,
                text=f"Effective attention to {name} is less than half of the attention to {them}.",
                number="effective attention over attention, mean over heads",
                rule=LearnedRule(below=0.5),
                unit="",
                published=Published(text="less; shown in a figure", provenance="memory"),
                shown="",
            )
            for name, them in (("[SEP]", "it"), ("[CLS] and [SEP]", "them"))
        ],
        readings=("mixing",),
        measure=_special,
    ),
    Finding(
        id="brunner-identity",
        claim="Tokens keep their identity to a large degree in all layers.",
        where="section 4.1",
        model=MODEL,
        data="MRPC",
        metric="Share of tokens whose embedding is, of those of the text, nearest to what a map makes of its state.",
        stands_in=STANDS_IN,
        differs="A linear map (ridge regression) and cosine; the paper's number is that of an MLP.",
        statements=[
            Statement(
                name="last layer",
                text="Behind the last layer more than four fifths are found again.",
                number="share of pieces behind the last layer",
                rule=Rule(above=0.82),
                weaker=Rule(above=0.5),
                unit="%",
                published=Published(0.82, text="with an MLP, layer 12", provenance="memory"),
            )
        ],
        readings=("mixing",),
        measure=_identity,
        figure=_identified,
        fact="skip connections carry the embedding through all layers, whatever the weights",
    ),
    Finding(
        id="brunner-identity-depth",
        revised="the bar was raised after untrained weights had passed the first one, the sign of the effect",
        claim="Tokens lose their identity gradually with depth.",
        where="abstract and section 4.1",
        model=MODEL,
        data="MRPC",
        metric="As in brunner-identity.",
        stands_in=STANDS_IN,
        differs="A linear map (ridge regression) and cosine.",
        statements=[
            Statement(
                name="depth",
                text="Behind the last layer fewer are found again than behind the first, by as much as in the paper.",
                number="share behind the first layer minus that behind the last",
                rule=LearnedRule(above=0.18),
                published=Published(0.18, text="from all to 82 %, with an MLP", provenance="memory"),
            )
        ],
        readings=("mixing",),
        measure=_depth,
    ),
)
