"""Slopes: how much behaviours change with single attention weights, on special tokens and on words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pandas as pd
from pydantic import Field

from experiments.run.measure import BehaviourMeasure, Frames, Read, tables_of
from reports.blocks.block import Block, Heading, Paragraph, TableBlock, Terms
from reports.formats import count, decimal, decimal3
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.scores.best_heads import FEW_CLUSTERS
from reports.tables.cells import columns_of
from reports.tables.effects import OF_BEHAVIOUR, TOKENS
from reports.tables.shared_columns import ITEMS, NOT_NEGATIVE, ONE_HEAD, ends, number, run_table, text
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext

SLOPES: Final = run_table(
    "One row for each behaviour, token and head.",
    ("behaviour", "token", "layer", "head"),
    (
        *OF_BEHAVIOUR,
        text("token", "Token that the weights are on; other stands for all subwords of words.", TOKENS),
        *ONE_HEAD,
        *ITEMS,
        number("slope", "Mean |d value / d attention weight| over items and weights, in the unit.", NOT_NEGATIVE, "ci"),
        *ends("ci", "the slope", decimal3, NOT_NEGATIVE),
    ),
)

TERMS: Final = {
    "slope": "By how much a behaviour changes where one attention weight does, and nothing else: the derivative of its "
    "value, without its sign; of a sentence embedding the length of the derivative of the embedding. Mean over the "
    "weights of a head on a kind of token, over texts, and over the heads of a layer.",
    "special tokens and words": "The slope at a special token over that at the pieces of words in the same layer. 1 "
    "where a weight matters as much on either; where it is near 0, attention to the special token is a no-op (Clark et "
    "al. 2019): more or less attention to it makes no difference.",
}


class SlopesMeasure(BehaviourMeasure):
    """How much behaviours change with single attention weights, by what they are on (Clark et al. 2019)."""

    name = "slopes"
    title = "Effect of single attention weights"
    place = 130
    tables = {"slopes": SLOPES}
    methods = (
        Method(
            "The derivative of a behaviour with respect to single attention weights was taken over at most {items} "
            "items of each behaviour: {behaviours} (Clark et al. 2019).",
            title="Single attention weights",
        ),
    )

    directions: int = Field(default=8, ge=1)
    "Random directions in which sentence embeddings are followed."

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the slopes of all behaviours."""
        from probes.causal.gradients import slope_table, weight_slopes

        frames, shape = [], (run.model.layers, run.model.heads)
        for behaviour in self.opened(run):
            step = run.counter(f"slopes, {behaviour.name}", len(behaviour.prompts))
            found = weight_slopes(behaviour, *shape, directions=self.directions, seed=run.config.seed, step=step)
            frames.append(slope_table(behaviour, found, shape, run.effort))
        return tables_of(slopes=frames)

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield the slopes of each behaviour, layer by layer."""
        yield Terms(TERMS.items())
        for behaviour, rows in run.tables["slopes"].groupby("behaviour", sort=False):
            yield from _steepness(str(behaviour), rows)


def _steepness(behaviour: str, slopes: pd.DataFrame) -> Iterator[Block]:
    first, layers = slopes.iloc[0], slopes.pivot_table(index="layer", columns="token", values="slope")
    rough = " So few documents make the numbers rough." if first["clusters"] < FEW_CLUSTERS else ""
    special = [token for token in TOKENS[:-1] if token in layers]
    words = layers.get(TOKENS[-1], pd.Series(math.nan, layers.index))
    rows = [
        (layer + 1, f"{words[layer]:.2g}", *(_times(layers[token][layer], words[layer]) for token in special))
        for layer in layers.index
    ]
    columns = columns_of(("Layer", "At words", *(f"At {token}, times words" for token in special)))
    yield Heading(behaviour)
    yield Paragraph(f"{count(first['n'])} items of {count(first['clusters'])} documents.{rough}")
    yield TableBlock(TextTable.of(f"Slopes by layer, of {first['unit']}", columns, rows))


def _times(slope: float, other: float) -> str:
    return decimal(slope / other if other else math.nan)
