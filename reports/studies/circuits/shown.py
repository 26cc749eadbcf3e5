"""The tables of the section on weights alone, as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from reports.formats import MISSING, count, decimal, percent, signed, signed_whole
from reports.tables.cells import Cell, TextColumn
from reports.tables.text_table import TextTable

LINKS: Final = (
    TextColumn("Weights alone", lambda link: link.weights, "row"),
    TextColumn("On text", lambda link: link.text, "text"),
    TextColumn("Rho", lambda link: decimal(link.rho), look="strong"),
    TextColumn("Interval", lambda link: link.interval or MISSING, "text", "ci"),
    TextColumn("Heads", lambda link: count(link.heads)),
)

RELATIONS: Final = (
    TextColumn("Relation", lambda row: row.name, "row"),
    TextColumn("Pairs", lambda row: count(row.pairs)),
    TextColumn("Head", lambda row: row.head, "text", "head"),
    TextColumn("Static", lambda row: percent(row.static), look="strong"),
    TextColumn("Its dynamic", lambda row: percent(row.dynamic)),
    TextColumn("Lowered most by", lambda row: row.lowering, "text", "head"),
    TextColumn("Lowered", lambda row: percent(row.lowered)),
    TextColumn("Chance", lambda row: decimal(100 * row.chance)),
    TextColumn("Rho of static and dynamic", lambda row: Cell(decimal(row.link.rho), row.link.interval), only="page"),
    TextColumn("Rho of static and dynamic", lambda row: decimal(row.link.rho), only="text"),
    TextColumn("Interval", lambda row: row.link.interval or MISSING, "text", only="text"),
)


def _share(title: str, measure: str, tip: str) -> TextColumn:
    return _number(title, measure, tip, percent)


def _number(title: str, measure: str, tip: str, write: Any = decimal) -> TextColumn:
    return TextColumn(title, lambda row: Cell(write(row[measure]), sort=float(row[measure])), tip=tip)


def _offset(title: str, measure: str, tip: str) -> TextColumn:
    return TextColumn(title, lambda row: Cell(signed_whole(row[measure]), sort=int(row[measure])), tip=tip)


HEADS: Final = (
    _offset("Offset", "kernel_offset", "that places alone prefer"),
    _share("Kernel", "kernel_attention", "attention that places alone give it, percent"),
    _share("On text", "text_at_kernel", "attention to that offset on text, percent"),
    _offset("Most on text", "text_offset", "offset attended to most on text"),
    _share("Same word", "same_word", "share of other words that score below the word itself, percent; 50 is chance"),
    _number(
        "Repeats", "text_same_word", "share of attention to repeats beyond an even spread, percentage points", signed
    ),
    _share("Related", "related_words", "as same word, for the nearest words"),
    _number("Near", "text_related", "cosine of attended pieces less that of all"),
    _number("Copying", "copying", "sum of eigenvalues over sum of moduli"),
    _share("Positive", "positive_eigenvalues", "eigenvalues with a positive real part, percent"),
    _share("Own word", "own_word", "share of other words raised less than the word itself, percent; 50 is chance"),
    _number("Written", "text_copying", "correlation of what is written with what is attended to"),
    _number("Write norm", "write_norm", "mean length of what the head writes", decimal),
)


def heads_table(rows: Sequence[Mapping[str, Any]], reach: int) -> TextTable:
    """Return the table of all heads; `reach` is the largest offset that is drawn."""
    ends = Markup('<span class="sr">Kernel, drawn</span><span aria-hidden="true" class="ends">')
    ends += Markup("<i>−{0}</i><i>+{0}</i></span>").format(reach)
    named = TextColumn("Head", _name, "text", "head")
    return TextTable.of("All heads", (named, TextColumn(ends, _drawn, "spark", only="page", fixed=True), *HEADS), rows)


def _name(row: Mapping[str, Any]) -> Cell:
    return Cell(row["name"], sort=10000 * row["layer"] + row["head"])


def _drawn(row: Mapping[str, Any]) -> Cell:
    drawing = Markup(
        '<svg viewBox="0 0 108 16" width="80" height="12" aria-hidden="true"><path class="axis" d="M54 1v14"/>'
        '<polyline class="range" fill="none" points="{attention}"/>'
        '<polyline class="base" fill="none" points="{text_attention}"/></svg>'
    )
    return Cell("", page=drawing.format(**row["drawn"]))
