"""The page of the claims, from small records whose numbers were set by hand."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports.claims.page import ClaimsPage, write_claims_page
from reports.claims.record import ClaimRecord, Number
from reports.formats import in_unit

HOSTILE = '<b>&"|</script>`'


def cell(condition: str, at: float | None, value: float | None, half: float | None = 0.1, n: int = 5) -> dict[str, Any]:
    ends = (None, None) if half is None or value is None else (value - half, value + half)
    return {"condition": condition, "at": at, "value": value, "low": ends[0], "high": ends[1], "n": n}


def measure(name: str, unit: str, cells: list[dict[str, Any]], axis: str = "") -> dict[str, Any]:
    rows = [
        {"condition": one["condition"], "at": one["at"], "repeat": repeat, "value": one["value"]}
        for one in cells
        for repeat in (0, 1)
    ]
    return {"name": name, "unit": unit, "repeat": "seed", "axis": axis, "cells": cells, "rows": rows}


def statement(
    text: str, verdict: str, value: float | None, half: float | None, unit: str, kind: str = "claim", why: str = ""
) -> dict[str, Any]:
    about = {"text": text, "number": "what is counted", "unit": unit, "rule": "Holds if so.", "verdict": verdict}
    about |= {"kind": kind, "why": why}
    return about | {name: one for name, one in cell("", None, value, half).items() if name not in ("condition", "at")}


def claim(name: str, title: str, statements: list[dict[str, Any]], measures: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "claim": name,
        "name": name,
        "title": title,
        "sentence": f"It is said that {name} matters.",
        "source": "Vaswani et al. 2017",
        "about": ["It was measured."],
        "limits": ["It is small."],
        "noticed": ["It was noticed."],
        "config_file": f"{name}.toml",
        "changes": ["rounds=3"],
        "config": f'claim = "{name}"\n',
        "statements": statements,
        "measures": measures,
        "headscope": "0.1.0",
        "started": "2026-11-21T09:02:30Z",
        "git_commit": "5d0c3e9a71b2f488",
        "wall_seconds": 150.4,
        "threads": 2,
    }


@pytest.fixture
def records() -> list[dict[str, Any]]:
    lengths = [cell(name, at, value) for name in ("a", HOSTILE) for at, value in ((16, 1.5), (64, 2.5), (256, 9.0))]
    return [
        claim(
            "mixing",
            "Interaction",
            [statement("They add up", "does not hold", 0.0213, 0.01, "%")],
            [measure("accuracy", "%", [cell("one head", None, 0.75), cell(HOSTILE, None, None, None, 0)])],
        ),
        claim(
            "compute",
            f"Cost {HOSTILE}",
            [
                statement("It is equal", "holds", 1.0, 0.0, "times"),
                statement("It is faster", "not decided", 1.234567, 0.02, "times"),
            ],
            [measure("time a token", "µs", lengths, "length")],
        ),
    ]


Written = Callable[[list[dict[str, Any]]], tuple[str, str]]


@pytest.fixture
def write(tmp_path: Path) -> Written:
    """Write the page of records; return it as HTML and as Markdown."""

    def write(records: list[dict[str, Any]]) -> tuple[str, str]:
        for record in records:
            (tmp_path / record["name"]).mkdir(exist_ok=True)
            (tmp_path / record["name"] / "claim.json").write_text(json.dumps(record))
        page = write_claims_page(tmp_path)
        return page.read_text(encoding="utf-8"), (tmp_path / "report.md").read_text(encoding="utf-8")

    return write


def test_what_holds_by_arithmetic_stands_apart_and_is_not_counted(
    records: list[dict[str, Any]], write: Written
) -> None:
    records[1]["statements"].append(
        statement(f"Products {HOSTILE}", "holds", 1.0, 0.0, "times", "identity", f"they are the same {HOSTILE}")
    )
    html, markdown = write(records)
    for page in (html, markdown):
        assert "2 claims, 3 statements: 0 held" not in page
        assert "3 statements: 1 held, 1 did not and 1 could not be decided. 1 more hold by arithmetic" in page
        verdicts, apart = page.split("Identities and measurements, not counted", 1)
        assert "Products" not in verdicts
        assert "Products" in apart
        assert HOSTILE not in page
    summary = markdown.split("Identities")[0]
    assert summary.count("| **") == 3, "a row for each statement that is counted"


def test_figures_of_the_page_are_counted_to_their_end(
    records: list[dict[str, Any]], write: Written, tmp_path: Path
) -> None:
    write(records)
    steps: list[tuple[str, int, int]] = []
    write_claims_page(tmp_path, lambda *now: steps.append(now))
    assert steps == [("page: figures of claims", done, 2) for done in range(3)]


def shown(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html[html.index("<body>") :]).split())


def test_verdicts_and_numbers_are_on_both_pages(records: list[dict[str, Any]], write: Written) -> None:
    html, markdown = write(records)
    for text in (shown(html), markdown):
        for said in (
            "2 claims, 3 statements: 1 held, 1 did not and 1 could not be decided.",
            "It is equal", "1.235 times [1.215, 1.255]", "2.1 % [1.1, 3.1]", "2.50 µs [2.40, 2.60]",
            "It is said that mixing matters.", "It was noticed.", "It was measured.", "It is small.",
            "what is counted; 5 repeats", "Holds if so.", "compute.toml", "5d0c3e9a71b2f488", "2 min 30 s",
            "headscope claim compute.toml --set rounds=3", 'claim = "compute"',
        ):  # fmt: skip
            assert said in text.replace("&#34;", '"'), said
    assert html.count('<td class="kept">holds</td>') == 2  # in the summary and in its section
    assert html.count('<td class="missed">does not hold</td>') == 2
    assert html.count('<td class="open">not decided</td>') == 2
    assert "**does not hold**" in markdown


def test_claims_stand_in_the_order_of_the_registry(records: list[dict[str, Any]], write: Written) -> None:
    html, markdown = write(records)
    for text in (html, markdown):
        assert text.index("It is said that compute matters") < text.index("It is said that mixing matters")


def test_the_page_loads_nothing_and_text_of_the_record_stays_text(
    records: list[dict[str, Any]], write: Written
) -> None:
    html, markdown = write(records)
    assert not re.search(r"(src|href)=\"(?!#|data:,)", html.partition("/*! Vega ")[0])
    assert HOSTILE not in html
    assert HOSTILE not in markdown
    assert "&lt;b&gt;&amp;" in html


def test_every_claim_has_a_chart_on_the_page_and_figures_beside_it(
    records: list[dict[str, Any]], write: Written, tmp_path: Path
) -> None:
    html, markdown = write(records)
    assert html.count("<figure") == 2
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "compute.pdf", "compute.png", "mixing.pdf", "mixing.png",
    ]  # fmt: skip
    assert "](figures/compute.png)" in markdown


def test_a_missing_number_is_a_dash_and_never_0(records: list[dict[str, Any]], write: Written) -> None:
    html, _ = write(records)
    assert "– %" in shown(html)


def test_tables_open_with_eight_columns(
    too_wide: Callable[[Path], list[str]], records: list[dict[str, Any]], write: Written, tmp_path: Path
) -> None:
    write(records)
    assert too_wide(tmp_path) == []


def test_axe_finds_no_serious_fault_of_accessibility(
    serious_faults: Callable[[Path], list[str]], records: list[dict[str, Any]], write: Written, tmp_path: Path
) -> None:
    write(records)
    assert serious_faults(tmp_path / "index.html") == []


@pytest.mark.slow
def test_a_browser_draws_every_chart_in_the_colours_of_the_page(
    records: list[dict[str, Any]], write: Written, tmp_path: Path, opened: Any
) -> None:
    write(records)
    page = opened(tmp_path / "index.html", width=390)
    lines, rows = page.locator("#compute [data-chart]"), page.locator("#mixing [data-chart]")
    for chart in (lines, rows):
        chart.scroll_into_view_if_needed()
        chart.locator("svg").wait_for()
    assert lines.locator(".mark-area path").count() == 2
    assert lines.locator(".mark-line path").count() == 2
    assert lines.locator(".mark-symbol.role-mark path").count() == 6
    assert lines.locator(".role-legend-label text").all_text_contents() == ["a", HOSTILE]
    named = rows.locator(".mark-text.role-mark").last.locator("text")
    assert named.all_text_contents() == ["one head", HOSTILE]
    assert [rows.locator(f".mark-{mark}.role-mark").locator("path, line").count() for mark in ("symbol", "rule")] == [
        3,
        1,
    ]
    rows.locator(".mark-symbol.role-mark").last.locator("path").hover()
    told = page.locator("#chart-told.visible")
    told.wait_for()
    assert told.inner_text() == "one head: 75.0 % [65.0, 85.0]"
    ink = [named.first.evaluate("(text) => getComputedStyle(text).fill")]
    page.emulate_media(color_scheme="dark")
    ink.append(named.first.evaluate("(text) => getComputedStyle(text).fill"))
    assert ink == ["rgb(26, 29, 33)", "rgb(231, 233, 236)"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_all_charts_are_drawn_before_the_page_is_printed(
    records: list[dict[str, Any]], write: Written, tmp_path: Path, opened: Any
) -> None:
    write(records)
    page = opened(tmp_path / "index.html")
    page.pdf()
    assert (
        page.evaluate("[...document.querySelectorAll('[data-chart]')].map((one) => one.dataset.chart)") == ["drawn"] * 2
    )


def test_the_same_records_give_the_same_page(records: list[dict[str, Any]], write: Written) -> None:
    assert write(records) == write(records)


def test_a_folder_without_claims_and_a_broken_record_are_refused(
    records: list[dict[str, Any]], write: Written, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError, match=r"no claim.json in any of its folders; 'headscope claim' makes them"):
        write_claims_page(tmp_path)
    html, _ = write(records)
    (tmp_path / "mixing" / "claim.json").write_text('{"statements": []}')
    with pytest.raises(ValueError, match=r"mixing.claim.json: not the record of a claim \(KeyError: 'measures'\)"):
        write_claims_page(tmp_path)
    assert (tmp_path / "index.html").read_text() == html
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Number(1.23456, 1.20, 1.26, 5, "times"), "1.235 [1.200, 1.260]"),
        (Number(12345.6, 12000.0, 12700.0, 5, "µs"), "12,346 [12,000, 12,700]"),
        (Number(-0.0213, -0.03, -0.01, 5, "points"), "−2.1 [−3.0, −1.0]"),
        (Number(7.0, 7.0, 7.0, 1, "heads"), "7 "),
        (Number(0.5, math.nan, math.nan, 1, "nats"), "0.5 "),
        (Number(0.0, -2e-9, 2e-9, 5, "nats"), "0 [−2e−09, 2e−09]"),
        (Number(-0.002, -0.004, -0.00001, 5, "%"), "−0.2 [−0.4, 0.0]"),
        (Number(0.0, -0.01, 0.01, 5, "points"), "0.0 [−1.0, +1.0]"),
    ],
)
def test_a_number_has_the_digits_that_its_interval_bears_out(number: Number, text: str) -> None:
    assert f"{number.shown} {number.interval}" == text


def test_missing_is_a_dash() -> None:
    assert in_unit(math.nan, "nats") == "–"


@pytest.mark.parametrize(
    ("names", "heading"),
    [
        (["heads", "loop"], "Textbook claims about attention heads"),
        (["syntax"], "Claims about attention heads in training"),
        (["induction"], "Claims about the heads of decoders"),
        (["language-trees"], "Claims about one encoder of several languages"),
        (["induction", "heads"], "Textbook claims about attention heads"),
    ],
)
def test_a_page_is_named_by_what_all_of_its_claims_are_about(names: list[str], heading: str) -> None:
    page = ClaimsPage([ClaimRecord({"claim": name}, (), ()) for name in names])
    assert page.heading == heading
