"""Vig and Belinkov 2019: attention follows dependencies most in middle layers, and looks furthest in the deepest."""

from __future__ import annotations

from functools import partial

import pandas as pd

from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import by_depth, over_units, points, rows, shape
from experiments.statements.rule import LearnedRule
from reports.statements.figure import Figure

PAPER = Paper(
    "vig-2019", "Vig and Belinkov 2019", "Analyzing the Structure of Attention in a Transformer Language Model"
)

MEAN = "mean of the layer"

MORE = 0.1
"By how much of itself one depth has to be above another: layers that know nothing differ by next to nothing."

LOWER, MIDDLE, UPPER, NOT_UPPER = (0, 1 / 3), (1 / 3, 2 / 3), (2 / 3, 1), (0, 2 / 3)
"Parts of the depth, see `by_depth`."


def _aligned(evidence: Evidence) -> pd.DataFrame:
    """Return a row a head with `value`, the share of attention to other words that is between words of an arc."""
    asked = rows(evidence["trees"].scores, probe="dependency", label="all", split="report")
    there, back = (rows(asked, variant=way).set_index("name") for way in ("dependent->head", "head<-dependent"))
    heads = there[there.coverage > 0]
    return heads.assign(value=(heads.mass + back.mass.reindex(heads.index)) / heads.coverage).reset_index()


def _distances(evidence: Evidence) -> pd.DataFrame:
    return shape(evidence["trees"], "distance", "words")


def _compared(heads: pd.DataFrame, here: tuple[float, float], there: tuple[float, float]) -> Measured:
    """Return how much higher the mean `value` of heads of a part of the depth is than that of another part."""
    parts = {name: heads.index.isin(by_depth(heads, *part).index) for name, part in (("here", here), ("there", there))}
    table = pd.DataFrame(parts).assign(value=heads.value.to_numpy())
    if not (table.here.any() and table.there.any()):
        raise Missing("the model has too few layers")

    def mean(some: pd.DataFrame, column: str) -> float:
        return float(some["value"][some[column]].mean())

    return Measured(
        decides=over_units(lambda some: mean(some, "here") / mean(some, "there") - 1, table),
        ours=over_units(lambda some: mean(some, "here"), table[table.here]),
        baseline=mean(table, "there"),
    )


def _middle(part: tuple[float, float], evidence: Evidence) -> Measured:
    return _compared(_aligned(evidence), MIDDLE, part)


def _by_layer(heads: pd.DataFrame, title: str, up: str) -> Figure:
    means = heads.groupby("layer").value.mean().reset_index()
    series = {name: points(one, "layer", "value", first=1) for name, one in (("heads", heads), (MEAN, means))}
    return Figure("dots", title, "layer", up, series)


finding = partial(
    Finding,
    model="GPT-2 small, a decoder",
    where="abstract; figures by layer and head",
    data="sentences of Wikipedia",
    stands_in="UD English EWT, dev, with gold trees",
    differs="An encoder that sees both sides, and our thirds of the depth; the interval is over heads.",
    readings=("trees",),
)

FINDINGS = (
    finding(
        id="vig-middle-layers",
        claim="Attention follows dependency relations most in the middle layers.",
        metric="Share of attention that is between the two words of a dependency, in either direction. We: of the "
        "attention to other words, so that special tokens do not count.",
        statements=[
            Statement(
                name=name,
                text=f"Heads of the middle third give a tenth more to such words than those of the {name} third.",
                number=f"mean share in the middle third over that in the {name} third, minus 1",
                rule=LearnedRule(above=MORE, unit="%"),
                published=Published(text="most in the middle layers (figure)", provenance="second-hand"),
                measure=partial(_middle, part),
            )
            for name, part in (("lower", LOWER), ("upper", UPPER))
        ],
        figure=lambda evidence: _by_layer(
            _aligned(evidence), "Attention along dependencies", "share of attention to other words"
        ),
    ),
    finding(
        id="vig-distance",
        claim="The deepest layers look furthest.",
        metric="Mean distance in words between where attention comes from and where it goes.",
        statements=[
            Statement(
                name="distance",
                text="Heads of the upper third look a tenth further than all others.",
                number="mean distance in the upper third over that of all other heads, minus 1",
                rule=LearnedRule(above=MORE, unit="%"),
                published=Published(text="the deepest layers: the longest distances", provenance="second-hand"),
                shown="words",
            )
        ],
        measure=lambda evidence: _compared(_distances(evidence), UPPER, NOT_UPPER),
        figure=lambda evidence: _by_layer(_distances(evidence), "How far heads look", "mean distance, words"),
    ),
)
