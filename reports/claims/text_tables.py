"""The tables of the page of claims: statements with verdicts, and all numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

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


class StatementRow(NamedTuple):
    """A claim, one of its statements, and how many rows the claim has; 0 but for the first."""

    claim: ClaimRecord
    statement: RecordedStatement
    span: int

    def once(self, name: str, link: str = "") -> Cell:
        """Return the cell of something that is told of the claim once."""
        return Cell(str(getattr(self.claim, name)) if self.span else "", link=link, span=self.span)


def _rows(claims: Sequence[ClaimRecord]) -> Iterator[StatementRow]:
    for claim in claims:
        for place, statement in enumerate(claim.counted):
            yield StatementRow(claim, statement, 0 if place else len(claim.counted))


SUMMARY: Final = (
    TextColumn("Claim", lambda row: row.once("title", f"#{row.claim.name}"), "row"),
    STATEMENTS["text"].shown(within="statement"),
    STATEMENTS["verdict"].shown(write=lambda row: verdict_cell(row.statement.verdict, bold=True)),
    STATEMENTS["value"].shown(
        "Number", write=lambda row: number_cell(row.statement.estimate), plain="number, 95 % interval"
    ),
    TextColumn("Config", lambda row: row.once("config_file"), "text"),
)


def summary(claims: Sequence[ClaimRecord]) -> TextTable:
    """Return every statement that is counted with its verdict, by claim."""
    return TextTable.of("Verdicts", SUMMARY, _rows(claims))


UNCOUNTED: Final = (
    STATEMENTS["text"].shown(kind="row"),
    STATEMENTS["kind"].shown(),
    STATEMENTS["value"].shown("Number", write=lambda row: number_cell(row.estimate), plain="number, 95 % interval"),
    STATEMENTS["why"].shown("Why it is not counted"),
)


def uncounted(claims: Sequence[ClaimRecord]) -> TextTable:
    """Return every identity and measurement, by claim."""
    rows = (statement for claim in claims for statement in claim.uncounted)
    return TextTable.of("Identities and measurements, not counted", UNCOUNTED, rows)


def _number_said(row: RecordedStatement) -> str:
    return row.number + (f"; {count(row.estimate.n)} repeats" if row.estimate.n > 1 else "")


OF_CLAIM: Final = (
    STATEMENTS["text"].shown(kind="row"),
    STATEMENTS["verdict"].shown(write=lambda row: verdict_cell(row.verdict)),
    STATEMENTS["value"].shown("Number", write=lambda row: number_cell(row.estimate)),
    STATEMENTS["number"].shown("What the number is", write=_number_said),
    STATEMENTS["rule"].shown(css="rule"),
)


class MeanRow(NamedTuple):
    """A measure, and its mean under one condition."""

    measure: RecordedMeasure
    mean: Mean

    @property
    def where(self) -> str:
        """The place on the axis."""
        return "" if self.mean.at is None else f"{self.measure.axis} {self.mean.at:g}"

    @property
    def repeats(self) -> str:
        """How many seeds or rounds it is a mean of."""
        n = self.mean.number.n
        return f"{count(n)} {self.measure.repeat}{'s' * (n != 1)}"


NUMBERS: Final = (
    MEASURES["name"].shown("Measure", "row", within="measure"),
    MEANS["condition"].shown(within="mean"),
    MEANS["at"].shown("Where", "text", write=lambda row: row.where),
    MEANS["value"].shown("Mean, 95 % interval", write=lambda row: number_cell(row.mean.number)),
    MEANS["n"].shown("Repeats", write=lambda row: row.repeats, only="page"),
    MEANS["n"].shown("Repeats", within="mean.number", only="text"),
)


def statements(claim: ClaimRecord) -> TextTable:
    """Return the statements of a claim that are counted, each with its number and rule."""
    return TextTable.of(f"Statements: {claim.title}", OF_CLAIM, claim.counted)


def numbers(claim: ClaimRecord) -> TextTable:
    """Return all means of a claim."""
    rows = (MeanRow(measure, cell) for measure in claim.measures for cell in measure.cells)
    return TextTable.of(f"All numbers: {claim.title}", NUMBERS, rows)
