"""What a page reports of deciles and descriptions, from tables whose numbers are invented."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reports import Run, write_measures, write_report
from reports.studies.deciles.section import MEASURES, SHOWN, decile_results

HEADS = [(layer, head) for layer in range(2) for head in range(3)]
ODD = "<b>NOUN</b>→DET 40 %"


def decile(layer: int, head: int, part: int) -> dict[str, Any]:
    low, high = (part - 1) / 10, part / 10
    texts = {"tags": ODD, "relations": "no arc 90 %", "offsets": "-1 80 %", "random": f"s-1: 1→2 ({part} %)"}
    numbers = {"low": low, "high": high, "n": 70, "before": 0.5, "distance": 3.0, "arcs": 0.1 * head}
    strongest = "s-2: 3→4 (99.0 %)" if part == 10 else ""
    return {"layer": layer, "head": head, "decile": part, **numbers, **texts, "strongest": strongest}


def named(rows: list[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows).assign(model="m", step=pd.NA, corpus="sea")
    return frame.assign(name=[f"{row['layer'] + 1}-{row['head'] + 1}" for row in rows])


@pytest.fixture
def asked(run_folder: Path) -> Run:
    described = [
        {"layer": layer, "head": head, "description": f"Rule {head}.", "accuracy": 0.2 + 0.1 * head, "n": 900}
        for layer, head in HEADS
    ]
    table = named(described).assign(offset="the word before", offset_accuracy=0.2, random_accuracy=0.07, between=0.4)
    deciles = named([decile(*at, part) for at in HEADS for part in range(1, 11)])
    write_measures({"deciles": deciles, "descriptions": table.assign(gain=table.accuracy - 0.2)}, run_folder)
    return Run.open(run_folder)


def test_descriptions_stand_beside_an_offset_and_random_weights(asked: Run) -> None:
    found = decile_results(asked)
    assert found is not None
    own, better = found.sentences
    assert "mean accuracy of 30.0 % over heads, on 900 words" in own
    assert "offset reaches 20.0 %, and descriptions of a randomly initialised model 7.0 %" in own
    assert better.startswith("In 4 of 6 heads the sentence is more than 5 points better")
    assert [row[0] for row in found.table][:2] == ["1-3", "2-3"], "the most accurate first"


def test_the_plane_has_every_head_on_every_measure_and_its_deciles(asked: Run) -> None:
    found = decile_results(asked)
    assert found is not None
    plane = found.plane
    values = {one["title"]: one["values"] for one in plane["measures"]}
    assert values["accuracy of the description, %"] == pytest.approx([20, 30, 40] * 2)
    assert values["attention at which the tenth decile begins, %"] == pytest.approx([90] * 6)
    assert len(values) >= len(MEASURES)
    assert [cells[0] for cells in plane["deciles"]["2-1"]] == [str(part) for part in range(10, 0, -1)]
    assert len(plane["columns"]) == len(SHOWN)
    assert plane["strongest"]["1-1"] == "s-2: 3→4 (99.0 %)"


def test_the_page_holds_what_the_drawing_needs_and_no_markup_of_a_text(asked: Run, run_folder: Path) -> None:
    write_report(run_folder)
    html = (run_folder / "report" / "index.html").read_text(encoding="utf-8")
    part = re.search(
        r"<div class=\"deciles\" data-deciles>.*?<script type=\"application/json\">(.*?)</script>", html, re.S
    )
    assert part is not None
    found = decile_results(asked)
    assert found is not None
    assert json.loads(part[1])["heads"] == found.plane["heads"]
    assert "<b>NOUN" not in html
    assert "function decilePlane" in html
    markdown = (run_folder / "report" / "report.md").read_text(encoding="utf-8")
    assert "## All of a head's attention" in markdown
    assert "Rule 2." in markdown


def test_the_card_of_a_head_shows_its_deciles(asked: Run) -> None:
    card = str(asked.head("1-3"))
    assert "Rule 2. Accuracy on held-out text: 40.0 %;" in card
    assert "20.0 % (difference +20.0 points)" in card
    assert "Other words get 40.0 % of its attention" in card


def test_a_run_that_did_not_ask_has_no_section(run_folder: Path) -> None:
    assert decile_results(Run.open(run_folder)) is None


@pytest.mark.slow
def test_dots_and_the_grid_choose_the_same_head(asked: Run, run_folder: Path, opened: Any) -> None:
    write_report(run_folder)
    page = opened(run_folder / "report" / "index.html")
    page.locator("[data-deciles] circle[aria-label='Head 2-1']").click()
    assert page.locator("[data-deciles] .readout").inner_text().startswith("Head 2-1")
    assert page.locator("[data-deciles] tbody tr").count() == 10
    assert page.locator(".card h3").inner_text() == "Head 2-1"
    page.locator("[data-deciles] [data-role=find]").fill("rule 2.")
    assert page.locator("[data-deciles] circle.out").count() == 4
    assert page.locator("[data-deciles] output").inner_text() == "2 of 6 heads"
