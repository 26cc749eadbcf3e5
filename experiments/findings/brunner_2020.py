"""Brunner, Liu, Pascual, Richter, Ciaramita and Wattenhofer 2020: what attention and states identify, and what not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from experiments.statements.estimates import CrossedSums, crossed_sums, over_heads_and_texts
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import estimate_of, minus, points, table
from experiments.statements.rule import LearnedRule, Rule
from reports.statements.figure import Figure

PAPER = Paper(
    "brunner-2020",
    "Brunner, Liu, Pascual, Richter, Ciaramita and Wattenhofer 2020",
    "On Identifiability in Transformers",
)

DIFFERS = "Effective attention is that of values with their bias; means are over heads and texts, intervals too."

BY_TEXT = "effective_texts"
"The table with a row a head and text."


def _sums(evidence: Evidence, columns: list[str], least: int, most: int, why: str) -> CrossedSums:
    """Return the sums over texts of a length, in sizes of a head."""
    texts = table(evidence, "mixing", BY_TEXT)
    counted = texts["sizes"].between(least, most)
    if not counted.any():
        raise Missing(why)
    return crossed_sums(texts, columns, counted)


def _first(means: Sequence[np.ndarray]) -> float:
    return float(means[0][0])


def _null_space(least: int, most: int, evidence: Evidence) -> Measured:
    sums = _sums(evidence, ["removed"], least, most, "no text is of this length")
    return Measured(over_heads_and_texts(_first, [sums]))


def _by_length(evidence: Evidence) -> Measured:
    short, long = (_sums(evidence, ["pearson"], size, size, "no texts of both lengths") for size in (2, 4))
    near, far = (float(one.whole[0]) for one in (short, long))
    falls = over_heads_and_texts(lambda means: float(means[1][0] - means[0][0]), [short, long])
    return Measured(falls, note=f"{near:.2f} at one to two sizes of a head, {far:.2f} beyond three")


def _share(means: Sequence[np.ndarray]) -> float:
    """Return effective attention over attention; the columns of the latter come first."""
    raw, effective = (float(part.sum()) for part in np.split(means[0], 2))
    return effective / raw if raw else math.nan


def _kept(tokens: list[str], evidence: Evidence) -> Measured:
    """Return the effective attention to special tokens over the attention to them."""
    columns = [*tokens, *(f"{one}_effective" for one in tokens)]
    sums = _sums(evidence, columns, 2, 4, "no text is longer than a head is wide")
    raw, effective = (float(part.sum()) for part in np.split(sums.whole, 2))
    note = f"{100 * raw:.1f} % of attention, {100 * effective:.1f} % of effective attention"
    return Measured(over_heads_and_texts(_share, [sums]), note=note)


def _identified(evidence: Evidence) -> pd.DataFrame:
    return table(evidence, "mixing", "mixing", measure="identified pieces").sort_values("depth")


def _depth(evidence: Evidence) -> Measured:
    found = _identified(evidence)
    first, last = (
        estimate_of(row, "value", "low", "high") for row in (found[found.depth == 1].iloc[0], found.iloc[-1])
    )
    return Measured(minus(first, last), note=f"{first.value:.1%} behind the first, {last.value:.1%} the last")


def _curve(evidence: Evidence) -> Figure:
    texts = table(evidence, "mixing", BY_TEXT)
    by_size = {size: crossed_sums(texts, ["pearson"], texts["sizes"] == size) for size in sorted(set(texts["sizes"]))}
    means = [over_heads_and_texts(_first, [sums]).at(float(size)) for size, sums in by_size.items()]
    across = "length of text in sizes of a head; 4: longer than 3"
    return Figure("lines", "Attention and effective attention", across, "Pearson's r", {"mean of heads": means})


def _drawn(evidence: Evidence) -> Figure:
    series = {"linear map": points(_identified(evidence), "depth", "value", "low", "high")}
    return Figure("lines", "Pieces found again", "layer", "share of pieces", series)


finding = partial(
    Finding, model="BERT base, uncased", stands_in="UD English EWT, sentences and windows of dev.", readings=("mixing",)
)

FINDINGS = (
    finding(
        id="brunner-null-space",
        claim="For texts longer than a head has dimensions attention weights are not identifiable: a part changes "
        "nothing.",
        where="section 3.1",
        data="texts of up to 512 tokens; a head has 64 dimensions",
        metric="Share of the squared norm of attention that lies in the left null space of T = V W_O of a head.",
        differs=DIFFERS,
        statements=[
            Statement(
                name="short",
                text="Of texts with no more pieces than a head has dimensions all attention changes something.",
                number="share of the squared norm of attention that changes nothing, interval over heads and texts",
                rule=Rule(below=0.01, unit="%"),
                published=Published(0.0, text="no null space", provenance="memory"),
                measure=partial(_null_space, 1, 1),
            ),
            Statement(
                name="long",
                text="Of longer texts a part changes nothing.",
                number="share of the squared norm of attention that changes nothing, interval over heads and texts",
                rule=Rule(above=0.0, unit="%"),
                published=Published(text="not identifiable", provenance="second-hand"),
                measure=partial(_null_space, 2, 4),
            ),
        ],
        fact="vectors of d dimensions span no more than d, whatever the weights",
    ),
    finding(
        id="brunner-length",
        claim="The longer the text, the less effective attention looks like attention.",
        where="section 3.2, figure of correlations by length",
        data="texts of many lengths",
        metric="Pearson's correlation of attention and effective attention over the cells of a map.",
        differs=DIFFERS,
        statements=[
            Statement(
                name="length",
                text="Of texts longer than three sizes of a head the correlation is lower than of texts of one to two.",
                number="difference of the correlations, interval over heads and texts",
                rule=Rule(below=0.0, unit=""),
                published=Published(text="falls with length; shown in a figure", provenance="memory"),
            )
        ],
        measure=_by_length,
        figure=_curve,
        fact="the null space grows with the text, whatever the weights",
    ),
    finding(
        id="brunner-special-tokens",
        revised="the bar was raised after untrained weights had passed the first one, the sign of the effect, and the "
        "statement on both tokens together was added",
        claim="Effective attention goes to special tokens less than attention does.",
        where="section 3.2, figure of attention and effective attention by kind of token",
        data="texts longer than 64 tokens",
        metric="Mean effective attention to the token over mean attention to it, texts longer than a head is wide.",
        differs=DIFFERS + " The paper shows punctuation too, and prints no number: that it is half is our bar.",
        statements=[
            Statement(
                name=name,
                text=f"Effective attention to {name} is less than half of the attention to {them}.",
                number="effective attention over attention, interval over heads and texts",
                rule=LearnedRule(below=0.5, unit=""),
                published=Published(text="less; shown in a figure", provenance="memory"),
                measure=partial(_kept, tokens),
            )
            for name, them, tokens in (("[SEP]", "it", ["sep"]), ("[CLS] and [SEP]", "them", ["cls", "sep"]))
        ],
    ),
    finding(
        id="brunner-identity",
        claim="Tokens keep their identity to a large degree in all layers.",
        where="section 4.1",
        data="MRPC",
        metric="Share of tokens whose embedding is, of those of the text, nearest to what a map makes of its state.",
        differs="A linear map (ridge regression) and cosine; the paper's number is that of an MLP.",
        statements=[
            Statement(
                name="last layer",
                text="Behind the last layer more than four fifths are found again.",
                number="share of pieces behind the last layer",
                rule=Rule(above=0.82, unit="%"),
                weaker=Rule(above=0.5),
                published=Published(0.82, text="with an MLP, layer 12", provenance="memory"),
            )
        ],
        measure=lambda evidence: Measured(estimate_of(_identified(evidence).iloc[-1], "value", "low", "high")),
        figure=_drawn,
        fact="skip connections carry the embedding through all layers, whatever the weights",
    ),
    finding(
        id="brunner-identity-depth",
        revised="the bar was raised after untrained weights had passed the first one, the sign of the effect",
        claim="Tokens lose their identity gradually with depth.",
        where="abstract and section 4.1",
        data="MRPC",
        metric="As in brunner-identity.",
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
        measure=_depth,
    ),
)
