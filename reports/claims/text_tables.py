"""The tables of the page of claims: statements with verdicts, and all numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reports.claims.record import ClaimRecord, Number, RecordedMeasure, RecordedStatement
from reports.claims.record import ConditionMean as Mean
from reports.claims.tables import MEANS, MEASURES, STATEMENTS
from reports.formats import count
from reports.tables.cells import Cell, TextColumn
from reports.tables.marks import verdict_cell
from reports.tables.text_table import TextTable


def number_cell(number: Number) -> Cell:
    """Return a number with its unit, its interval beside it."""
    return Cell(f"{number.shown} {number.unit}", number.interval)


Row = tuple[ClaimRecord, RecordedStatement, int]
"A claim, one of its statements, and how many rows the claim has; 0 but for the first."


def _once(row: Row, name: str, link: str = "") -> Cell:
    """Return the cell of something that is said of the claim once."""
    claim, _, span = row
    return Cell(str(getattr(claim, name)) if span else "", link=link, span=span)


SUMMARY: Final = (
    TextColumn("Claim", lambda row: _once(row, "title", f"#{row[0].name}"), "row", "wrapping"),
    STATEMENTS["text"].shown(write=lambda row: row[1].text, css="wrapping"),
    STATEMENTS["verdict"].shown(write=lambda row: verdict_cell(row[1].verdict, bold=True)),
    STATEMENTS["value"].shown("Number", write=lambda row: number_cell(row[1].estimate), plain="number, 95 % interval"),
    TextColumn("Config", lambda row: _once(row, "config_file"), "text"),
)


def summary(claims: Sequence[ClaimRecord]) -> TextTable:
    """Return every statement that is counted with its verdict, by claim."""
    rows = (
        (claim, statement, 0 if place else len(claim.counted))
        for claim in claims
        for place, statement in enumerate(claim.counted)
    )
    return TextTable.of("Verdicts", SUMMARY, rows)


def _number_said(row: RecordedStatement) -> str:
    return row.number + (f"; {count(row.estimate.n)} repeats" if row.estimate.n > 1 else "")


OF_CLAIM: Final = (
    STATEMENTS["text"].shown(kind="row", css="wrapping"),
    STATEMENTS["verdict"].shown(write=lambda row: verdict_cell(row.verdict, bold=True)),
    STATEMENTS["value"].shown("Number", write=lambda row: number_cell(row.estimate), plain="number, 95 % interval"),
    STATEMENTS["number"].shown("What the number is", write=_number_said, css="wrapping"),
    STATEMENTS["rule"].shown(css="wrapping muted"),
)

UNCOUNTED: Final = (
    OF_CLAIM[0],
    STATEMENTS["kind"].shown(),
    *OF_CLAIM[2:4],
    STATEMENTS["why"].shown("Why it is not counted", css="wrapping"),
)


def uncounted(claims: Sequence[ClaimRecord]) -> TextTable:
    """Return every identity and measurement, by claim."""
    rows = (statement for claim in claims for statement in claim.uncounted)
    return TextTable.of("Identities and measurements, not counted", UNCOUNTED, rows)


def _where(row: tuple[RecordedMeasure, Mean]) -> str:
    measure, mean = row
    return "" if mean.at is None else f"{measure.axis} {mean.at:g}"


def _repeats(row: tuple[RecordedMeasure, Mean]) -> str:
    measure, mean = row
    return f"{count(mean.number.n)} {measure.repeat}{'s' * (mean.number.n != 1)}"


NUMBERS: Final = (
    MEASURES["name"].shown("Measure", "row", write=lambda row: row[0].name),
    MEANS["condition"].shown(write=lambda row: row[1].condition),
    MEANS["at"].shown("Where", "text", write=_where),
    MEANS["value"].shown("Mean, 95 % interval", write=lambda row: number_cell(row[1].number)),
    MEANS["n"].shown("Repeats", write=_repeats),
)


def statements(claim: ClaimRecord) -> TextTable:
    """Return the statements of a claim that are counted, each with its number and rule."""
    return TextTable.of(f"Statements: {claim.title}", OF_CLAIM, claim.counted)


def numbers(claim: ClaimRecord) -> TextTable:
    """Return all means of a claim."""
    rows = ((measure, cell) for measure in claim.measures for cell in measure.cells)
    return TextTable.of(f"All numbers: {claim.title}", NUMBERS, rows)
