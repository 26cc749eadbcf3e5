"""The tables of what the weights alone show of heads, beside what heads do on text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.formats import decimal, signed_whole
from reports.tables.column import Column
from reports.tables.shared_columns import (
    CORRELATIONS,
    NOT_NEGATIVE,
    ONE_HEAD,
    RUN,
    correlation,
    difference,
    ends,
    fraction,
    number,
    text,
    whole,
)
from reports.tables.table import Table


def _offset(name: str, meaning: str) -> Column:
    return Column(name, "int64", meaning, signed_whole)


CIRCUITS: Final = Table(
    "One row for each head: its query-key and value-output circuits by the weights alone, and the same on text of the "
    "report split.",
    ("model", "step", "layer", "head"),
    (
        *RUN,
        *ONE_HEAD,
        _offset("kernel_offset", "Offset in subwords that the product of position embeddings prefers; left is < 0."),
        fraction("kernel_attention", "Attention that a softmax over positions alone gives to that offset."),
        fraction("same_word", "Share of other words that score below the word itself by query-key; chance is 0.5."),
        fraction("related_words", "Share of other words that score below its five nearest words; chance is 0.5."),
        correlation("copying", "Sum of the value-output circuit's eigenvalues over that of their moduli; 1 copies."),
        fraction("positive_eigenvalues", "Share of these eigenvalues with a positive real part."),
        fraction("own_word", "Share of other words that a word raises less than itself; chance is 0.5."),
        _offset("text_offset", "Offset in subwords that is attended to most on text; left is < 0."),
        fraction("text_attention", "Mean attention to that offset on text."),
        fraction("text_at_kernel", "Mean attention on text to the offset that the weights prefer."),
        difference("text_same_word", "Attention to repeats of the same subword on text, minus uniform attention."),
        Column(
            "text_related",
            "float64",
            "How much nearer (cosine) the attended subwords are than the others of the sentence.",
            decimal,
            (-2, 2),
        ),
        correlation(
            "text_copying",
            "Correlation of what the head writes on text with what raises the attended subwords' logits.",
        ),
        number(
            "write_norm",
            "Mean length of the vector that the head writes; comparable within a layer.",
            NOT_NEGATIVE,
            write=decimal,
        ),
    ),
)

KERNELS: Final = Table(
    "One row for each head and offset: attention by positions alone, and on text.",
    ("model", "step", "layer", "head", "offset"),
    (
        *RUN,
        *ONE_HEAD,
        _offset("offset", "Distance in subwords from query to key; left is < 0."),
        number("score", "Query-key product of the position embeddings at that offset, scaled as attention is."),
        fraction("attention", "Attention that a softmax over positions alone gives to the offset."),
        fraction("text_attention", "Mean attention to the offset on text."),
    ),
)

RELATIONS: Final = Table(
    "One row for each relation between words and head.",
    ("model", "step", "relation", "layer", "head"),
    (
        *RUN,
        text("relation", "Relation of word pairs, such as singular and plural."),
        *ONE_HEAD,
        whole("pairs", "Number of word pairs."),
        fraction("static", "Share of pairs whose target is among the ten words that the source raises most."),
        fraction("suppressed", "Share of pairs whose target is among the ten words that the source lowers most."),
        fraction("dynamic", "As static, for the head's value of the source in two neutral sentences."),
        fraction("chance", "The share that a random list of ten words would reach."),
    ),
)

LINKS: Final = Table(
    "One row for each measure by the weights and its counterpart on text, over all heads.",
    ("model", "step", "relation", "weights", "text"),
    (
        *RUN,
        text("relation", "Relation of word pairs; empty for measures without one."),
        text("weights", "Measure by the weights alone, a column of circuits or circuit_relations."),
        text("text", "Its counterpart on text, a column of the same table."),
        correlation("rho", "Spearman's rank correlation of both over heads; missing where one is constant.", ""),
        *ends("", "rho, by resampling heads", decimal, CORRELATIONS),
        whole("heads", "Number of heads."),
    ),
)

CIRCUIT_TABLES: Final[Mapping[str, Table]] = {
    "circuits": CIRCUITS,
    "circuit_kernels": KERNELS,
    "circuit_relations": RELATIONS,
    "circuit_links": LINKS,
}
