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
from reports.statements.claim_record import ClaimMeasure, ConditionMean, Row
from reports.statements.figure import Figure
from reports.statements.statement import Number

HOSTILE = '<b>&"|</script>`'


def cell(condition: str, at: float | None, value: float | None, half: float = 0.1) -> dict[str, Any]:
    ends = (None, None) if value is None else (value - half, value + half)
    return {"condition": condition, "at": at, "value": value, "low": ends[0], "high": ends[1], "n": 5}


def measure(name: str, unit: str, cells: list[dict[str, Any]], axis: str = "") -> dict[str, Any]:
    places = [{name: one[name] for name in ("condition", "at", "value")} for one in cells]
    rows = [place | {"repeat": repeat} for place in places for repeat in (0, 1)]
    return {"name": name, "unit": unit, "repeat": "seed", "axis": axis, "cells": cells, "rows": rows}


def statement(text: str, verdict: str, value: float | None, half: float, unit: str, why: str = "") -> dict[str, Any]:
    number = {name: one for name, one in cell("", None, value, half).items() if name not in ("condition", "at")}
    about = {"text": text, "number": "what is counted", "unit": unit, "rule": "Holds if so.", "verdict": verdict}
    return about | number | {"kind": "identity" if why else "claim", "why": why}


def claim(name: str, statements: list[dict[str, Any]], measures: list[dict[str, Any]]) -> dict[str, Any]:
    about = {"claim": name, "name": name, "title": f"{name} {HOSTILE}", "sentence": f"It is said that {name} matters."}
    lists = {"about": ["It was measured."], "limits": ["It is small."], "noticed": ["It was noticed."]}
    made = {"config_file": f"{name}.toml", "changes": ["rounds=3"], "config": f'claim = "{name}"\n'}
    machine = {"started": "2026-11-21T09:02:30Z", "git_commit": "5d0c3e9a71b2f488", "wall_seconds": 150.4}
    found = {"source": "Vaswani et al. 2017", "statements": statements, "measures": measures}
    return about | lists | made | machine | found


LENGTHS = [cell(name, at, value) for name in ("a", HOSTILE) for at, value in ((16, 1.5), (64, 2.5), (256, 9.0))]
RECORDS = (
    claim(
        "mixing",
        [statement("They add up", "does not hold", 0.0213, 0.01, "%")],
        [measure("accuracy", "%", [cell("one head", None, 0.75), cell(HOSTILE, None, None)])],
    ),
    claim(
        "compute",
        [
            statement("It is equal", "holds", 1.0, 0.0, "times"),
            statement("It is faster", "not decided", 1.234567, 0.02, "times"),
            statement(f"Products {HOSTILE}", "holds", 1.0, 0.0, "times", f"they are the same {HOSTILE}"),
        ],
        [measure("time a token", "µs", LENGTHS, "length")],
    ),
)


@pytest.fixture
def pages(tmp_path: Path) -> tuple[str, str]:
    """Write the page of the records; return it as HTML and as Markdown."""
    for record in RECORDS:
        (tmp_path / record["name"]).mkdir()
        (tmp_path / record["name"] / "claim.json").write_text(json.dumps(record))
    page = write_claims_page(tmp_path)
    return page.read_text(encoding="utf-8"), (tmp_path / "report.md").read_text(encoding="utf-8")


def test_verdicts_and_numbers_are_on_the_page_in_the_order_of_the_registry(pages: tuple[str, str]) -> None:
    html, _ = pages
    text = " ".join(re.sub(r"<[^>]+>", " ", html[html.index("<body>") :]).split())
    for said in (
        "Of 3 statements of 2 claims 1 holds, 1 does not hold and 1 is undecided. Not counted, as they hold by",
        "It is equal", "1.235 times [1.215, 1.255]", "2.1 % [1.1, 3.1]", "2.50 µs [2.40, 2.60]", "– %",
        "It is said that mixing matters.", "It was noticed.", "It was measured.", "It is small.",
        "what is counted; 5 repeats", "Holds if so.", "compute.toml", "5d0c3e9a71b2f488", "2 min 30 s",
        "headscope claim compute.toml --set rounds=3", 'claim = "compute"',
    ):  # fmt: skip
        assert said in text.replace("&#34;", '"'), said
    assert text.index("It is said that compute matters") < text.index("It is said that mixing matters")
    verdicts, apart = text.split("Identities and measurements, not counted", 1)
    assert "Products" in apart
    assert "Products" not in verdicts
    assert HOSTILE not in text
    assert len(re.findall('<td class="missed"[^>]*>does not hold</td>', html)) == 2  # in the summary and in its section
    assert not re.search(r"(src|href)=\"(?!#|data:,)", html.partition("/*! Vega ")[0])


@pytest.mark.usefixtures("pages")
def test_what_does_not_hold_stands_first_on_one_screen(
    page_faults: Callable[[Path], list[str]], tmp_path: Path
) -> None:
    assert page_faults(tmp_path) == []
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("| ")][1:] == [
        "| They add up | does not hold | 2.1 % [1.1, 3.1] |",
        "| It is faster | not decided | 1.235 times [1.215, 1.255] |",
        "| It is equal | holds | 1 times |",
    ]
    assert "    headscope claim compute.toml --set rounds=3\n    headscope claim mixing.toml --set rounds=3" in text
    assert HOSTILE not in text


@pytest.mark.usefixtures("pages")
def test_axe_finds_no_serious_fault(serious_faults: Callable[[Path], list[str]], tmp_path: Path) -> None:
    assert serious_faults(tmp_path / "index.html") == []


def test_many_claims_fit_on_a_screen_too(more_than_a_screen: Callable[[Path], list[str]], tmp_path: Path) -> None:
    for number in range(8):
        texts = [f"Statement {number}-{place} holds in every training run of this encoder" for place in range(3)]
        record = claim(f"claim-{number}", [statement(one, "holds", 1.5, 0.1, "nats") for one in texts], [])
        (tmp_path / record["name"]).mkdir()
        (tmp_path / record["name"] / "claim.json").write_text(json.dumps(record))
    write_claims_page(tmp_path)
    assert more_than_a_screen(tmp_path) == []
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    shown = re.findall(r"Statement (\d-\d)", text)
    assert shown == [*(f"{one}-0" for one in range(8)), *(f"{one}-1" for one in range(4))], "the first of each claim"
    assert "… and 12 more in the claim.json of each claim." in text


NAN = math.nan


def number(value: float, half: float = NAN, unit: str = "µs") -> Number:
    return Number(value, value - half, value + half, 5, unit)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> Callable[[ClaimMeasure], Figure]:
    """Return what gives the figure that a measure is drawn as."""
    drawn: list[Figure] = []
    monkeypatch.setattr(claim_page, "figure_chart", drawn.append)

    def figure(measure: ClaimMeasure) -> Figure:
        claim_charts([ClaimMeasure("none", "", "seed", "", (), ()), measure])
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
    cells: list[tuple[int, float]], unit: str, log: str, figures: Callable[[ClaimMeasure], Figure]
) -> None:
    means = tuple(ConditionMean("a", at, number(value, unit=unit)) for at, value in cells)
    found = figures(ClaimMeasure("time", unit, "round", "length", means, ()))
    assert (found.kind, found.log, found.across) == ("lines", log, "length")
    assert [point[:2] for point in found.points["a"]] == cells


def test_conditions_without_an_axis_stand_beside_each_other_in_percent_with_their_repeats(
    figures: Callable[[ClaimMeasure], Figure],
) -> None:
    cells = (ConditionMean("one", None, number(0.75, 0.125, "%")), ConditionMean("gone", None, number(NAN)))
    single = (("one", 0.5), ("one", 1.0), ("one", NAN), ("gone", 0.5))
    repeats = tuple(Row(condition, None, seed, value) for seed, (condition, value) in enumerate(single))
    found = figures(ClaimMeasure("accuracy", "%", "seed", "", cells, repeats))
    assert (found.kind, found.names, found.title) == ("dots", ["one", "gone"], "Accuracy (%)")
    ends = [(0, 50, 50, 50), (0, 100, 100, 100)]
    assert found.points == {"single seeds": ends, "mean": [(0, 75, 62.5, 87.5)]}, "a repeat alone is the mean"
