"""The tables of deciles of attention, and of descriptions of heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from reports.formats import decimal
from reports.tables.shared_columns import NOT_NEGATIVE, ONE_HEAD, RUN, N, difference, fraction, number, text, whole
from reports.tables.table import Table

DECILES: Final = Table(
    "One row for each head and decile of its attention between different words of a sentence, over the whole report "
    "split: what the pairs of words link that get so much attention.",
    ("model", "step", "layer", "head", "decile"),
    (
        *RUN,
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

DESCRIPTIONS: Final = Table(
    "One row for each head: a sentence that says which other word words attend to most, selected on the selection "
    "split, and the share of words of the report split for which it is correct.",
    ("model", "step", "layer", "head"),
    (
        *RUN,
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

DECILE_TABLES: Final[Mapping[str, Table]] = {"deciles": DECILES, "descriptions": DESCRIPTIONS}
