"""Helps, lists, titles, header rows and schemas are those of the golden record; and records are compared rightly."""

import sys
from pathlib import Path

import pytest

from experiments.cli import main
from tests.unchanged import commands
from tests.unchanged.compare import differences, golden, patterns, unexpected
from tests.unchanged.masks import mask, without_times
from tests.unchanged.pages import html_lines
from tests.unchanged.parts import PARTS
from tests.unchanged.record import surroundings, write

GOLDEN = Path(__file__).parent / "golden" / "unchanged"

PAGE = """<h2>Best</h2><p>Of <b>two</b>
heads.</p><table><caption>How good</caption><tr><th>head</th><th>right</th></tr>
<tr><td><p>3-5</p></td><td>0.5</td></tr></table><script>let a</script>
<script type="application/json">{"b": 1}</script>"""


def kept(part: str) -> dict[str, list[str]]:
    return {path.stem: path.read_text("utf-8").splitlines() for path in sorted((GOLDEN / part).glob("*.txt"))}


def record(folder: Path, row: str) -> Path:
    (folder / "pages").mkdir(parents=True)
    (folder / "pages" / "one.txt").write_text(f"h2: Best\ntable: How good\ncolumns: head\nrow: {row}\n", "utf-8")
    return folder


def test_the_help_of_every_command_is_unchanged() -> None:
    assert commands.helps() == kept("commands")


def test_every_list_is_unchanged() -> None:
    assert commands.lists() == kept("lists")


def typed_here(words: tuple[str, ...], work: Path) -> list[str]:
    """Type a command in this process, which has loaded everything and draws no figures; what it prints is not kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(work)
        patch.setattr(sys, "argv", ["headscope", *words])
        for name, value in surroundings(work).items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as end:
            main()
    assert not end.value.code, f"headscope {' '.join(words)}: exit code {end.value.code}"
    return []


@pytest.mark.slow
@pytest.mark.parametrize("part", [part.name for part in PARTS if part.tested])
def test_titles_header_rows_and_schemas_are_unchanged(part: str, tmp_path: Path) -> None:
    write(tmp_path / "record", [part], typed_here)
    golden(tmp_path / "record", tmp_path / "golden")
    for kind in ("pages", "tables"):
        assert [*differences(GOLDEN / kind / part, tmp_path / "golden" / kind / part)] == []


def test_a_changed_cell_has_results_with_its_place_and_an_excepted_one_is_not(tmp_path: Path) -> None:
    before, after = record(tmp_path / "before", "3-5"), record(tmp_path / "after", "3-6")
    found = [*differences(before, after)]
    assert found == ["pages/one.txt:4 [How good]: row: 3-5 -> row: 3-6"]
    excepted = tmp_path / "excepted"
    excepted.write_text("# heads have other names\npages/one.txt:* -> row: 3-6\n", "utf-8")
    assert unexpected(found, patterns(excepted)) == []
    assert unexpected(found, patterns(None)) == found
    assert unexpected(["another"], patterns(excepted)) == ["another"]


def test_a_page_has_results_by_its_headings_texts_tables_and_data() -> None:
    assert html_lines(PAGE) == [
        *("h2: Best", "text: Of two heads.", "table: How good"),
        *("columns: head | right", "row: 3-5 | 0.5", 'data: {"b": 1}'),
    ]


def test_what_differs_between_two_runs_is_masked_and_numbers_are_not() -> None:
    text = "/tmp/x/run on 3 May 2026, 2026-05-03T10:00:00Z, took 1.5 s and 12 MB; 3 heads, 0.5"
    assert mask(text, Path("/tmp/x")) == "<work>/run on <date>, <time>, took <duration> and <memory>; 3 heads, 0.5"
    assert mask(r"/tmp/a\_b/made.txt", Path("/tmp/a_b")) == "<work>/made.txt"
    assert without_times([{"seconds": 3, "n": 1}]) == [{"seconds": "<seconds>", "n": 1}]
