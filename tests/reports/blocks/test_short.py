"""Short forms: a table is cut where it is long, and what is left out is said."""

from __future__ import annotations

import pytest

from reports.blocks.block import Fold, Paragraph, Section
from reports.blocks.short import LINKED, ROWS, linked, short_table
from reports.tables.cells import columns_of
from reports.tables.text_table import TextTable


@pytest.mark.parametrize(("rows", "shown", "note"), [(12, 12, ""), (15, 12, "… and 3 more in all.csv.")])
def test_a_long_table_is_cut_and_says_how_many_rows_are_where(rows: int, shown: int, note: str) -> None:
    table = TextTable.of("t", columns_of(["name", "number"]), [(f"row {place}", place) for place in range(rows)])
    block = short_table(table, "all.csv")
    lines = block.markdown.splitlines()
    assert [line for line in lines if line.startswith("| row")] == [f"| row {one} | {one} |" for one in range(shown)]
    assert lines[-1] == (note or f"| row {ROWS - 1} | {ROWS - 1} |")


@pytest.mark.parametrize("number", [LINKED, LINKED + 1])
def test_many_sections_are_folded_in_one_whose_links_still_lead_to_each(number: int) -> None:
    sections = [Section(f"part-{one}", f"Part {one}", [Paragraph(f"It is {one}.")]) for one in range(number)]
    found = linked("parts", "Parts", sections)
    html = "".join(one.html for one in found)
    assert all(html.count(f'id="part-{one}"') == html.count(f"It is {one}.") == 1 for one in range(number))
    assert [one.name for one in found] == (["parts"] if number > LINKED else [one.name for one in sections])
    assert all(isinstance(block, Fold) == (number > LINKED) for one in found for block in one.blocks)
