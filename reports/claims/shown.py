"""The tables of the page of claims: statements with verdicts, and all numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from reports.formats import count
from reports.tables.cells import Cell, TextColumn
from reports.tables.marks import verdict_cell
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from reports.claims.record import ClaimRecord, Number, RecordedMeasure, RecordedStatement
    from reports.claims.record import ConditionMean as Mean


def number_cell(found: Number) -> Cell:
    """Return a number with its unit, its interval beside it."""
    return Cell(f"{found.shown} {found.unit}", found.interval)


Row = tuple["ClaimRecord", "RecordedStatement", int]
"A claim, one of its statements, and how many rows the claim has; 0 but for the first."


def _rows(claims: Sequence[ClaimRecord]) -> Iterator[Row]:
    for claim in claims:
        for place, statement in enumerate(claim.statements):
            yield claim, statement, 0 if place else len(claim.statements)


def _once(row: Row, name: str, link: str = "") -> Cell:
    claim, _, span = row
    return Cell(str(getattr(claim, name)) if span else "", link=link, span=span)


SUMMARY: Final = (
    TextColumn("Claim", lambda row: _once(row, "title", f"#{row[0].name}"), "row"),
    TextColumn("Statement", lambda row: row[1].text, "text"),
    TextColumn("Verdict", lambda row: verdict_cell(row[1].verdict, bold=True), "text"),
    TextColumn("Number", lambda row: number_cell(row[1].estimate), plain="number, 95 % interval"),
    TextColumn("Config", lambda row: _once(row, "config_file"), "text"),
)


def summary(claims: Sequence[ClaimRecord]) -> TextTable:
    """Return every statement with its verdict, by claim."""
    return TextTable.of("Verdicts", SUMMARY, _rows(claims))


def _number_said(row: RecordedStatement) -> str:
    return row.number + (f"; {count(row.estimate.n)} repeats" if row.estimate.n > 1 else "")


STATEMENTS: Final = (
    TextColumn("Statement", lambda row: row.text, "row"),
    TextColumn("Verdict", lambda row: verdict_cell(row.verdict), "text"),
    TextColumn("Number", lambda row: number_cell(row.estimate)),
    TextColumn("What the number is", _number_said, "text"),
    TextColumn("Rule", lambda row: row.rule, "text", "rule"),
)


def _where(row: tuple[RecordedMeasure, Mean]) -> str:
    return "" if row[1].at is None else f"{row[0].axis} {row[1].at:g}"


def _repeats(row: tuple[RecordedMeasure, Mean]) -> str:
    n = row[1].number.n
    return f"{count(n)} {row[0].repeat}{'s' * (n != 1)}"


NUMBERS: Final = (
    TextColumn("Measure", lambda row: row[0].name, "row"),
    TextColumn("Condition", lambda row: row[1].condition, "text"),
    TextColumn("Where", _where, "text"),
    TextColumn("Mean, 95 % interval", lambda row: number_cell(row[1].number)),
    TextColumn("Repeats", _repeats, only="page"),
    TextColumn("Repeats", lambda row: count(row[1].number.n), only="text"),
)


def statements(claim: ClaimRecord) -> TextTable:
    """Return the statements of a claim, each with its number and rule."""
    return TextTable.of(f"Statements: {claim.title}", STATEMENTS, claim.statements)


def numbers(claim: ClaimRecord) -> TextTable:
    """Return all means of a claim."""
    rows = ((measure, cell) for measure in claim.measures for cell in measure.cells)
    return TextTable.of(f"All numbers: {claim.title}", NUMBERS, rows)
