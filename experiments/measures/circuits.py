"""What the weights alone say of heads: places, words and relations, beside what the heads do on text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
from markupsafe import Markup
from pydantic import Field

from experiments.run.measure import Frames, Measure, Read
from reports.blocks.block import Block, Heading, Paragraph, Points, TableBlock, Terms
from reports.formats import MISSING, count, decimal, names, percent, signed_whole
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.cells import Cell, TextColumn, head_cell
from reports.tables.column import Column
from reports.tables.shared_columns import (
    CORRELATIONS,
    NOT_NEGATIVE,
    ONE_HEAD,
    SPLITS,
    correlation,
    difference,
    ends,
    fraction,
    number,
    run_table,
    text,
    whole,
)
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes.weights.relations import Pairs


def _offset(name: str, meaning: str) -> Column:
    return Column(name, "int64", meaning, signed_whole)


CIRCUITS: Final = run_table(
    "One row for each head: its query-key and value-output circuits by the weights alone, and the same on text of the "
    "report split.",
    ("layer", "head"),
    (
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

KERNELS: Final = run_table(
    "One row for each head and offset: attention by positions alone, and on text.",
    ("layer", "head", "offset"),
    (
        *ONE_HEAD,
        _offset("offset", "Distance in subwords from query to key; left is < 0."),
        number("score", "Query-key product of the position embeddings at that offset, scaled as attention is."),
        fraction("attention", "Attention that a softmax over positions alone gives to the offset."),
        fraction("text_attention", "Mean attention to the offset on text."),
    ),
)

RELATIONS: Final = run_table(
    "One row for each relation between words and head.",
    ("relation", "layer", "head"),
    (
        text("relation", "Relation of word pairs, such as singular and plural."),
        *ONE_HEAD,
        whole("pairs", "Number of word pairs."),
        fraction("static", "Share of pairs whose target is among the ten words that the source raises most."),
        fraction("suppressed", "Share of pairs whose target is among the ten words that the source lowers most."),
        fraction("dynamic", "As static, for the head's value of the source in two neutral sentences."),
        fraction("chance", "The share that a random list of ten words would reach."),
    ),
)

LINKS: Final = run_table(
    "One row for each measure by the weights and its counterpart on text, over all heads.",
    ("relation", "weights", "text"),
    (
        text("relation", "Relation of word pairs; empty for measures without one."),
        text("weights", "Measure by the weights alone, a column of circuits or circuit_relations."),
        text("text", "Its counterpart on text, a column of the same table."),
        correlation("rho", "Spearman's rank correlation of both over heads; missing where one is constant.", ""),
        *ends("", "rho, by resampling heads", decimal, CORRELATIONS),
        whole("heads", "Number of heads."),
    ),
)

TERMS: Final = {
    "circuits from weights": "A layer’s input is split into what it has of a word (its mean over places) and of a "
    "place (its mean over words), for words of the vocabulary alone. Of deeper layers this is an approximation: what "
    "the layers below add is left out, and the embedding goes through their LayerNorms only. What a head writes is "
    "compared with the word embeddings, with the LayerNorms above it folded in (scale and centring); the transform of "
    "a masked-LM head is left out, and so are all biases of values.",
    "kernel": "The offset, in pieces, that a head prefers by its query-key product of places alone, and the share of "
    "attention that softmax over the places would give it; uniform attention over 32 places gives 3 %. On text: the "
    "attention from pieces of words to the piece at that offset.",
    "same word, related": "By the query-key product of words alone: the share of other words of the sample that score "
    "below the word itself, and below its five nearest words by cosine; 50 is chance. On text: the share of attention "
    "that goes to repeats of the same piece beyond uniform attention, and how much nearer (cosine) the attended pieces "
    "are than the other pieces of the sentence, repeats aside.",
    "copying": "Of the value-output product as a map from words to words: the sum of its eigenvalues over the sum of "
    "their moduli, from −1 to 1; 1 if every word raises itself or words like it (Elhage et al. 2021). Positive: the "
    "share of eigenvalues with a positive real part. Own word: the share of other words that a word raises less than "
    "itself; 50 is chance. On text: the correlation of what the head writes with what would raise the logits of the "
    "pieces it attends to.",
    "relations": "Pairs such as singular and plural (in the manner of MAPS, Elhelo and Geva 2025). Static: the share "
    "of pairs whose target is among the ten words that a head attending to the source alone raises most, by its "
    "weights. Lowered: the same for the ten that it lowers most. Dynamic: as static, for the head’s value of the "
    "source in two neutral sentences. The mean over sources is subtracted first.",
    "write norm": "Mean length of the vector that the whole head writes at a piece of a word, behind W_O and without "
    "its bias (Kobayashi et al. 2020); in the units of its layer, so compare heads of one layer.",
    "rho": "Spearman’s rank correlation over all heads, with a 95 % interval by resampling heads. It shows whether the "
    "weights of this model predict which heads do it more; heads share layers, so it does not extend to other models.",
}
"Term -> definition, for the section on weights alone."

NAMES: Final[Mapping[str, str]] = {
    "kernel_attention": "attention to the preferred offset, by position embeddings",
    "same_word": "query-key rank of the same word",
    "related_words": "query-key rank of related words",
    "copying": "copying score",
    "own_word": "rank of a word’s effect on its own logit",
    "static": "static score",
    "text_at_kernel": "attention to that offset",
    "text_same_word": "attention to repeats of a piece",
    "text_related": "cosine with attended pieces",
    "text_copying": "correlation of output and attended logits",
    "dynamic": "dynamic score",
}
"Measure -> its name on a page."

STRONG: Final = 0.5
"A kernel that gives its offset so much attention, or a copying score as high, is counted as strong."

MOST_NAMED: Final = 3
"Heads that a sentence names."


class CircuitsMeasure(Measure):
    """What the weights alone say of heads, compared with what they do on text; for models of the BERT family."""

    name = "circuits"
    title = "Circuits from the weights alone"
    place = 60
    switch = "enabled"
    tables = {"circuits": CIRCUITS, "circuit_kernels": KERNELS, "circuit_relations": RELATIONS, "circuit_links": LINKS}
    methods = (
        Method(
            "The query-key and output-value circuits of heads were computed from the weights for {words} words of "
            "the vocabulary (Elhage et al. 2021) and compared with {sentences} sentences of the report split.",
            title="Weights alone",
        ),
    )

    enabled: bool = False
    "Whether weights are asked at all."
    words: int = Field(default=500, ge=20)
    "Words of the vocabulary between which heads are asked, evenly spaced in its order."
    sentences: int = Field(default=500, ge=1)
    "Sentences of the report split that are read to compare."
    relations: Path | None = None
    """A file of word pairs in the place of those that headscope brings, relative to the config: lines of a relation, a
    source and a target, divided by tabs."""

    def wanted(self, run: RunContext) -> bool:
        """Return whether it is switched on.

        Raises CircuitError for an architecture without such circuits, and for relations that cannot be read.
        """
        from mha.models.circuits import encoder_of

        return self.enabled and encoder_of(run.model) is not None and bool(self._pairs)

    @property
    def _pairs(self) -> Pairs:
        from probes.weights.relations import RELATIONS, read_relations

        return RELATIONS if self.relations is None else read_relations(self.relations)

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return what weights say beside what heads do; note what was read and what was left out."""
        from probes.corpora.corpus import MemoryTexts
        from probes.scoring.aligned import Aligned, sample_texts
        from probes.weights.circuits import CircuitSettings, read_circuits

        config = run.config
        chosen = MemoryTexts(sample_texts(run.texts("sentence")[1], self.sentences))
        aligned = Aligned.of(run.model, chosen)
        settings = CircuitSettings(self.words, replicates=config.scoring.replicates, seed=config.seed)
        step = run.counter("circuits from the weights, on text", len(chosen))
        found = read_circuits(run.model, aligned, self._pairs, settings, run.settings, step)
        run.fact(self.name, {**found.facts, "sentences": len(aligned.kept)})
        for dropped in (aligned.dropped, found.dropped):
            run.note_dropped(SPLITS[1], "sentence", "weights alone", dropped)
        return found.tables

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield what the weights say beside text: how far they agree, relations between words, and all heads."""
        heads, kernels, relations, links = (run.tables.get(name, pd.DataFrame()) for name in cls.tables)
        measures = [row for row in links.to_dict("records") if not row["relation"]]
        yield Points([*_read(run.facts(cls.name)), *_found(heads), *_foretold(measures)])
        yield Terms(TERMS.items())
        yield TableBlock(_links(measures))
        if len(relations):
            yield TableBlock(_relations(relations, links))
            yield Paragraph(
                "The head shown is the best of all on these pairs, so its static score is overestimated; its dynamic "
                "score was not selected for, but is of the same words.",
                note=True,
            )
        yield Heading("All heads")
        yield TableBlock(_heads(heads, kernels), caption=False, sorts=True, filter="circuits")


def _named(measure: str) -> str:
    return NAMES.get(measure, measure)


def _links(rows: Sequence[Mapping[Any, Any]]) -> TextTable:
    columns = LINKS.text_columns(
        LINKS["weights"].shown("Weights alone", "row", write=lambda row: _named(row["weights"])),
        LINKS["text"].shown("On text", write=lambda row: _named(row["text"])),
        LINKS["rho"].shown(css="strong"),
        LINKS["rho"].shown_interval("Interval"),
        "heads",
    )
    return TextTable.of("Weights alone against attention on text", columns, rows)


def _relations(relations: pd.DataFrame, links: pd.DataFrame) -> TextTable:
    """Return of each relation the head that maps its pairs best, and the one that lowers their targets most."""
    rhos = links.set_index("relation")[["rho", "low", "high"]]
    rows = []
    for relation, of_heads in relations.groupby("relation", sort=False):
        best, least = (of_heads.iloc[int(of_heads[score].argmax())] for score in ("static", "suppressed"))
        lowered = {"lowering": least["name"], "suppressed": least["suppressed"]}
        rows.append({**best, **lowered, **rhos.loc[str(relation)]})
    columns = (
        RELATIONS["relation"].shown(kind="row"),
        RELATIONS["pairs"].shown(),
        RELATIONS["name"].shown("Head", css="head"),
        RELATIONS["static"].shown(unit=False, css="strong"),
        RELATIONS["dynamic"].shown("Its dynamic"),
        TextColumn("Lowered most by", lambda row: row["lowering"], "text", "head"),
        RELATIONS["suppressed"].shown("Lowered"),
        RELATIONS["chance"].shown(write=lambda row: decimal(100 * row["chance"]), unit=False),
        *LINKS["rho"].shown_with_interval("Rho of static and dynamic", missing=MISSING),
    )
    title = "Relations between words: the head that maps most of these pairs (selected on them), in percent of pairs"
    return TextTable.of(title, columns, rows)


def _heads(heads: pd.DataFrame, kernels: pd.DataFrame) -> TextTable:
    """Return the table of all heads, with their kernels drawn."""
    reach = int(kernels["offset"].max()) if len(kernels) else 0
    drawn = {str(name): _drawn(rows.sort_values("offset")) for name, rows in kernels.groupby("name")}
    ends = Markup('<span class="sr">Kernel, drawn</span><span aria-hidden="true" class="ends">')
    ends += Markup("<i>−{0}</i><i>+{0}</i></span>").format(reach)
    tip = "Attention to each offset, from 0 to 100 %: by positions alone (blue), and on text (orange)."
    columns = (
        CIRCUITS["name"].shown("Head", css="head", write=lambda row: head_cell(row["name"])),
        TextColumn(ends, lambda row: drawn[row["name"]], "spark", tip=tip, only="page", fixed=True),
        CIRCUITS["kernel_offset"].shown("Offset"),
        CIRCUITS["kernel_attention"].shown("Kernel"),
        CIRCUITS["text_at_kernel"].shown("On text"),
        CIRCUITS["text_offset"].shown("Most on text"),
        CIRCUITS["same_word"].shown(unit=False),
        CIRCUITS["text_same_word"].shown("Repeats"),
        CIRCUITS["related_words"].shown("Related"),
        CIRCUITS["text_related"].shown("Near"),
        CIRCUITS["copying"].shown(),
        CIRCUITS["positive_eigenvalues"].shown("Positive"),
        CIRCUITS["own_word"].shown(unit=False),
        CIRCUITS["text_copying"].shown("Written"),
        CIRCUITS["write_norm"].shown(),
    )
    return TextTable.of("All heads", columns, heads.to_dict("records"))


def _drawn(kernel: pd.DataFrame) -> Cell:
    """Return the kernel of a head and its attention on text as lines, in a drawing of 108 by 16."""
    lines = []
    for column, css in (("attention", "range"), ("text_attention", "base")):
        values, step = kernel[column].fillna(0).tolist(), 100 / max(len(kernel) - 1, 1)
        points = " ".join(f"{4 + step * at:.0f},{15 - 14 * min(value, 1):.1f}" for at, value in enumerate(values))
        lines.append(Markup('<polyline class="{}" fill="none" points="{}"/>').format(css, points))
    drawing = '<svg viewBox="0 0 108 16" width="80" height="12" aria-hidden="true"><path class="axis" d="M54 1v14"/>'
    return Cell("", page=Markup(drawing) + Markup("").join(lines) + Markup("</svg>"))


def _read(facts: Mapping[str, Any]) -> Iterator[str]:
    """Say what was read."""
    if facts:
        yield (
            f"Without text: {count(facts['words'])} of the {count(facts['vocabulary'])} whole words of the vocabulary "
            f"and {count(facts['places'])} places. Text for comparison: {count(facts['sentences'])} sentences of the "
            f"report split, {count(facts['pieces'])} pieces."
        )


def _found(heads: pd.DataFrame) -> Iterator[str]:
    """Count the heads with strong kernels and high copying scores, and say how often kernels are right."""
    strong = heads[heads["kernel_attention"] >= STRONG].sort_values("kernel_attention", ascending=False, kind="stable")
    same = int((strong["kernel_offset"] == strong["text_offset"]).sum())
    copies, turns = int((heads["copying"] >= STRONG).sum()), int((heads["copying"] <= -STRONG).sum())
    told = [
        f"{row['name']} (offset {signed_whole(row['kernel_offset'])}: {percent(row['kernel_attention'])} %, on text "
        f"{percent(row['text_at_kernel'])} %)"
        for row in strong.to_dict("records")
    ]
    named = f": {names(told, MOST_NAMED)}" if told else ""
    yield (
        f"From position embeddings alone, {len(strong)} of {len(heads)} heads give half of the attention or more to "
        f"one offset{named}. In {same} of them it is also the most attended offset on text."
    )
    yield (
        f"Heads with a copying score of {decimal(STRONG)} or more: {copies}; of {decimal(-STRONG)} or less, which "
        f"lower what they attend to: {turns}."
    )


def _foretold(links: Sequence[Mapping[Any, Any]]) -> Iterator[str]:
    """Name the measures whose correlation with what heads do is surely above 0, and those where it is below."""
    if links:
        above, below = ([one for one in links if one["low"] > 0], [one for one in links if one["high"] < 0])
        under = f" In {len(below)} it lies below 0{_compared(below)}." if below else ""
        yield (
            f"Of {len(links)} comparisons of weights alone with text {len(above)} have a rank correlation whose "
            f"interval lies above 0{_compared(above)}.{under}"
        )


def _compared(links: Sequence[Mapping[Any, Any]]) -> str:
    pairs = (f"{_named(one['weights'])} with {_named(one['text'])} ({decimal(one['rho'])})" for one in links)
    return f": {'; '.join(pairs)}" if links else ""
