"""The page of the sandbox, from a small record whose numbers were set by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports.sandbox.claims import allowed, claims, lead
from reports.sandbox.page import write_sandbox_page
from reports.sandbox.record import Rate, coverage_rows, power_rows
from reports.sandbox.shortcut import comparisons, ps_of
from reports.sandbox.text_tables import shown as shown_table
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


def shown(html: str) -> str:
    """Return the text of a page, without what charts are drawn from."""
    body = re.sub(r"<script.*?</script>", " ", html[html.index("<body>") :], flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def first_paragraph(record: dict[str, Any]) -> str:
    return " ".join(lead(claims(record), record))


def claims_table(record: dict[str, Any]) -> str:
    return shown_table("claims", claims(record)).markdown()


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


def test_where_every_goal_is_reached_all_claims_are_kept(record: dict[str, Any]):
    said_first = first_paragraph(record)
    assert "Of 11 claims of the statistics that were put to the test, 11 are kept." in said_first
    assert "The rates of false finds, grade 1 are at most 3.0 %, at a nominal 5.0 %." in said_first
    assert "The rates of false finds, grade 3 are at most 0.7 %, at a nominal 5.0 %." in said_first
    assert "The rates of wrong “no” are at most 1.0 %, at a nominal 5.0 %." in said_first
    assert "Under null hypotheses margin intervals hold in 95.1 to 96.2 % of cases." in said_first
    assert "Intervals of 95 % hold the true value in 95.0 to 95.0 % of runs, by size." in said_first
    assert (
        "this many scored words, by the lead it was planted with, in points: 1,234 at 20.0; at most 1,234 at 30.0."
        in said_first
    )
    assert "missed" not in said_first
    assert "**missed**" not in claims_table(record)


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
    record: dict[str, Any], path: tuple[str | int, ...], value: Any, said: str
):
    changed: Any = record
    for step in path[:-1]:
        changed = changed[step]
    changed[path[-1]] = value
    said_first = first_paragraph(record)
    assert said in said_first
    assert "missed" in said_first
    assert "11 are kept" not in said_first
    assert "**missed**" in claims_table(record)


def test_every_row_above_the_level_by_more_than_a_monte_carlo_error_is_named(record: dict[str, Any]):
    """Of 1,000 runs 6.35 % are allowed, of 100 runs 9.3 %."""
    for row, value in zip(record["false"], (0.0634, 0.0636), strict=True):
        row["rates"][ANY] = rate(value)
    assert "missed: false finds, grade 1." in first_paragraph(record)
    assert "Above it: offset decoys." in claims_table(record)
    record["false"][1]["runs"] = 100
    assert "missed" not in first_paragraph(record)


def test_a_monte_carlo_error_is_that_of_a_share_of_so_many_runs():
    assert allowed(0.05, 1000) == pytest.approx(0.05 + 1.96 * (0.05 * 0.95 / 1000) ** 0.5)
    assert allowed(0.05, 100) > allowed(0.05, 1000) > 0.06


def test_few_runs_are_called_rough(record: dict[str, Any], written: Written):
    for row in record["power"]:
        row["runs"] = 10
    record["scale"]["runs"] = 10
    assert "Only 10 runs a cell: every rate here is rough" in first_paragraph(record)
    assert "headscope sandbox --quick --seed 7" in written(record)[1]
    for row in record["power"]:
        row["runs"] = 200
    record["scale"]["runs"] = 500
    said = first_paragraph(record)
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
    difference, _, high = found["difference"]
    assert difference == pytest.approx(0.001)
    assert high - difference == pytest.approx(1.9623 * error, rel=1e-4)
    assert found["p_share"] == pytest.approx(1)
    assert found["p_mean"] > 0.8


def test_a_single_whole_run_has_no_standard_deviation(record: dict[str, Any], written: Written):
    record["whole"][0] |= {"runs": 1, "accuracy": {"mean": 0.61, "sd": 0.0}, "specialised": rate(1.0)}
    html, _ = written(record)
    assert len(ps_of(comparisons(record))) == 2
    assert not re.search(r"\bnan\b", shown(html), re.IGNORECASE)


@pytest.mark.parametrize("kept", ["", "power", "false", "whole", "weights", "null_runs", "needed", "rule"])
def test_missing_entries_do_not_break_the_page(record: dict[str, Any], written: Written, kept: str):
    html, markdown = written({kept: record[kept]} if kept else {})
    for text in (shown(html), markdown):
        assert not re.search(r"\b(nan|NaN|None)\b", text)
    assert "The record holds" in html


def test_text_of_the_record_stays_text(record: dict[str, Any], written: Written):
    html, markdown = written(record)
    assert HOSTILE not in html
    assert "&lt;b&gt;&amp;&#34;|&lt;/script&gt;`" in html
    assert '<b>&"' not in markdown


def test_tables_fit_and_axe_finds_no_serious_fault(
    too_wide: Callable[[Path], list[str]],
    serious_faults: Callable[[Path], list[str]],
    record: dict[str, Any],
    written: Written,
    tmp_path: Path,
) -> None:
    written(record)
    assert too_wide(tmp_path) == []
    assert serious_faults(tmp_path / "index.html") == []


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
