"""The grid of heads and the sentences in a real browser: a chosen head is chosen everywhere, and text stays text."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reports.page.page import run_page
from reports.page.page_model import gather
from reports.scores.best_heads import best_heads

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page_path(attended_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grid") / "index.html"
    path.write_text(run_page(gather(attended_run)).html, encoding="utf-8")
    return path


def choose(page: Any, role: str, value: str) -> None:
    page.locator(f"[data-attention] [data-role={role}]").select_option(value)


def readout(page: Any) -> str:
    said: str = page.locator("[data-attention] > .readout").inner_text()
    return said.replace("\u2068", "").replace("\u2069", "")


def arcs(page: Any, kind: str = "") -> int:
    number: int = page.locator(f"[data-attention] .line svg path:not(.tip){kind}").count()
    return number


def test_a_click_in_the_grid_chooses_the_head_everywhere(opened: Any, page_path: Path, scores: pd.DataFrame):
    page = opened(page_path)
    best = best_heads(scores, "dependency")[0]
    cell = page.locator(f"[data-heads] [data-head='{best.name}']")
    cell.hover()
    said = page.locator("[data-heads] .readout").inner_text()
    assert said.startswith(f"Head {best.name}: ")
    assert " · n " in said
    cell.click()
    assert page.locator(".card h3").inner_text() == f"Head {best.name}"
    assert page.evaluate("location.hash") == f"#head-{best.name}"
    assert readout(page).startswith(f"Head {best.name} · ")
    marked = page.locator("[data-head][aria-selected=true]")
    assert marked.count() == page.locator(".grid").count() > 1
    assert set(marked.evaluate_all("cells => cells.map(cell => cell.dataset.head)")) == {best.name}
    rows = page.locator("#best tr.current")
    assert rows.count() == sum(one.name == best.name for part in gather_names(scores) for one in part)
    assert all(best.name in text for text in rows.all_inner_texts())
    assert page.evaluate("scrollY") < page.locator("#best").bounding_box()["y"] + page.evaluate("scrollY")


def gather_names(scores: pd.DataFrame) -> list[Any]:
    return [best_heads(scores, probe) for probe in scores["probe"].unique()]


def test_the_head_of_the_first_finding_is_open_unless_the_address_names_one(opened: Any, page_path: Path):
    page = opened(page_path)
    finding = page.locator(".leaders .head").first.inner_text()
    assert page.locator(".card h3").inner_text() == f"Head {finding}"
    assert opened(page_path, fragment="#head-6-12").locator(".card h3").inner_text() == "Head 6-12"


def test_arrows_move_in_the_grid_and_enter_chooses(opened: Any, page_path: Path):
    page = opened(page_path, fragment="#head-3-5")
    page.locator("[data-heads] td[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.locator("[data-heads] .readout").inner_text().startswith("Head 4-6: ")
    assert page.locator(".card h3").inner_text() == "Head 3-5", "moving does not choose"
    page.keyboard.press("Enter")
    assert page.locator(".card h3").inner_text() == "Head 4-6"
    choose(page, "head", "3-5")
    assert page.locator(".card h3").inner_text() == "Head 3-5"
    assert page.locator("[data-heads] td[aria-selected=true]").get_attribute("data-head") == "3-5"


def test_cells_carry_the_letter_of_the_role_and_a_legend_says_it(opened: Any, page_path: Path):
    page = opened(page_path)
    letters = page.locator(".roles td:not([class=''])").all_inner_texts()
    assert len(letters) == len(page.locator("[data-heads] td[class|=role]").all())
    legend = page.locator(".rolekeys li").all_inner_texts()
    obj = next(text for text in legend if "obj" in text.split())
    assert obj.split()[-2:] == ["dependency,", "5"]
    assert letters.count(obj[0]) == 5
    assert legend[-1].split()[-1] == str(72 - len(letters))
    page.locator("[data-heads] [data-role=probe]").select_option("coreference")
    assert page.locator(".rolekeys li").first.inner_text().split()[1:] == ["pronoun", "coreference,", "1"]
    assert page.locator("[data-heads] td[class|=role]").count() == 1


def test_the_slider_the_sentence_and_the_relation_change_the_drawing(opened: Any, page_path: Path):
    page = opened(page_path, fragment="#head-3-5")
    choose(page, "sentence", "0")
    assert arcs(page) == 10, "the previous word and [CLS] of five words; the first, which has none, [CLS] and [SEP]"
    slider = page.locator("[data-attention] [data-role=least]")
    slider.fill("11")
    assert page.locator("[data-attention] output").inner_text() == "11 %"
    assert arcs(page) == 5
    slider.fill("5")
    page.locator("[data-attention] [data-role=ends]").check()
    assert arcs(page) == 4
    choose(page, "relation", "dependency: det, dependent->head")
    assert page.locator(".line button.asked").all_inner_texts() == ["The", "the"]
    assert (arcs(page, ".right"), arcs(page, ".missed")) == (0, 2)
    assert readout(page).endswith("the strongest key is correct for 0 of 2 words")
    choose(page, "relation", "dependency: obj, dependent->head")
    assert page.locator("[data-attention] [data-role=sentence]").input_value() == "1", "the one that asks for it"
    assert (arcs(page, ".right"), arcs(page, ".missed")) == (1, 1)
    assert "unheard" not in page.locator("[data-attention] [data-role=relation]").inner_text()


def test_a_head_is_shown_on_a_sentence_that_asks_for_its_main_role(opened: Any, page_path: Path):
    page = opened(page_path, fragment="#head-1-1")
    assert page.locator("[data-attention] [data-role=sentence]").input_value() == "1"
    assert readout(page) == "Head 1-1 · dependency: obj, dependent->head: the strongest key is correct for 0 of 2 words"
    choose(page, "head", "6-12")
    assert "no main role" in readout(page)


def test_hostile_words_are_text_in_every_place(opened: Any, page_path: Path):
    page = opened(page_path, fragment="#head-3-5")
    page.on("dialog", lambda dialog: pytest.fail("a word ran as a script"))
    choose(page, "sentence", "1")
    words = ["<script>alert(1)</script>", '"a\'b"', "שלום", "🦉", "<b>&amp;"]
    assert page.locator(".line button bdi").all_inner_texts() == words
    assert set(page.locator(".line bdi").evaluate_all("all => all.map(one => one.dir)")) == {"auto"}
    page.locator("[data-attention] summary").click()
    assert page.locator("[data-attention] tbody th").all_inner_texts() == words
    assert page.locator("[data-attention] tbody tr").nth(1).all_inner_texts()[0].split("\t")[1:3] == [words[0], "80 %"]
    page.locator(".line button").nth(1).hover()
    assert readout(page) == f"{words[1]} attends to {words[0]} 80 %, [CLS] 10 %"
    assert words[0] in page.locator("[data-role=sentence] option").nth(1).inner_text()
    assert page.locator(".line script, .line b").count() == 0


def test_a_word_is_kept_by_a_press_and_pieces_come_on_demand(opened: Any, page_path: Path):
    page = opened(page_path, fragment="#head-3-5")
    choose(page, "sentence", "0")
    piece = page.locator(".line small").nth(1)
    assert not piece.is_visible()
    page.locator("[data-attention] [data-role=pieces]").check()
    assert piece.inner_text() == "ke ##ys"
    page.locator(".line button").nth(1).focus()
    page.keyboard.press("Enter")
    page.locator("[data-attention] summary").focus()
    assert readout(page).startswith("keys attends to The 80 %")
    assert page.locator(".line button[aria-pressed=true]").count() == 1
    assert arcs(page, ".dim") == 8


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_but_containers_scrolls_sideways_and_arcs_are_drawn(opened: Any, page_path: Path, width: int):
    page = opened(page_path, width=width, fragment="#head-3-5")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".line.down").count() == (width < 640)
    box, words = page.evaluate(
        "['svg', 'ol'].map((one) => document.querySelector(`.line ${one}`).getBoundingClientRect())"
    )
    if width < 640:
        assert box["left"] >= words["right"] - 1
        assert box["height"] <= words["height"] + 1
    else:
        assert box["bottom"] <= words["top"] + 1
