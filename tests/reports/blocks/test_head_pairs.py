"""Heads on a plane and every two of them on a page in a browser, from invented tables."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reports.measures.registry import write_measures
from reports.page.page import run_page
from reports.page.page_model import gather

Tables = dict[str, pd.DataFrame]
NAMES = ["1-1", "1-2", "1-3", "2-1", "2-2"]


@pytest.fixture(scope="module")
def page_path(written_run: Path, head_tables: Tables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run with the tables; not to be changed."""
    folder = shutil.copytree(written_run, tmp_path_factory.mktemp("headset") / "minilm-ewt")
    write_measures(head_tables, folder)
    (folder / "index.html").write_text(run_page(gather(folder)).html, "utf-8")
    return folder / "index.html"


@pytest.fixture
def opened(browser: Any, page_path: Path) -> Iterator[Any]:
    """The page in a browser; fails at the end where it logged an error or asked for anything."""
    complaints: list[str] = []
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type in {"error", "warning"} else None)
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else complaints.append(asked.url))
    page.goto(page_path.as_uri() + "#head-2-1")
    yield page
    page.close()
    assert not complaints


@pytest.mark.slow
def test_the_plane_tells_heads_chooses_them_and_follows_the_page(opened: Any):
    plane = opened.locator("#headset [data-chart]").first
    plane.scroll_into_view_if_needed()
    heads = plane.locator(".mark-symbol.role-mark path")
    heads.first.wait_for()
    assert heads.count() == len(NAMES)
    heads.nth(3).hover()
    told = opened.locator("#chart-told.visible")
    told.wait_for()
    said = dict(row.split("\t") for row in told.inner_text().splitlines() if "\t" in row)
    assert (said["head"], said["group"], said["nearest head"]) == ("2-1", "2", "1-2")
    ringed = (
        "() => [...document.querySelectorAll('#headset .role-mark path')]"
        ".findIndex((path) => path.getAttribute('stroke-width') === '2.5')"
    )
    assert opened.evaluate(ringed) == 3, "the head of the address"
    heads.nth(1).click()
    opened.wait_for_function(f"({ringed})() === 1")
    assert opened.locator(".card h3").inner_text() == "Head 1-2"
    legend = plane.locator(".role-legend-label text").first
    light = legend.evaluate("(text) => getComputedStyle(text).fill")
    opened.emulate_media(color_scheme="dark")
    assert legend.evaluate("(text) => getComputedStyle(text).fill") != light


@pytest.mark.slow
def test_pointing_at_the_matrix_names_both_heads_and_their_distance(opened: Any):
    opened.locator("#headset [data-chart]").first.scroll_into_view_if_needed()
    opened.locator("#headset [data-chart=drawn]").first.wait_for()  # what is drawn above moves what is below
    canvas = opened.locator("[data-pairs] canvas")
    canvas.scroll_into_view_if_needed()
    opened.wait_for_timeout(500)
    box = canvas.bounding_box()
    cell = box["width"] / 5
    opened.mouse.move(box["x"] + 1.5 * cell, box["y"] + 3.5 * cell)
    assert opened.inner_text("[data-pairs] .readout").startswith("2-1")
    assert opened.inner_text("[data-pairs] .readout").endswith(": 0.200")
    opened.locator("[data-pairs] [data-role=measure]").select_option("1")
    opened.mouse.move(box["x"] + 0.5 * cell, box["y"] + 4.5 * cell)
    assert opened.inner_text("[data-pairs] .readout").endswith(": 0.600")
