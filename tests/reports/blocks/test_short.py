"""Short forms: a table is cut where it is long, and the pages of committed records are one screen each."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from reports.blocks.block import Fold, Paragraph, Section
from reports.blocks.short import LINKED, ROWS, linked, short_form, short_table
from reports.statements.finding_page import write_findings_page
from reports.statements.sandbox_page import write_sandbox_page
from reports.tables.cells import columns_of
from reports.tables.text_table import TextTable

PUBLISHED = Path(__file__).parents[3] / "reports" / "published"


@pytest.mark.parametrize(("rows", "shown", "note"), [(12, 12, ""), (15, 12, "… and 3 more in all.csv.")])
def test_a_long_table_is_cut_and_says_how_many_rows_are_where(rows: int, shown: int, note: str) -> None:
    table = TextTable.of("t", columns_of(["name", "number"]), [(f"row {place}", place) for place in range(rows)])
    block = short_table(table, "all.csv")
    lines = block.markdown.splitlines()
    assert [line for line in lines if line.startswith("| row")] == [f"| row {one} | {one} |" for one in range(shown)]
    assert lines[-1] == (note or f"| row {ROWS - 1} | {ROWS - 1} |")


def test_a_short_form_ends_with_what_is_left_out_and_the_commands() -> None:
    blocks = [*short_form([Paragraph("It holds.")], ["Read: ewt."], "headscope claim a", "all numbers")]
    assert [block.markdown for block in blocks] == [
        *("It holds.", "Read: ewt.", "    headscope claim a"),
        "Not shown here: all numbers. This makes the whole page, index.html, from the record:",
        "    headscope report FOLDER",
    ]


@pytest.mark.parametrize("number", [LINKED, LINKED + 1])
def test_many_sections_are_folded_in_one_whose_links_still_lead_to_each(number: int) -> None:
    sections = [Section(f"part-{one}", f"Part {one}", [Paragraph(f"It is {one}.")]) for one in range(number)]
    found = linked("parts", "Parts", sections)
    html = "".join(one.html for one in found)
    assert all(html.count(f'id="part-{one}"') == html.count(f"It is {one}.") == 1 for one in range(number))
    assert [one.name for one in found] == (["parts"] if number > LINKED else [one.name for one in sections])
    assert all(isinstance(block, Fold) == (number > LINKED) for one in found for block in one.blocks)


def made(name: str, write: Callable[[Path], Path], tmp_path: Path) -> tuple[Path, str]:
    """Make the page of a committed record in a copy; return the copy and its Markdown as plain text."""
    folder = shutil.copytree(PUBLISHED / name, tmp_path / name)
    write(folder)
    return folder, (folder / "report.md").read_text(encoding="utf-8").replace("\\", "")


@pytest.mark.slow
def test_committed_findings_fit_on_a_screen(tmp_path: Path, more_than_a_screen: Callable[[Path], list[str]]) -> None:
    folder, text = made("findings", write_findings_page, tmp_path)
    assert more_than_a_screen(folder) == []
    assert "Of 86 findings from 29 papers at least one trained model reproduces 13, and 7 more" in text
    assert "| minilm | 4 | 3 | 17 | 8 | 0 | 45 |" in text
    assert "reproduce none of them." in text


def test_the_committed_sandbox_fits_on_a_screen(
    tmp_path: Path, more_than_a_screen: Callable[[Path], list[str]]
) -> None:
    folder, text = made("sandbox", write_sandbox_page, tmp_path)
    assert more_than_a_screen(folder) == []
    assert "7 of 12 statements about the statistics of headscope hold" in text
    rows = [line for line in text.splitlines() if line.startswith("| ") and "hold" in line]
    assert ["does not hold" in row for row in rows] == [True] * 5 + [False] * 7
    assert any("beyond words" in row and "0 of 42 rates | largest 1.2 [0.6, 2.6] %" in row for row in rows)
