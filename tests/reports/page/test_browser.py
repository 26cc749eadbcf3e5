"""The page of a run in a real browser: no error, nothing loaded, and what a reader clicks and types works."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reports.scores.best_heads import best_heads


def column(page: Any, table: str, index: int) -> list[str]:
    texts: list[str] = page.locator(f"{table} tbody tr td:nth-child({index})").all_inner_texts()
    return texts


@pytest.mark.slow
def test_a_click_sorts_and_missing_numbers_stay_last(opened: Any, report: Path):
    page = opened(report / "index.html")
    button = page.locator("#table-2 thead button", has_text="Accuracy")
    for direction in ("descending", "ascending"):
        button.click()
        cells = page.locator("#table-2 tbody tr td:nth-child(6)")
        shown = cells.evaluate_all("cells => cells.map((cell) => cell.dataset.v || '–')")
        numbers = [float(text) for text in shown if text != "–"]
        assert numbers == sorted(numbers, reverse=direction == "descending")
        assert shown[len(numbers) :] == ["–"] * 3
        assert page.locator("#table-2 thead th[aria-sort]").get_attribute("aria-sort") == direction


@pytest.mark.slow
def test_the_filter_hides_rows_and_counts_them(opened: Any, report: Path):
    page = opened(report / "index.html")
    page.fill("[data-filter=table-2]", "nsubj head->dep")
    visible = page.locator("#table-2 tbody tr:visible")
    assert visible.count() == 2
    assert page.locator(".tabletop output").nth(1).inner_text() == "2 of 45 rows"


@pytest.mark.slow
def test_the_heat_map_follows_its_selects_and_the_arrow_keys(opened: Any, report: Path, scores: pd.DataFrame):
    page = opened(report / "index.html")
    heat = page.locator("[data-heat]").nth(1)
    heat.locator("[data-role=label]").select_option("det")
    heat.locator("[data-role=variant]").select_option("head<-dependent")
    best = next(r for r in best_heads(scores, "dependency") if (r.label, r.variant) == ("det", "head<-dependent"))
    readout = heat.locator(".readout")
    assert f"Head {best.name} (chosen) · accuracy {100 * best.accuracy:.1f} %" in readout.inner_text()
    assert heat.locator("td.selected").inner_text() == f"{100 * best.accuracy:.0f}"
    heat.locator("td[tabindex='0']").focus()
    page.keyboard.press("ArrowUp" if best.layer else "ArrowDown")
    assert f"Head {best.layer if best.layer else 2}-{best.head + 1} " in readout.inner_text()
    heat.locator("[data-role=column]").select_option("share")
    heat.locator("[data-role=stretch]").check()
    assert heat.locator("td").count() == 72


@pytest.mark.slow
def test_verdicts_sort_with_the_strongest_first_and_adjusted_p_with_the_smallest(opened: Any, report: Path):
    page = opened(report / "index.html")
    page.locator("#table-2 thead button", has_text="Grade").click()
    shown = [" ".join(text.split()) for text in column(page, "#table-2", 4)]
    assert sorted([shown[0].partition(" 4 other heads")[0], shown[1].partition(" 4 other heads")[0]]) == [
        *("grade 1: beyond position and controls", "grade 2: beyond words"),
    ]
    assert [text.split()[0] for text in shown] == ["grade"] * 3 + ["no"] * 39 + ["–"] * 3
    page.locator("[data-more]").nth(1).check()
    page.locator("#table-2 thead button", has_text="Adj. p").first.click()
    assert column(page, "#table-2", 11)[:4] == ["< 0.001", "< 0.001", "0.012", "0.800"]


@pytest.mark.slow
def test_columns_beyond_the_first_need_are_folded_until_asked_for(opened: Any, report: Path):
    page = opened(report / "index.html")
    mass, margin = (page.locator("#table-2 thead th", has_text=text).first for text in ("Mass", "Margin"))
    other = page.locator("#table-3 thead th", has_text="Mass")
    assert (mass.is_visible(), margin.is_visible(), other.is_visible()) == (False, True, False)
    page.locator("[data-more]").nth(1).focus()
    page.keyboard.press("Space")
    assert (mass.is_visible(), margin.is_visible(), other.is_visible()) == (True, True, False)
    assert page.locator("#table-2 tbody tr").first.locator("td.more").count() == 16


@pytest.mark.slow
def test_specialised_heads_are_dotted_and_said_in_the_heat_map(opened: Any, report: Path):
    page = opened(report / "index.html")
    heat = page.locator("[data-heat]").nth(1)
    heat.locator("[data-role=label]").select_option("obj")
    heat.locator("[data-role=variant]").select_option("dependent->head")
    assert heat.locator("td.specialised").count() == 5
    labels = [cell.get_attribute("aria-label") for cell in heat.locator("td").all()]
    assert labels[0].startswith("Head 1-1 (grade 1: beyond position and controls) · accuracy")
    assert sum("(chosen, grade 1: beyond position and controls) ·" in label for label in labels) == 1
    heat.locator("[data-role=label]").select_option("det")
    assert "(chosen, grade 2: beyond words) · accuracy" in heat.locator(".readout").inner_text()
    assert heat.locator("td.specialised").count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("width", [380, 1280])
def test_nothing_but_containers_scrolls_sideways(opened: Any, report: Path, width: int):
    page = opened(report / "index.html", width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
