"""The page of the claims, from small records whose numbers were set by hand."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports.statements import claim_page
from reports.statements.claim_page import claim_charts, write_claims_page
from reports.statements.claim_record import ConditionMean, Number, RecordedMeasure
from reports.statements.figure import Figure

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


def test_tables_fit_and_axe_finds_no_serious_fault(
    too_wide: Callable[[Path], list[str]],
    serious_faults: Callable[[Path], list[str]],
    records: list[dict[str, Any]],
    write: Written,
    tmp_path: Path,
) -> None:
    write(records)
    assert too_wide(tmp_path) == []
    assert serious_faults(tmp_path / "index.html") == []


NAN = math.nan


def number(value: float, half: float = NAN, unit: str = "µs") -> Number:
    return Number(value, value - half, value + half, 5, unit)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> Callable[[RecordedMeasure], Figure]:
    """Return what gives the figure that a measure is drawn as."""
    drawn: list[Figure] = []
    monkeypatch.setattr(claim_page, "figure_chart", drawn.append)

    def figure(measure: RecordedMeasure) -> Figure:
        claim_charts([RecordedMeasure("none", "", "seed", "", (), ()), measure])
        return drawn[-1]

    return figure


@pytest.mark.parametrize(
    ("cells", "unit", "log"),
    [
        ([(16, 1.5), (64, 2.5), (256, 9.0)], "µs", "x"),
        ([(1, 1.0), (4, 30.0)], "µs", "y"),
        ([(1, 1.0), (4, 30.0)], "", ""),
        ([(1, -1.0), (8, 30.0)], "times", "x"),
    ],
)
def test_lines_lie_on_the_axes_that_their_numbers_ask_for(
    cells: list[tuple[int, float]], unit: str, log: str, figures: Callable[[RecordedMeasure], Figure]
) -> None:
    means = tuple(ConditionMean("a", at, number(value, unit=unit)) for at, value in cells)
    found = figures(RecordedMeasure("time", unit, "round", "length", means, ()))
    assert (found.kind, found.log, found.across) == ("lines", log, "length")
    assert [point[:2] for point in found.points["a"]] == cells


def test_conditions_without_an_axis_stand_beside_each_other_in_percent_with_their_repeats(
    figures: Callable[[RecordedMeasure], Figure],
) -> None:
    cells = (ConditionMean("one", None, number(0.75, 0.125, "%")), ConditionMean("gone", None, number(NAN)))
    repeats = (("one", None, 0.5), ("one", None, 1.0), ("one", None, NAN), ("gone", None, 0.5))
    found = figures(RecordedMeasure("accuracy", "%", "seed", "", cells, repeats))
    assert (found.kind, found.names, found.title) == ("dots", ["one", "gone"], "Accuracy (%)")
    ends = [(0, 50, 50, 50), (0, 100, 100, 100)]
    assert found.points == {"single seeds": ends, "mean": [(0, 75, 62.5, 87.5)]}, "a repeat alone is the mean"
