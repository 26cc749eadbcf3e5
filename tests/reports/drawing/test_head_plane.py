"""Heads on a plane on a page in a browser, from invented tables."""

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reports import Run, write_measures
from reports.page.page import run_page

pytestmark = pytest.mark.slow


@pytest.fixture
def page(written_run: Path, head_tables: dict[str, pd.DataFrame], tmp_path: Path, opened: Any) -> Any:
    folder = shutil.copytree(written_run, tmp_path / "minilm-ewt")
    write_measures(head_tables, folder)
    (folder / "index.html").write_text(run_page(Run.open(folder)).html, "utf-8")
    return opened(folder / "index.html", width=390, fragment="#head-2-1")


def test_the_plane_tells_heads_and_chooses_them(page: Any):
    plane = page.locator("#headset [data-chart]").first
    plane.scroll_into_view_if_needed()
    heads = plane.locator(".mark-symbol.role-mark path")
    heads.first.wait_for()
    assert heads.count() == 5
    heads.nth(3).hover()
    told = page.locator("#chart-told.visible")
    told.wait_for()
    said = dict(row.split("\t") for row in told.inner_text().splitlines() if "\t" in row)
    assert (said["head"], said["group"], said["nearest head"]) == ("2-1", "2", "1-2")
    ringed = (
        "() => [...document.querySelectorAll('#headset .role-mark path')]"
        ".findIndex((path) => path.getAttribute('stroke-width') === '2.5')"
    )
    assert page.evaluate(ringed) == 3, "the head of the address"
    heads.nth(1).click()
    page.wait_for_function(f"({ringed})() === 1")
    assert page.locator(".card h3").inner_text() == "Head 1-2"


def test_all_charts_are_drawn_before_the_page_is_printed(page: Any):
    states = "[...document.querySelectorAll('[data-chart]')].map((chart) => chart.dataset.chart)"
    assert "" in page.evaluate(states), "those far from the screen wait"
    page.pdf()
    assert page.evaluate(states) == ["drawn"] * 4
