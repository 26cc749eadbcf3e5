"""The page of the sandbox, from a small record whose numbers were set by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports.statements.sandbox_goals import answer, comparisons, goals, pooled_coverage
from reports.statements.sandbox_page import coverage_figures, false_figures, power_figures, write_sandbox_page
from reports.statements.sandbox_record import SandboxRecord
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


def missed(record: dict[str, Any]) -> dict[str, str]:
    """Return the statements that do not hold, with what was found."""
    made = goals(SandboxRecord.of(record))
    return {one.text: f"{one.estimate}; {one.number}" for one in made if one.verdict != "holds"}


def test_all_numbers_of_the_record_are_on_the_page_and_the_statements_on_one_screen(
    record: dict[str, Any], written: Written, tmp_path: Path, page_faults: Callable[[Path], list[str]]
):
    html, markdown = written(record)
    first = (
        "Where the truth is known, 11 of 11 statements about the statistics of headscope hold.",
        "20: 1,234; 30: at most 1,234.",
        "headscope sandbox --seed 7",
    )
    for said in (
        *("41.1 [40.1, 42.1]", "98.9 [97.9, 99.9]", "77.6 [76.6, 78.6]", "+10.4", "+20.4", "146", "584"),
        *("1.3 [0.3, 2.3]", "2.1 [1.1, 3.1]", "94.0 [93.0, 95.0]", "95.1 [94.1, 96.1]"),
        *("97.0 [96.0, 98.0]", "+0.1 [", "2 min 30 s", "5d0c3e9a71b2f488", *first),
    ):
        assert said in shown(html), said
    assert all(said in markdown for said in (*first, "| 0 of 6 rates | largest 2.0 [1.0, 3.0] % |"))
    assert page_faults(tmp_path) == []
    assert HOSTILE not in html
    assert '<b>&"' not in markdown


POSITION = "Runs with a head falsely specialised beyond position"


@pytest.mark.parametrize(
    ("path", "value", "statement", "found"),
    [
        (("false", 0, "rates", FAMILY), rate(0.081), "Other false positives", "1 of 6 rates"),
        (("power", 0, "false", SINGLE), rate(0.09), "False positives beside", "largest 9.0 ["),
        (("false", 1, "rates", ANY), rate(0.0636), POSITION, "above it: offset decoys"),  # of 1,000: 6.35 %
        (("false", 1, "rates", ANY), rate(0.0634), "", ""),
        (
            ("false", 1, "rates", HIGHER),
            rate(0.5),
            "Runs with a head falsely specialised beyond grammar rules",
            "1 of 2 rates",
        ),
        (("false", 0, "rates", WRONG_NO), rate(0.2), "Verdicts no", "largest 20.0 ["),
        (("false", 0, "coverage", "margin"), rate(0.9), "Intervals hold", "1 of 2 rows; 90.0 ["),
        (("power", 0, "coverage", "mass"), rate(0.9), "Intervals of each", "1 of 30 cells"),
        (("null_runs", 0, "graded"), 2, "No head is", "1 of 2 runs"),
        (("weights", 0, "selected"), "2-4", "Heads planted by weights", "1 of 1 heads"),
        (("whole", 0, "accuracy", "mean"), 0.7, "Simulated runs agree", "1 of 3 comparisons"),
    ],
)
def test_a_statement_holds_where_it_has_no_exception(
    record: dict[str, Any], path: tuple[str | int, ...], value: Any, statement: str, found: str
):
    assert not missed(record)
    changed: Any = record
    for step in path[:-1]:
        changed = changed[step]
    changed[path[-1]] = value
    assert all(text.startswith(statement) and found in said for text, said in missed(record).items())
    assert len(missed(record)) == bool(statement)


def test_few_runs_are_called_rough(record: dict[str, Any], written: Written):
    for runs, of_nulls, said in (
        (10, 10, "only 10 runs"),
        (200, 500, "of 200 runs, with an error of up to 7"),
    ):
        for row in record["power"]:
            row["runs"] = runs
        record["scale"]["runs"] = of_nulls
        assert said in answer([], SandboxRecord.of(record))[0]
    record["scale"]["runs"] = 10
    assert "headscope sandbox --quick --seed 7" in written(record)[1]


def test_figures_hold_the_rates_in_percent(record: dict[str, Any]):
    study = SandboxRecord.of(record)
    walker, _, second = power_figures(study)
    found = {name: points[0][1] for name, points in walker.points.items()}
    assert found == pytest.approx({"+10.4 (set: 10)": 41.1, "+20.4 (set: 20)": 73.3})
    assert ([*walker.dashed], second.title) == (["+10.4 (set: 10)"], "walker, beyond words")
    random, _ = false_figures(study)
    assert (random.kind, random.level, random.names) == ("bars", 5.0, [SINGLE, ANY, WRONG_NO, HIGHER])
    assert random.points["25 documents"][1] == pytest.approx((1, 3.0, 2.0, 4.0))
    accuracy, *_ = coverage_figures(study)
    assert [points[0][1] for points in accuracy.points.values()] == pytest.approx([95, 94, 96])


def test_coverage_is_the_mean_over_cells_and_the_roles_of_a_run_count_once(record: dict[str, Any]):
    accuracy = pooled_coverage(SandboxRecord.of(record))[0]
    assert (accuracy.quantity, accuracy.documents, accuracy.pooled.n) == ("accuracy", 20, 3000)
    assert (len(accuracy.cells), accuracy.pooled.value) == (5, pytest.approx(0.95))


def test_the_difference_of_means_allows_for_the_sample_that_simulated_runs_are_drawn_from(record: dict[str, Any]):
    (found,) = comparisons(SandboxRecord.of(record)).to_dict("records")
    error = 0.02 * (1000 / 999) ** 0.5 * (1 / 50 + 1 / 1000 + 100 / 1000) ** 0.5
    assert found["difference"] == pytest.approx(0.001)
    assert found["difference_high"] - found["difference"] == pytest.approx(1.9623 * error, rel=1e-4)
    assert found["p_share"] == pytest.approx(1)
    assert found["p_mean"] > 0.8


@pytest.mark.parametrize("kept", ["", "power", "false", "whole", "weights", "null_runs", "needed", "rule"])
def test_missing_entries_do_not_break_the_page(record: dict[str, Any], written: Written, kept: str):
    html, markdown = written({kept: record[kept]} if kept else {})
    for text in (shown(html), markdown):
        assert not re.search(r"\b(nan|NaN|None)\b", text)
    assert "The record holds" in html


def test_axe_finds_no_serious_fault(
    serious_faults: Callable[[Path], list[str]], record: dict[str, Any], written: Written, tmp_path: Path
):
    written(record)
    assert serious_faults(tmp_path / "index.html") == []
