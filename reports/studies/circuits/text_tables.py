"""The tables of the section on weights alone, as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from reports.formats import MISSING, decimal
from reports.studies.circuits.tables import CIRCUITS, LINKS, RELATIONS
from reports.tables.cells import Cell, TextColumn, head_cell
from reports.tables.text_table import TextTable

FORETOLD: Final = LINKS.text_columns(
    LINKS["weights"].shown("Weights alone", "row"),
    LINKS["text"].shown("On text"),
    LINKS["rho"].shown(css="strong"),
    LINKS["rho"].shown_interval("Interval"),
    "heads",
)

MAPPED: Final = (
    RELATIONS["relation"].shown(kind="row"),
    RELATIONS["pairs"].shown(),
    TextColumn("Head", lambda row: row.head, "text", "head"),
    RELATIONS["static"].shown(unit=False, css="strong"),
    RELATIONS["dynamic"].shown("Its dynamic"),
    TextColumn("Lowered most by", lambda row: row.lowering, "text", "head"),
    RELATIONS["suppressed"].shown("Lowered"),
    RELATIONS["chance"].shown(write=lambda row: decimal(100 * row.chance), unit=False),
    *LINKS["rho"].shown_with_interval("Rho of static and dynamic", within="link", missing=MISSING),
)

HEADS: Final = (
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


def heads_table(rows: Sequence[Mapping[str, Any]], reach: int) -> TextTable:
    """Return the table of all heads; `reach` is the largest offset that is drawn."""
    ends = Markup('<span class="sr">Kernel, drawn</span><span aria-hidden="true" class="ends">')
    ends += Markup("<i>−{0}</i><i>+{0}</i></span>").format(reach)
    named = CIRCUITS["name"].shown("Head", css="head", write=lambda row: head_cell(row["name"]))
    return TextTable.of("All heads", (named, TextColumn(ends, _drawn, "spark", only="page", fixed=True), *HEADS), rows)


def _drawn(row: Mapping[str, Any]) -> Cell:
    drawing = Markup(
        '<svg viewBox="0 0 108 16" width="80" height="12" aria-hidden="true"><path class="axis" d="M54 1v14"/>'
        '<polyline class="range" fill="none" points="{attention}"/>'
        '<polyline class="base" fill="none" points="{text_attention}"/></svg>'
    )
    return Cell("", page=drawing.format(**row["drawn"]))
