"""Brunner, Liu, Pascual, Richter, Ciaramita and Wattenhofer 2020: what attention and states identify, and what not."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiments.statements.crossed import CrossedSums, crossed_sums, over_heads_and_texts
from experiments.statements.estimates import Estimate
from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import estimate_of, floats, minus, rows
from experiments.statements.rule import Rule

PAPER = Paper(
    "brunner-2020",
    "Brunner, Liu, Pascual, Richter, Ciaramita and Wattenhofer 2020",
    "On Identifiability in Transformers",
)

MODEL = "BERT base, uncased"

STANDS_IN = "UD English EWT, sentences and windows of dev."

DIFFERS = "Effective attention is that of values with their bias; means are over heads and texts, intervals too."

IDENTIFIED = "identified pieces"


BY_TEXT = "effective_texts"
"The table with a row a head and text."


def _by_text(evidence: Evidence) -> pd.DataFrame:
    table: pd.DataFrame = evidence["mixing"].studies[BY_TEXT]
    return table


def _of_length(texts: pd.DataFrame, columns: list[str], least: int, most: int) -> CrossedSums | Missing:
    """Return the sums over texts of a length, in sizes of a head."""
    counted = texts["sizes"].between(least, most)
    return crossed_sums(texts, columns, counted) if counted.any() else Missing("no text is of this length")


def _first(means: Sequence[np.ndarray]) -> float:
    return float(means[0][0])


def _mean(texts: pd.DataFrame, column: str, least: int, most: int) -> Measured | Missing:
    sums = _of_length(texts, [column], least, most)
    if isinstance(sums, Missing):
        return sums
    return Measured(over_heads_and_texts(_first, [sums]))


def _null_space(evidence: Evidence) -> Numbers:
    texts = _by_text(evidence)
    return {"short": _mean(texts, "removed", 1, 1), "long": _mean(texts, "removed", 2, 4)}


def _by_length(evidence: Evidence) -> Numbers:
    texts = _by_text(evidence)
    short, long = (_of_length(texts, ["pearson"], size, size) for size in (2, 4))
    if isinstance(short, Missing) or isinstance(long, Missing):
        return {"length": Missing("no texts of both lengths")}
    near, far = (float(one.whole[0]) for one in (short, long))
    falls = over_heads_and_texts(lambda means: float(means[1][0] - means[0][0]), [short, long])
    return {"length": Measured(falls, note=f"{near:.2f} at one to two sizes of a head, {far:.2f} beyond three")}


def _special(evidence: Evidence) -> Numbers:
    texts = _by_text(evidence)
    both = {"[SEP]": ["sep"], "[CLS] and [SEP]": ["cls", "sep"]}
    return {name: _kept(texts, columns) for name, columns in both.items()}


def _share(means: Sequence[np.ndarray]) -> float:
    """Return effective attention over attention; the columns of the latter come first."""
    raw, effective = (float(part.sum()) for part in np.split(means[0], 2))
    return effective / raw if raw else math.nan


def _kept(texts: pd.DataFrame, tokens: list[str]) -> Measured | Missing:
    """Return the effective attention to special tokens over the attention to them."""
    sums = _of_length(texts, [*tokens, *(f"{one}_effective" for one in tokens)], 2, 4)
    if isinstance(sums, Missing):
        return Missing("no text is longer than a head is wide")
    raw, effective = (float(part.sum()) for part in np.split(sums.whole, 2))
    note = f"{100 * raw:.1f} % of attention, {100 * effective:.1f} % of effective attention"
    return Measured(over_heads_and_texts(_share, [sums]), note=note)


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
    texts = evidence["mixing"].studies[BY_TEXT]
    points: list[Point] = []
    for size in sorted(texts["sizes"].unique()):
        sums = crossed_sums(texts, ["pearson"], texts["sizes"] == size)
        one = over_heads_and_texts(_first, [sums])
        points.append((float(size), one.value, one.low, one.high))
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
                number="share of the squared norm of attention that changes nothing, interval over heads and texts",
                rule=Rule(below=0.01),
                unit="%",
                published=Published(0.0, text="no null space", provenance="memory"),
            ),
            Statement(
                name="long",
                text="Of longer texts a part changes nothing.",
                number="share of the squared norm of attention that changes nothing, interval over heads and texts",
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
                number="difference of the correlations, interval over heads and texts",
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
                number="effective attention over attention, interval over heads and texts",
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
