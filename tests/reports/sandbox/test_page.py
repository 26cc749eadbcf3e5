"""The page of the sandbox, from a small record whose numbers were set by hand."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports.sandbox.claims import allowed
from reports.sandbox.page import write_sandbox_page
from reports.sandbox.record import Rate, coverage_rows, power_rows
from reports.sandbox.shortcut import comparisons
from tests.reports.sandboxes import ANY, FAMILY, HIGHER, HOSTILE, SINGLE, WRONG_NO, rate, small_record


@pytest.fixture
def record() -> dict[str, Any]:
    return small_record()


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Any], tuple[str, str]]:
    """Write the page of a record; return it as HTML and as Markdown."""

    def write(record: Any) -> tuple[str, str]:
        (tmp_path / "sandbox.json").write_text(json.dumps(record))
        page = write_sandbox_page(tmp_path)
        return page.read_text(encoding="utf-8"), (tmp_path / "report.md").read_text(encoding="utf-8")

    return write


Written = Callable[[Any], tuple[str, str]]


@pytest.mark.slow
def test_figures_of_the_page_are_counted_to_their_end(record: dict[str, Any], written: Written, tmp_path: Path) -> None:
    written(record)
    steps: list[tuple[str, int, int]] = []
    write_sandbox_page(tmp_path, lambda *now: steps.append(now))
    assert steps == [("page: figures", done, 3) for done in range(4)]


def shown(html: str) -> str:
    """Return the text of a page, without what charts are drawn from."""
    body = re.sub(r"<script.*?</script>", " ", html[html.index("<body>") :], flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def first_paragraph(html: str) -> str:
    return html[html.index('<p class="prose lead">') : html.index("</p>", html.index('<p class="prose lead">'))]


@pytest.mark.slow
def test_all_numbers_of_the_record_are_on_both_pages(record: dict[str, Any], written: Written):
    html, markdown = written(record)
    for text in (shown(html), markdown):
        for said in (
            "41.1 [40.1, 42.1]",
            "98.9 [97.9, 99.9]",
            "77.6 [76.6, 78.6]",
            "42.1",
            "+10.4",
            "+20.4",
            "146",
            "584",
        ):
            assert said in text
        for said in ("1,234", "at most 1,234", "not reached at the largest size", "1.3 [0.3, 2.3]", "2.1 [1.1, 3.1]"):
            assert said in text
        for said in ("97.0 [96.0, 98.0]", "+0.1 [", "2 min 30 s", "5d0c3e9a71b2f488", "headscope sandbox --seed 7"):
            assert said in text


@pytest.mark.slow
def test_where_every_goal_is_reached_all_claims_are_kept(record: dict[str, Any], written: Written):
    html, markdown = written(record)
    lead = first_paragraph(html)
    assert "Of 11 claims of the statistics that were put to the test, 11 are kept." in lead
    assert "The rates of false finds, grade 1 are at most 3.0 %, at a nominal 5.0 %." in lead
    assert "The rates of false finds, grade 3 are at most 0.7 %, at a nominal 5.0 %." in lead
    assert "The rates of wrong “no” are at most 1.0 %, at a nominal 5.0 %." in lead
    assert "Under null hypotheses margin intervals hold in 95.1 to 96.2 % of cases." in lead
    assert "Intervals of 95 % hold the true value in 95.0 to 95.0 % of runs, by size." in lead
    assert (
        "this many scored words, by the lead it was planted with, in points: 1,234 at 20.0; at most 1,234 at 30.0."
        in lead
    )
    assert "missed" not in lead
    assert "**missed**" not in markdown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("false", 0, "rates", FAMILY), rate(0.081), "at most 8.1 %, at a nominal 5.0 %: missed, the goal is"),
        (("power", 0, "false", SINGLE), rate(0.09), "false positives beside real finds are at most 9.0 %"),
        (("false", 1, "rates", ANY), rate(0.064), "The rates of false finds, grade 1 are at most 6.4 %"),
        (("false", 1, "rates", HIGHER), rate(0.5), "The rates of false finds, grade 3 are at most 50.0 %"),
        (("false", 0, "rates", WRONG_NO), rate(0.2), "The rates of wrong “no” are at most 20.0 %"),
        (("false", 0, "coverage", "margin"), rate(0.9), "margin intervals hold in 90.0 to 96.2 % of cases: missed"),
        (("power", 0, "coverage", "mass"), rate(0.8), "In 1 of 30 single cells"),
        (("null_runs", 0, "graded"), 2, "1 of 2 whole runs gave a head a grade: missed"),
        (("weights", 0, "selected"), "2-4", "Of 1 heads planted by weights 0 are found: missed"),
        (("whole", 0, "accuracy", "mean"), 0.7, "Whole runs differ significantly from simulated ones"),
    ],
)
def test_a_goal_that_is_missed_is_said_first(
    record: dict[str, Any], written: Written, path: tuple[str | int, ...], value: Any, said: str
):
    changed: Any = record
    for step in path[:-1]:
        changed = changed[step]
    changed[path[-1]] = value
    html, markdown = written(record)
    lead = first_paragraph(html)
    assert said in lead
    assert "missed" in lead
    assert "11 are kept" not in lead
    assert "**missed**" in markdown


@pytest.mark.slow
def test_every_row_above_the_level_by_more_than_a_monte_carlo_error_is_named(record: dict[str, Any], written: Written):
    """Of 1,000 runs 6.35 % are allowed, of 100 runs 9.3 %."""
    for row, value in zip(record["false"], (0.0634, 0.0636), strict=True):
        row["rates"][ANY] = rate(value)
    lead, table = (text.replace("\u00a0", " ") for text in (first_paragraph(written(record)[0]), written(record)[1]))
    assert "missed: false finds, grade 1." in lead
    assert "Above it: offset decoys." in table
    record["false"][1]["runs"] = 100
    assert "missed" not in first_paragraph(written(record)[0])


def test_a_monte_carlo_error_is_that_of_a_share_of_so_many_runs():
    assert allowed(0.05, 1000) == pytest.approx(0.05 + 1.96 * (0.05 * 0.95 / 1000) ** 0.5)
    assert allowed(0.05, 100) > allowed(0.05, 1000) > 0.06


@pytest.mark.slow
def test_rates_that_nobody_promised_are_told_and_not_judged(record: dict[str, Any], written: Written):
    record["power"][0]["false"][ANY] = rate(0.4)
    html, _ = written(record)
    assert "40.0 " in shown(html)
    assert "11 are kept" in first_paragraph(html)


@pytest.mark.slow
def test_few_runs_are_called_rough(record: dict[str, Any], written: Written):
    for row in record["power"]:
        row["runs"] = 10
    record["scale"]["runs"] = 10
    html, markdown = written(record)
    assert "Only 10 runs a cell: every rate here is rough" in first_paragraph(html)
    assert "headscope sandbox --quick --seed 7" in markdown
    for row in record["power"]:
        row["runs"] = 200
    record["scale"]["runs"] = 500
    said = first_paragraph(written(record)[0])
    assert "Power and coverage are of 200 runs a cell alone, and rough: to 7 points at the worst." in said
    assert "every rate here is rough" not in said


def test_coverage_is_the_mean_over_cells_and_the_roles_of_a_run_count_once(record: dict[str, Any]):
    accuracy = coverage_rows(power_rows(record))[0]
    assert (accuracy.quantity, accuracy.documents, accuracy.runs, len(accuracy.cells)) == ("accuracy", 20, 3000, 5)
    assert accuracy.pooled.value == pytest.approx(0.95)
    assert (accuracy.lowest[1].value, accuracy.highest[1].value) == (0.94, 0.96)


def test_wilsons_interval_is_that_of_the_textbook():
    # 81 of 263: Newcombe 1998, table I
    found = Rate.counted(81 / 263, 263)
    assert (round(found.low, 4), round(found.high, 4)) == (0.2553, 0.3662)


def test_the_difference_of_means_allows_for_the_sample_that_simulated_runs_are_drawn_from(record: dict[str, Any]):
    (found,) = comparisons(record)
    error = 0.02 * (1000 / 999) ** 0.5 * (1 / 50 + 1 / 1000 + 100 / 1000) ** 0.5
    assert found.difference[0] == pytest.approx(0.001)
    assert found.difference[2] - found.difference[0] == pytest.approx(1.9623 * error, rel=1e-4)
    assert found.p_share == pytest.approx(1)
    assert found.p_mean > 0.8


@pytest.mark.slow
def test_a_single_whole_run_has_no_standard_deviation(record: dict[str, Any], written: Written):
    record["whole"][0] |= {"runs": 1, "accuracy": {"mean": 0.61, "sd": 0.0}, "specialised": rate(1.0)}
    html, _ = written(record)
    assert len(comparisons(record)[0].ps) == 2
    assert not re.search(r"\bnan\b", shown(html), re.IGNORECASE)


@pytest.mark.slow
@pytest.mark.parametrize("kept", ["", "power", "false", "whole", "weights", "null_runs", "needed", "rule"])
def test_missing_entries_do_not_break_the_page(record: dict[str, Any], written: Written, kept: str):
    html, markdown = written({kept: record[kept]} if kept else {})
    for text in (shown(html), markdown):
        assert not re.search(r"\b(nan|NaN|None)\b", text)
    assert "The record holds" in html


@pytest.mark.slow
def test_text_of_the_record_stays_text(record: dict[str, Any], written: Written):
    html, markdown = written(record)
    assert HOSTILE not in html
    assert "&lt;b&gt;&amp;&#34;|&lt;/script&gt;`" in html
    assert '<b>&"' not in markdown


@pytest.mark.slow
def test_the_page_loads_nothing(record: dict[str, Any], written: Written):
    own = written(record)[0].partition("<script>")[0]
    addresses = re.findall(r'(?:href|src|srcset|data|action)="([^"]*)"', own)
    assert all(address.startswith("#") or address == "data:," for address in addresses)
    assert not re.search(r"@import|url\(|\bfetch\(", own)


def test_a_page_without_charts_has_no_script(record: dict[str, Any], written: Written):
    assert len(written({})[0]) < 100_000
    assert "<script" not in written({"weights": record["weights"]})[0]
    assert "vegaEmbed" in written({"false": record["false"]})[0]


@pytest.mark.slow
@pytest.mark.figures
def test_every_figure_exists_as_png_and_pdf_and_is_in_the_markdown(
    record: dict[str, Any], written: Written, tmp_path: Path
):
    _, markdown = written(record)
    drawn = re.findall(r"\]\(figures/([\w-]+)\.png\)", markdown)
    assert drawn == ["power", "false-positives", "coverage"]
    for name in drawn:
        assert (tmp_path / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
def test_the_same_record_gives_the_same_page_and_nothing_else_stays(
    record: dict[str, Any], written: Written, tmp_path: Path
):
    first = written(record)
    assert written(copy.deepcopy(record)) == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figures", "index.html", "report.md", "sandbox.json"]


@pytest.mark.slow
@pytest.mark.figures
def test_the_same_record_gives_the_same_figures(record: dict[str, Any], written: Written, tmp_path: Path):
    written(record)
    first = (tmp_path / "figures" / "power.png").read_bytes()
    written(copy.deepcopy(record))
    assert (tmp_path / "figures" / "power.png").read_bytes() == first


def test_a_folder_without_a_record_says_how_to_make_one(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"sandbox\.json: no such file; make one with 'headscope sandbox'"):
        write_sandbox_page(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{\n,", r"sandbox\.json:2: not valid JSON"),
        ("[]", r"sandbox\.json: expected a JSON object, got list"),
        ('{"power": [{}]}', r"sandbox\.json: power: role, grade, margin, .* missing in a row; make the record again"),
        ('{"power": 1}', r"sandbox\.json: not a record of the sandbox \(TypeError: "),
    ],
)
def test_what_is_no_record_is_told_in_one_line_and_leaves_the_old_page(tmp_path: Path, text: str, message: str):
    (tmp_path / "sandbox.json").write_text(text)
    (tmp_path / "index.html").write_text("the old one")
    with pytest.raises(ValueError, match=message) as caught:
        write_sandbox_page(tmp_path)
    assert "\n" not in str(caught.value)
    assert (tmp_path / "index.html").read_text() == "the old one"


def test_tables_open_with_eight_columns(
    too_wide: Callable[[Path], list[str]], record: dict[str, Any], written: Written, tmp_path: Path
) -> None:
    written(record)
    assert too_wide(tmp_path) == []


def test_axe_finds_no_serious_fault_of_accessibility(
    serious_faults: Callable[[Path], list[str]], record: dict[str, Any], written: Written, tmp_path: Path
) -> None:
    written(record)
    assert serious_faults(tmp_path / "index.html") == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [380, 1280])
def test_in_a_browser_nothing_but_containers_scrolls_sideways(
    browser: Any, record: dict[str, Any], written: Written, tmp_path: Path, width: int
):
    written(record)
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "index.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert all(url.startswith(("file:", "data:")) for url in asked)
    page.locator("summary").first.press("Enter")  # a click may miss it while charts are drawn above
    assert page.locator("details[open] tbody tr").count() == 10
    page.close()
