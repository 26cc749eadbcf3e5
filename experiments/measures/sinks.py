"""Sinks: which heads attend to special tokens, and whether they write anything from there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pydantic import Field

from experiments.run.measure import Frames, Measure, Read
from probes.corpora.corpus import MemoryTexts
from reports.blocks.block import HeadMap
from reports.formats import decimal, percent
from reports.heads.card_parts import CardPart, CardSource
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.grades import SINK_KINDS, SPREADS
from reports.tables.shared_columns import NOT_NEGATIVE, ONE_HEAD, SPLITS, fraction, number, run_table, text

if TYPE_CHECKING:
    from experiments.run.context import RunContext

SINKS: Final = run_table(
    "One row for each head: what it gives to special tokens, over words of a sample of the report split.",
    ("layer", "head"),
    (
        *ONE_HEAD,
        fraction("special", "Share of the attention of words that goes to special tokens."),
        fraction("written", "Share of special tokens in what the head writes, the sum of lengths of weighted values."),
        number(
            "length",
            "Mean length of the transformed values of special tokens, each weighted by the attention that it gets, "
            "divided by that of pieces of words.",
            NOT_NEGATIVE,
        ),
        number(
            "rank",
            "Mean number of directions that the outputs of the head before W_O take up in a text, (sum of s^2)^2 / "
            "sum of s^4 over their singular values s; 1 where all words get multiples of one vector.",
            (1.0, math.inf),
        ),
        text(
            "kind",
            "Whether a sink writes little from special tokens or spreads what they hold; empty for others.",
            ("", *SINK_KINDS),
        ),
    ),
)


class SinksMeasure(Measure):
    """Which heads attend to special tokens, and what they write from there, see `probes.maps.sinks`."""

    name = "sinks"
    place = 200
    switch = "texts"
    tables = {"sinks": SINKS}
    methods = (
        Method(
            "Over {texts} sentences of the report split at the most. Where special tokens get at least half of the "
            "attention of words, a sink is of one of two kinds. It writes little where the values of special tokens, "
            "each weighted by the attention that it gets, are at most half as long as those of pieces of words "
            "(transformed values, Kobayashi et al. 2020, section 3.1). Otherwise it spreads what special tokens hold "
            "to all words. Both limits are ours.",
            title="Sinks",
        ),
    )

    texts: int = Field(default=200, ge=0)
    "Sentences of the report split that are read, at the most: those with the smallest hash of their ids; 0 for none."

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return one row a head; a note, and no table, where W_O is not known."""
        from mha.hooks import HookError
        from probes.maps.sinks import read_sinks
        from probes.scoring.aligned import Aligned, sample_texts

        aligned = Aligned.of(run.model, MemoryTexts(sample_texts(run.texts("sentence")[1], self.texts)))
        run.note_dropped(SPLITS[1], "sentence", self.name, aligned.dropped)
        try:
            step = run.counter(self.name, len(aligned.pieces))
            return {"sinks": read_sinks(run.model, aligned, run.settings, step)}
        except HookError as error:
            run.note(f"sinks: {error}")
            return {}

    @classmethod
    def maps(cls, run: RunFolder) -> Iterator[HeadMap]:
        """Yield the attention of words to special tokens."""
        title, shape = "attention of words to special tokens", (run.layers, run.heads)
        yield HeadMap.of(title, run.last(cls.name), "special", shape, unit="%", factor=100, group="attention")

    @classmethod
    def card(cls, source: CardSource, head: str) -> CardPart | None:
        """Return what a sink does with special tokens; None for a head that is none."""
        rows = [row for row in source.of_head("sinks", head) if row["kind"]]
        sentences = tuple(
            f"{percent(row['special'])} % of the attention of words goes to special tokens, which have "
            f"{percent(row['written'])} % of what the head writes: "
            + ("it spreads what they hold." if row["kind"] == SPREADS else "it writes little.")
            + f" Its outputs take up {decimal(row['rank'])} directions in a text on average "
            "(1: the same for all words)."
            for row in rows
        )
        return CardPart("A sink", sentences) if sentences else None
