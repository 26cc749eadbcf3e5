"""The tables of the page of the sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from reports.formats import MISSING, count, decimal, interval, percent, signed, signed_interval
from reports.sandbox import tables
from reports.sandbox.record import FalseFinds, Rate, rate_names
from reports.tables.cells import Cell, TextColumn
from reports.tables.marks import verdict_class
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from reports.sandbox.claims import Promise
    from reports.sandbox.shortcut import ShortcutCheck


def rate_cell(rate: Rate | None) -> Cell:
    """Return a rate in percent, its interval beside it."""
    return Cell(MISSING) if rate is None or not rate.known else Cell(percent(rate.value), interval(rate.low, rate.high))


def _kept(claim: Promise) -> Cell:
    text = "kept" if claim.kept else "missed"
    return Cell(text, css=verdict_class(text), markdown=text if claim.kept else f"**{text}**")


CLAIMS: Final = (
    TextColumn("Claim", lambda claim: claim.name, "row", "wrapping"),
    TextColumn("Goal", lambda claim: claim.goal, "text"),
    TextColumn("Kept", _kept, "text"),
    TextColumn("Measured", lambda claim: claim.measured, "text"),
)

POWER: Final = tables.POWER.text_columns(
    tables.POWER["role"].shown(kind="row"),
    "grade",
    tables.POWER["true_margin"].shown("True lead", unit=False),
    *("documents", "items", "runs"),
    tables.POWER["graded"].shown("Found", unit=False, write=lambda row: rate_cell(row.graded)),
)


def needed_words(needed: tuple[Sequence[float], Sequence[tuple[float, Sequence[tuple[str, str]]]]]) -> TextTable:
    """Return how many scored words a margin takes, for every power, and which role needs most."""
    powers, margins = needed
    columns = [TextColumn("Margin, points", lambda row: percent(row[0]), "row num")]
    for place, power in enumerate(powers):
        columns += [
            TextColumn(f"{percent(power)} % of runs", partial(_needed, place, 0)),
            TextColumn("needs most", partial(_needed, place, 1), "text", "muted"),
        ]
    return TextTable.of("Scored words needed", columns, margins)


def _needed(place: int, part: int, row: tuple[float, Sequence[tuple[str, str]]]) -> str:
    return row[1][place][part]


def false_finds(rows: Sequence[FalseFinds], title: str, first: str = "") -> TextTable:
    """Return the rates of false finds; `first` is the title of a column that says where, "" for none."""
    rates = (TextColumn(name, partial(_rate, name)) for name in rate_names(rows))
    columns = (
        *([TextColumn(first, lambda row: row.where, "row")] if first else []),
        *tables.FALSE.text_columns("documents", "runs"),
        *rates,
        *([TextColumn("margins held", lambda row: rate_cell(row.coverage))] if _covered(rows) else []),
    )
    return TextTable.of(title, columns, rows)


def _covered(rows: Sequence[FalseFinds]) -> bool:
    return any(row.coverage.known for row in rows)


def _rate(name: str, row: FalseFinds) -> Cell:
    return rate_cell(row.rates.get(name))


COVERAGE: Final = (
    tables.COVERAGE["quantity"].shown("Interval of", "row"),
    tables.COVERAGE["documents"].shown(),
    TextColumn("Cells", lambda row: len(row.cells)),
    tables.POWER["runs"].shown(),
    TextColumn("All cells", lambda row: rate_cell(row.pooled)),
    TextColumn("Lowest cell", lambda row: rate_cell(row.lowest[1])),
    TextColumn(
        "which",
        lambda row: f"{row.lowest[0].role}, grade {row.lowest[0].grade}, {signed(row.lowest[0].true_margin)}",
        "text",
        "muted",
    ),
    TextColumn("Highest cell", lambda row: rate_cell(row.highest[1])),
)


def _difference(row: ShortcutCheck) -> Cell:
    value, low, high = row.difference
    return Cell(signed(value), signed_interval(low, high))


COMPARED: Final = (
    tables.WHOLE["role"].shown(kind="row"),
    TextColumn("Margin", lambda row: percent(row.margin), tip=tables.WHOLE.meaning("margin")),
    tables.WHOLE["documents"].shown(),
    tables.WHOLE["runs"].shown("Runs: whole", plain="whole runs"),
    TextColumn("simulated", lambda row: count(row.simulated_runs)),
    tables.WHOLE["graded"].shown("With a grade: whole", write=lambda row: rate_cell(row.graded)),
    TextColumn("simulated", lambda row: rate_cell(row.simulated)),
    TextColumn("p", lambda row: decimal(row.p_share)),
    TextColumn("Mean accuracy: whole", lambda row: percent(row.mean)),
    TextColumn("simulated", lambda row: percent(row.simulated_mean)),
    TextColumn("Difference", _difference),
    TextColumn("p", lambda row: decimal(row.p_mean)),
    TextColumn("Standard deviation: whole", lambda row: percent(row.sd)),
    TextColumn("simulated", lambda row: percent(row.simulated_sd)),
    TextColumn("p", lambda row: decimal(row.p_sd)),
)

WEIGHTS: Final = tables.WEIGHTS.text_columns(
    tables.WEIGHTS["place"].shown(kind="row"),
    tables.WEIGHTS["planted"].shown(css="head"),
    tables.WEIGHTS["selected"].shown(css="head"),
    tables.WEIGHTS["accuracy"].shown(unit=False),
    tables.WEIGHTS["graded"].shown("With a grade"),
)

NULL_RUNS: Final = (
    TextColumn("Corpus", lambda row: row[0], "row"),
    TextColumn("Weights", lambda row: row[1], "text"),
    TextColumn("Documents", lambda row: count(row[2])),
    TextColumn("Runs", lambda row: count(row[3])),
    TextColumn("Runs with a graded head", lambda row: count(row[4])),
    TextColumn("Graded heads", lambda row: count(row[5])),
    TextColumn("Which", lambda row: "; ".join(row[6]) or "none", "text", "wrapping"),
)

TABLES: Final[Mapping[str, tuple[str, Sequence[TextColumn]]]] = {
    "claims": ("Claims", CLAIMS),
    "power": ("Power", POWER),
    "coverage": ("Coverage", COVERAGE),
    "compared": ("Whole and simulated runs", COMPARED),
    "weights": ("Heads planted by weights", WEIGHTS),
    "null_runs": ("Runs on models without knowledge", NULL_RUNS),
}
"Attribute of a page -> title and columns of its table."


def shown(page: Any, name: str) -> TextTable:
    """Return the table of one of the lists of a page."""
    title, columns = TABLES[name]
    return TextTable.of(title, columns, getattr(page, name))
