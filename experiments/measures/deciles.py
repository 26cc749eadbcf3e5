"""Deciles: what heads link with how much attention over a whole corpus, and descriptions that are scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pandas as pd
from pydantic import Field

from experiments.run.measure import Frames, Measure, Read
from probes.corpora.corpus import MemoryTexts
from reports.blocks.block import Block, HeadMap, Points, TableBlock, Terms
from reports.formats import count, decimal, percent, signed
from reports.heads.card_parts import CardPart, CardSource
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.shared_columns import (
    NOT_NEGATIVE,
    ONE_HEAD,
    SPLITS,
    N,
    difference,
    fraction,
    number,
    run_table,
    text,
    whole,
)
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from mha import Model
    from probes.corpora.corpus import Texts
    from probes.maps.description import RulePredictions
    from probes.scoring.observers import Observer

DECILES: Final = run_table(
    "One row for each head and decile of its attention between different words of a sentence, over the whole report "
    "split: what the pairs of words link that get so much attention.",
    ("layer", "head", "decile"),
    (
        *ONE_HEAD,
        replace(whole("decile", "Tenth of the pairs of words by attention: 1 gets least, 10 most.", 1), bounds=(1, 10)),
        fraction("low", "Attention above which the pairs lie; off by an eighth of its value, or a millionth, at most."),
        fraction(
            "high", "Attention below which the pairs lie; off by an eighth of its value, or a millionth, at most."
        ),
        whole("n", "Pairs of words."),
        fraction("before", "Share of pairs whose attended word stands before the attending one."),
        number(
            "distance",
            "Mean number of words from one to the other, counted to 9 at the most.",
            NOT_NEGATIVE,
            write=decimal,
        ),
        fraction("arcs", "Share of pairs that a dependency links, in either direction."),
        text("tags", "Most frequent parts of speech of attending and attended word, with their share of the decile."),
        text("relations", "Most frequent relations with their direction, attending word first, with their share."),
        text("offsets", "Most frequent offsets of the attended word, counted to 9 at the most, with their share."),
        text("random", "A pair at random: sentence, attending and attended word counted from 1, attention."),
        text("strongest", "The three pairs with the most attention, written likewise; empty below decile 10."),
    ),
)

DESCRIPTIONS: Final = run_table(
    "One row for each head: a sentence that says which other word words attend to most, selected on the selection "
    "split, and the share of words of the report split for which it is correct.",
    ("layer", "head"),
    (
        *ONE_HEAD,
        text("description", "The sentence: one rule, and others for at most three parts of speech."),
        replace(N, meaning="Words of the report split that attend; those of sentences of one word are left out."),
        fraction("accuracy", "Share of these words for which the sentence names the most attended other word."),
        text("offset", "The one offset that is correct for the most words of the selection split."),
        fraction("offset_accuracy", "Accuracy of that offset on the report split."),
        difference("gain", "Accuracy minus that of the offset; no interval was measured."),
        fraction(
            "random_accuracy",
            "Mean accuracy over the heads of a randomly initialised model, each with a description of its own, on a "
            "sample of sentences.",
        ),
        fraction("between", "Mean share of a word's attention that goes to other words of its sentence."),
    ),
)

TERMS: Final = {
    "decile": "All pairs of different words of a sentence, of the whole report split, in ten parts of equal number by "
    "the attention that a head gives them. What holds in the tenth decile alone may not hold of the head.",
    "description": "A rule that names the most attended other word, and others for at most three parts of speech, "
    "selected on the selection split. Its accuracy is that on held-out text. It does not cover attention to [CLS] and "
    "[SEP].",
}

CLEAR: Final = 0.05
"By how much a description must be better than an offset to be counted. The limit is ours."


class DecilesMeasure(Measure):
    """Deciles of each head's attention between words over the whole report split, and a description of the head."""

    name = "deciles"
    title = "All of a head's attention"
    place = 20
    switch = "enabled"
    tables = {"deciles": DECILES, "descriptions": DESCRIPTIONS}
    methods = (
        Method(
            "Attention between different words of a sentence was counted over the whole report split, head by head, in "
            "bins whose upper edge is an eighth above the lower one at most; deciles are put together from bins. A "
            "description is the rule (an offset up to 4, the syntactic head, the first or last word, the nearest word "
            "of a part of speech before or after) that names the most attended other word of the most words of the "
            "selection split, with rules of their own for at most three parts of speech. Its accuracy is that on the "
            "report split, beside the best offset, and a randomly initialised model on {random_texts} sentences a "
            "split.",
            title="Deciles and descriptions",
        ),
    )

    enabled: bool = False
    "Whether they are counted, in the pass in which heads are scored."
    random_texts: int = Field(default=200, ge=1)
    "Sentences of each split that a randomly initialised model reads, to which descriptions are fitted the same way."

    def wanted(self, run: RunContext) -> bool:
        """Return whether it is switched on and the run reads sentences' attention; else a note says why not."""
        if not self.enabled:
            return False
        reads = run.config.scoring.maps == "weights" and "sentence" in run.scopes
        if not reads:
            run.note("deciles: they are of attention in sentences, which the run does not read")
        return reads

    def observers(self, run: RunContext, scope: str, split: str, texts: Texts) -> Sequence[Observer]:
        """Return what sees the maps of a split of sentences."""
        from probes.maps.deciles import Deciles
        from probes.maps.description import RulePredictions

        if scope != "sentence":
            return []
        shape = (run.model.layers, run.model.heads)
        return [RulePredictions(*shape), *([Deciles(*shape)] if split == SPLITS[1] else [])]

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return a row a head and decile, and a row a head with its description."""
        from probes.maps.deciles import Deciles
        from probes.maps.description import RulePredictions, describe
        from probes.scoring.aligned import sample_texts

        [scored] = [one for one in read.parts if one.part.scope == "sentence"]
        (select,), (report,) = (scored.observed(RulePredictions, split) for split in SPLITS)
        [deciles] = scored.observed(Deciles, SPLITS[1])
        model = run.random_model()
        samples = (MemoryTexts(sample_texts(texts, self.random_texts)) for texts in run.texts("sentence"))
        of_select, of_report = (_predictions(run, model, sample) for sample in samples)
        described = describe(select, report, (of_select, of_report))
        between = deciles.between()[["layer", "head", "between"]]
        return {"deciles": deciles.table(), "descriptions": described.merge(between, on=["layer", "head"])}

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield how well descriptions do, and the descriptions, best first."""
        described = run.last("descriptions")
        yield Points([*_sentences(described)])
        ranked = described.sort_values("accuracy", ascending=False, kind="stable").to_dict("records")
        columns = ("name", "description", "accuracy", "offset", "offset_accuracy", "gain", "between")
        table = TextTable.of("A description of every head", DESCRIPTIONS.text_columns(*columns), ranked)
        yield TableBlock(table, sorts=True)
        yield Terms(TERMS.items())

    @classmethod
    def maps(cls, run: RunFolder) -> Iterator[HeadMap]:
        """Yield how accurate descriptions are."""
        title, shape, rows = "accuracy of its description", (run.layers, run.heads), run.last("descriptions")
        yield HeadMap.of(title, rows, "accuracy", shape, unit="%", factor=100, group="attention")

    @classmethod
    def card(cls, source: CardSource, head: str) -> CardPart | None:
        """Return what a head's attention between words looks like: a description and its deciles."""
        described, rows = source.of_head("descriptions", head), source.of_head("deciles", head)
        if not described or not rows:
            return None
        one = described[-1]
        sentences = (
            f"{one['description']} Accuracy on held-out text: {percent(one['accuracy'])} %; of the offset "
            f"“{one['offset']}”: {percent(one['offset_accuracy'])} % (difference {signed(one['gain'])} points); of "
            f"descriptions of a randomly initialised model: {percent(one['random_accuracy'])} %.",
            f"Other words get {percent(one['between'])} % of its attention. Pairs of words by attention, the tenth "
            "decile first:",
        )
        columns = ("decile", "from, %", "arcs, %", "distance", "parts of speech", "offsets")
        shown = ("decile", "low", "arcs", "distance", "tags", "offsets")
        ordered = sorted(rows[-10:], key=lambda row: -row["decile"])
        cells = tuple(tuple(DECILES[name].cell(row[name]) for name in shown) for row in ordered)
        return CardPart("All of its attention", sentences, columns, cells)


def _predictions(run: RunContext, model: Model, texts: Texts) -> RulePredictions:
    """Return what rules predict of a model on texts."""
    from probes.maps.description import RulePredictions
    from probes.scoring.score import score_corpus

    found = RulePredictions(model.layers, model.heads)
    score_corpus(model, texts, [], {}, run.settings, observers=[found])
    return found


def _sentences(rows: pd.DataFrame) -> Iterator[str]:
    """Yield how well descriptions do, beside an offset and random weights."""
    own, offset, random = (percent(rows[name].mean()) for name in ("accuracy", "offset_accuracy", "random_accuracy"))
    yield (
        f"A sentence names a word's most attended other word with a mean accuracy of {own} % over heads, on "
        f"{count(rows['n'].iloc[0])} words of held-out text; the best single offset reaches {offset} %, and "
        f"descriptions of a randomly initialised model {random} %."
    )
    yield (
        f"In {count((rows['gain'] > CLEAR).sum())} of {count(len(rows))} heads the sentence is more than "
        f"{100 * CLEAR:.0f} points better than the offset. These numbers have no intervals."
    )
