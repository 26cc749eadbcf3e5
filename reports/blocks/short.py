"""What the short forms of all kinds of pages share: a table of a dozen rows, and how they end; and few links on top."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from reports.blocks.block import Block, Charts, Code, Fold, Heading, Paragraph, Section, TableBlock
from reports.drawing.charts import Chart
from reports.tables.text_table import TextTable

ROWS: Final = 12
"Of a table of a short form, at most."

CHARTS: Final = 2
"In a short form, at most."

LINKED: Final = 6
"Sections of one kind, such as those of claims, that have a link each on top of a page, at most."


def short_table(table: TextTable, file: str) -> TableBlock:
    """Return a table with its first rows; its note says how many more there are in a file."""
    more = len(table) - ROWS
    if more > 0:
        table = replace(table, rows=table.rows[:ROWS], note=f"… and {more} more in {file}.")
    return TableBlock(table, caption=False, wraps=True)


def short_form(
    opening: Sequence[Block],
    measured: Iterable[str],
    command: str,
    left_out: str,
    charts: Sequence[Chart] = (),
    *,
    recorded: bool = True,
) -> Iterator[Block]:
    """Yield the short form of a page: how it opens, charts, what was measured, its command, and what is left out.

    A page whose numbers are in no one record is made by the command alone.
    """
    yield from opening
    if charts:
        yield Charts(charts[:CHARTS])
    yield from map(Paragraph, filter(None, measured))
    yield Code(command)
    how = "This makes the whole page, index.html, from the record:" if recorded else "The command makes the whole page."
    yield Paragraph(f"Not shown here: {left_out}. {how}")
    if recorded:
        yield Code("headscope report FOLDER")


def linked(name: str, title: str, sections: Sequence[Section]) -> Sequence[Section]:
    """Return sections as they are, or where they are many folded in one."""
    if len(sections) <= LINKED:
        return sections
    folds = [Fold(one.title, [Heading(one.title, anchor=one.name), *one.blocks]) for one in sections]
    return [Section(name, title, folds)]
