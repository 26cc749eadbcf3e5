"""The page of a run in a real browser: what a reader clicks, points at and types works, and text stays text."""

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reports import Run
from reports.formats import tenths
from reports.page.page import run_page
from reports.scores.best_heads import best_heads

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page_path(attended_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grid") / "index.html"
    path.write_text(run_page(Run.open(attended_run)).html, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def borderline_path(attended_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page that has all that a first screen may say: some heads are significant under some redraws alone."""
    folder = shutil.copytree(attended_run, tmp_path_factory.mktemp("borderline") / "minilm-ewt")
    scores = pd.read_parquet(folder / "scores.parquet")
    scores.loc[(scores["label"] == "obj") & (scores["grade"] > 0), "holds"] = 0.9
    scores.to_parquet(folder / "scores.parquet")
    path = folder / "index.html"
    path.write_text(run_page(Run.open(folder)).html, encoding="utf-8")
    return path


def choose(page: Any, role: str, value: str) -> None:
    page.locator(f"[data-attention] [data-role={role}]").select_option(value)


def readout(page: Any) -> str:
    said: str = page.locator("[data-attention] > .readout").inner_text()
    return said.replace("\u2068", "").replace("\u2069", "")


def arcs(page: Any, kind: str = "") -> int:
    number: int = page.locator(f"[data-attention] .line svg path:not(.tip){kind}").count()
    return number


WORDS = """() => {
  const screen = document.querySelector("#opening").cloneNode(true);
  screen.querySelectorAll("table, details, .legend").forEach((part) => part.remove());
  return screen.textContent.split(/\\s+/).filter(Boolean);
}"""


def test_the_first_screen_has_ninety_words_beside_its_table_and_none_that_need_a_glossary(
    opened: Any, borderline_path: Path
):
    page = opened(borderline_path)
    words = page.evaluate(WORDS)
    assert "borderline." in words
    assert "Borderline:" in words
    assert 30 < len(words) <= 90
    assert page.locator("#opening tbody tr").count() <= 8
    shown = f"{' '.join(words)} {page.locator('#opening table').inner_text()}".lower()
    for term in ("grade", "lead", "margin", "mass", "coverage", "share", "lift", "verdict", "label–direction"):
        assert term not in shown.split(), term


WIDER = "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.ariaLabel)"
"Names of the tables that have more columns than room."


@pytest.mark.parametrize("width", [390, 1280])
def test_no_table_is_cut_off_nothing_else_scrolls_sideways_and_a_narrow_table_says_accuracy(
    opened: Any, page_path: Path, width: int
):
    page = opened(page_path, width=width, fragment="#head-3-5")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".line.down").count() == (width < 640)
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    assert page.locator(".scroll").evaluate_all(WIDER) == []
    for section in ("opening", "heads", "best"):
        cell = page.locator(f"#{section} .answers tbody tr").first.locator("td.strong")
        assert cell.is_visible()
        said = cell.evaluate("cell => getComputedStyle(cell, '::before').content")
        assert said == ('"Accuracy, %: "' if width == 390 else "none")


def test_tables_sort_with_missing_numbers_last_unfold_and_filter(opened: Any, page_path: Path):
    page = opened(page_path)
    button = page.locator("#table-2 thead button", has_text="Accuracy")
    for direction in ("descending", "ascending"):
        button.click()
        cells = page.locator("#table-2 tbody tr td:nth-child(4)")
        shown = cells.evaluate_all("cells => cells.map((cell) => cell.dataset.v || '–')")
        numbers = [float(text) for text in shown if text != "–"]
        assert numbers == sorted(numbers, reverse=direction == "descending")
        assert shown[len(numbers) :] == ["–"] * 3
        assert page.locator("#table-2 thead th[aria-sort]").get_attribute("aria-sort") == direction
    mass = page.locator("#table-2 thead th", has_text="Mass").first
    assert not mass.is_visible()
    label = page.locator("#table-2 thead th", has_text="Label")
    assert not label.is_visible(), "codes are behind all columns"
    page.locator("#best [data-more]").nth(1).check()
    assert mass.is_visible()
    assert label.is_visible()
    assert "of the probe" in (label.locator("button").get_attribute("title") or "")
    page.fill("[data-filter=table-2]", "nsubj head->dep")
    assert page.locator("#table-2 tbody tr:visible").count() == 2
    assert page.locator("#best .tabletop output").nth(1).inner_text() == "2 of 45 rows"


def test_a_click_in_the_grid_chooses_the_head_everywhere(opened: Any, page_path: Path, scores: pd.DataFrame):
    page = opened(page_path)
    best = best_heads(scores, "dependency")[0]
    page.locator(f"[data-heads] [data-head='{best.name}']").click()
    assert page.locator("[data-heads] .readout").inner_text().startswith(f"Head {best.name}: ")
    assert page.locator(".card h3").inner_text() == f"Head {best.name}"
    assert page.evaluate("location.hash") == f"#head-{best.name}"
    assert readout(page).startswith(f"Head {best.name} · ")
    marked = page.locator("[data-head][aria-selected=true]")
    assert marked.count() == page.locator(".grid").count()
    assert set(marked.evaluate_all("cells => cells.map(cell => cell.dataset.head)")) == {best.name}
    chosen = [row.name for probe in scores["probe"].unique() for row in best_heads(scores, probe)]
    assert page.locator("#best tr.current").count() == chosen.count(best.name)


def test_arrows_move_in_the_grid_and_enter_chooses(opened: Any, page_path: Path):
    page = opened(page_path, fragment="#head-3-5")
    page.locator("[data-heads] td[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.locator("[data-heads] .readout").inner_text().startswith("Head 4-6: ")
    assert page.locator(".card h3").inner_text() == "Head 3-5", "moving does not choose"
    page.keyboard.press("Enter")
    assert page.locator(".card h3").inner_text() == "Head 4-6"
    page.locator("[data-heads] [data-role=colour]").select_option("coreference")
    assert page.locator(".rolekeys li").first.inner_text().split()[1:] == ["pronoun", "coreference,", "5-9"]


def test_the_grid_and_the_scatter_have_the_colours_of_a_number_with_its_ends(
    opened: Any, page_path: Path, scores: pd.DataFrame
):
    page = opened(page_path)
    page.locator("[data-role=colour]").select_option("accuracy: from an article or other determiner to its noun")
    rows = scores[(scores["label"] == "det") & (scores["variant"] == "dependent->head") & (scores["split"] == "report")]
    shown = [tenths(accuracy) or 0 for accuracy in rows["accuracy"]]
    cells = page.locator("[data-heads] .grid td")
    assert cells.all_inner_texts() == [f"{(one + 5) // 10}" for one in shown]
    ends = [f"{(one + 5) // 10} %" for one in (min(shown), max(shown))]
    assert page.locator("[data-heads] .scale span").all_inner_texts() == [*ends, "• significant"]
    assert page.locator("[data-heads] td.specialised").count() == (rows["grade"] > 0).sum() > 0
    assert "a table of words and distances" in page.locator("[data-heads] .readout").inner_text()
    assert page.locator(".rolekeys").is_hidden()
    assert cells.nth(16).get_attribute("aria-label").startswith("Head 2-5: accuracy: from an article or ")
    dots = page.locator(".cloud circle")
    colours = "all => all.map((one) => getComputedStyle(one)[{}])"
    fills = dots.evaluate_all(colours.format("'fill'"))
    assert sorted(fills) == sorted(cells.evaluate_all(colours.format("'backgroundColor'")))
    page.locator("[data-role=colour]").select_option("any probe")
    assert page.locator("[data-heads] .scale").is_hidden()


def test_a_dot_reads_out_its_head_marks_its_cell_and_chooses_it(opened: Any, page_path: Path):
    page = opened(page_path)
    for axis, number in (("x", "layer"), ("y", "accuracy: from an object to its verb")):
        page.locator(f"[data-role={axis}]").select_option(number)
    dots, heights = page.locator(".cloud circle"), list[int]()
    assert dots.count() == 72
    name = page.locator(".cloud svg").get_attribute("aria-label")
    assert name == "A dot for each head: accuracy: from an object to its verb, %, against layer"
    places = dots.evaluate_all("all => all.map((dot) => Number(dot.getAttribute('cx')))")
    assert len({round(place) for place in places}) == 6, "a place for each layer"
    for place in (0, 30, 60, 0):
        dots.evaluate_all("(all, place) => all[place].dispatchEvent(new Event('pointerenter'))", place)
        heights.append(page.locator("[data-heads] > div > .readout").evaluate("one => one.offsetHeight"))
    assert heights == sorted(heights), "what is pointed at would move from under the pointer"
    pointed = page.locator("[data-heads] .grid td.pointed")
    assert pointed.count() == 1
    head = pointed.get_attribute("data-head")
    told = page.locator("[data-heads] > div > .readout").inner_text()
    assert told.startswith(f"Head {head}: ")
    assert f"layer: {head[0]} · accuracy: from an object to its verb: " in told
    page.locator(".cloud circle.pointed").dispatch_event("click")
    assert page.locator(".card h3").inner_text() == f"Head {head}"
    assert page.locator(".cloud circle.current").count() == 1
    assert page.locator("[data-heads] td[aria-selected=true]").get_attribute("data-head") == head


def test_the_first_finding_opens_and_another_colour_does_not_change_the_head(opened: Any, page_path: Path):
    page = opened(page_path)
    finding = page.locator(".answers tr:has(.badge) .head").first.inner_text()
    for colour in ("coreference", "position", "linguistic roles"):
        page.locator("[data-role=colour]").select_option(colour)
        assert page.locator(".card h3").inner_text() == f"Head {finding}"
        assert page.locator("[data-heads] td[aria-selected=true]").get_attribute("data-head") == finding


def test_a_line_for_each_head_sorts_and_the_card_has_a_command_that_ablates_its_head(opened: Any, page_path: Path):
    page = opened(page_path)
    page.locator("#heads summary", has_text="All 72 heads as a list").click()
    heads = page.locator("#table-heads tbody th")
    assert heads.count() == 72
    assert heads.first.inner_text() == "1-1"
    page.locator("#table-heads thead button", has_text="Accuracy").click()
    shown = page.locator("#table-heads tbody td.strong").evaluate_all("all => all.map((one) => Number(one.dataset.v))")
    assert shown == sorted(shown, reverse=True)
    heads.first.locator("a").click()
    name = heads.first.inner_text()
    assert page.locator(".card pre").inner_text() == (
        f"""python -c 'import headscope as hs; print(hs.ablate(hs.load("minilm"), "{name}", """
        """"The keys to the cabinet are on the table ."))'"""
    )


OUTSIDE = """all => all.filter((one) => {
  const text = document.createRange();
  text.selectNodeContents(one);
  const [card, words] = [one.closest(".card").getBoundingClientRect(), text.getBoundingClientRect()];
  if (!one.checkVisibility()) return false;
  return words.left < card.left || words.right > card.right || one.scrollWidth > one.clientWidth + 1;
}).map((one) => one.textContent)"""
"Texts that reach beyond the card, or have more to show than room."


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_no_word_or_number_of_a_card_is_cut_off(opened: Any, page_path: Path, scores: pd.DataFrame, width: int):
    page = opened(page_path, width=width)
    for name in dict.fromkeys(row.name for probe in scores["probe"].unique() for row in best_heads(scores, probe)[:3]):
        page.locator("[data-heads] [data-role=head]").select_option(name)
        page.locator(".card details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
        assert page.locator(".card :is(h3, h4, p, th, td, dt, dd, summary)").evaluate_all(OUTSIDE) == []
        assert page.locator(".card").evaluate("card => card.scrollHeight <= card.clientHeight + 1")
    assert page.locator(".card table").first.locator("tbody td").first.is_visible()


def test_grades_and_margins_are_folded_with_their_meaning(opened: Any, page_path: Path):
    page = opened(page_path)
    titles = page.locator(".card table").first.locator("th").all_inner_texts()
    assert titles == ["the head attends", "accuracy, %", "interval", "strongest baseline, %", "significant"]
    assert "grade" not in page.locator("#heads").inner_text()
    page.locator(".card summary").click()
    folded = ["label", "direction", "margin, points", "interval", "grade"]
    assert page.locator(".card details th").all_inner_texts() == ["the head attends", *folded]
    assert page.locator(".card details dt").all_inner_texts() == [one.partition(",")[0] for one in folded]
    page.locator("[data-heads] [data-role=head]").select_option("1-1")
    assert page.locator(".card details[open]").count() == 1, "it stays open for the next head"


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
    choose(page, "relation", "dependency: from an article or other determiner to its noun")
    assert page.locator(".line button.asked").all_inner_texts() == ["The", "the"]
    assert (arcs(page, ".right"), arcs(page, ".missed")) == (0, 2)
    assert readout(page).endswith("the strongest key is correct for 0 of 2 words")
    choose(page, "relation", "dependency: from an object to its verb")
    assert page.locator("[data-attention] [data-role=sentence]").input_value() == "1", "the one that asks for it"
    assert (arcs(page, ".right"), arcs(page, ".missed")) == (1, 1)


def test_hostile_words_are_text_in_every_place(opened: Any, page_path: Path):
    page = opened(page_path, fragment="#head-3-5")
    page.on("dialog", lambda dialog: pytest.fail("a word ran as a script"))
    choose(page, "sentence", "1")
    words = ["<script>alert(1)</script>", '"a\'b"', "שלום", "🦉", "<b>&amp;"]
    assert page.locator(".line button bdi").all_inner_texts() == words
    page.locator("[data-attention] summary").click()
    assert page.locator("[data-attention] tbody th").all_inner_texts() == words
    page.locator(".line button").nth(1).hover()
    assert readout(page) == f"{words[1]} attends to {words[0]} 80 %, [CLS] 10 %"
    assert words[0] in page.locator("[data-role=sentence] option").nth(1).inner_text()
    assert page.locator(".line script, .line b").count() == 0
