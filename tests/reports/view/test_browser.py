"""The page of one's own texts in a real browser: every choice that it offers, long and hostile texts, panels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports import Run, write_view
from reports.heads.card_parts import ROLE_COLUMNS
from reports.view.view import KnownRole, Panel, TextAttention, known_roles
from tests.reports.views import attention, level, random_maps

WORDS = ["[CLS]", "Mira", "gave", "her", "brother", "a", "book", ".", "[SEP]"]
HOSTILE = ["[CLS]", "<script>alert(1)</script>", "\"'&amp;", "שלום!", "عالم", "😀", "<b>x</b>", "[SEP]"]
PIECES = [*WORDS[:4], "bro", "##ther", *WORDS[5:]]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One model on two texts, with a role; the first text has a word of two pieces, the second is hostile."""
    views = [
        attention(WORDS, shape=(6, 12), title="a gift", pieces=PIECES),
        attention(HOSTILE, shape=(6, 12), title="<i>odd</i>"),
    ]
    roles = {"1-2": KnownRole(("dependency", "<b>det"), "says <b>det", (ROLE_COLUMNS,))}
    return write_view(tmp_path_factory.mktemp("view") / "view.html", [Panel("m", views, roles)])


def texts(page: Any, selector: str) -> list[str]:
    found: list[str] = page.locator(selector).all_text_contents()
    return found


def test_axe_finds_no_serious_fault_of_accessibility(serious_faults: Callable[[Path], list[str]], view: Path) -> None:
    assert serious_faults(view) == []


def test_arrows_move_between_heads_and_the_address_keeps_the_head(opened: Any, view: Path):
    page = opened(view, width=380, fragment="#3-5")
    page.locator(".frame").wait_for(state="attached")
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    assert page.inner_text(".name") == "Head 3-5"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.inner_text(".name") == "Head 4-6"
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    assert page.inner_text(".name") == "Head 4-1"
    page.locator(".grid button").nth(71).click()
    assert page.evaluate("location.hash") == "#6-12"
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "head 5-12"


def test_pointing_at_a_word_shows_its_row_and_a_press_keeps_it(opened: Any, view: Path):
    page = opened(view, fragment="#nonsense")
    word = page.locator(".from button").nth(2)
    word.hover()
    assert page.inner_text(".name") == "Head 1-2", "the first of the run"
    assert page.inner_text(".said").startswith("gave attends to ")
    assert page.locator(".lines path.dim").count() > page.locator(".lines path:not(.dim)").count()
    word.click()
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    assert page.inner_text(".said").startswith("gave attends to ")
    assert word.get_attribute("aria-pressed") == "true"


def test_the_slider_special_tokens_and_pieces_decide_which_lines_are_drawn(opened: Any, view: Path):
    page = opened(view)
    page.locator(".lines path").first.wait_for(state="attached")
    weights = page.evaluate("[...panels[0].maps.bytes.slice(81, 162)]")
    for least in (4, 30, 0):
        page.locator("#least").fill(str(least))
        expected = sum(w / 255 >= max(least / 100, 0.004) for w in weights)
        assert page.locator(".lines path").count() == expected
        assert page.inner_text("#leastsaid") == f"{least} %"
    assert page.locator(".lines path title", has_text="[SEP]").count() > 0
    page.check("#hide")
    assert page.locator(".lines path title", has_text="[SEP]").count() == 0
    page.check("#pieces")
    page.locator(".from button", has_text="##ther").wait_for()
    assert texts(page, ".from button") == texts(page, ".to li") == PIECES


def test_the_chooser_shows_another_text_and_hostile_words_are_text(opened: Any, view: Path):
    page = opened(view, fragment="#3-5")
    assert texts(page, "#view option") == ["a gift", "<i>odd</i>"]
    page.select_option("#view", "1")
    page.locator(".from button", has_text="😀").wait_for()
    assert texts(page, ".from button") == texts(page, ".to li") == HOSTILE
    page.locator(".from button").nth(1).hover()
    assert page.inner_text(".said").startswith("<script>alert(1)</script> attends to ")
    assert texts(page, ".legend li") == ["B<b>det dependency, 1 head"]
    page.evaluate("location.hash = '1-2'")
    page.locator(".name", has_text="1-2").wait_for()
    assert page.text_content(".role") == "Bsays <b>det"
    assert page.locator("main script, main b:not(.badge):not(.where b)").count() == 0


def test_panels_share_the_head_and_the_word_that_is_pointed_at(opened: Any, tmp_path: Path):
    keys = ["[CLS]", "Mira", "gab", "[SEP]"]
    crossed = level(random_maps(2, 3, len(WORDS), len(keys)), WORDS, keys, special=[0])
    panels = [
        Panel("large", [attention(WORDS, shape=(6, 12))]),
        Panel("small", [attention(WORDS, shape=(2, 3), seed=9)]),
        Panel("crossing", [TextAttention("", "a → b", crossed, crossed, crossed=True)]),
    ]
    page = opened(write_view(tmp_path / "view.html", panels))
    page.locator(".frame").nth(2).wait_for(state="attached")
    assert [page.locator(".panel").nth(i).locator(".grid button").count() for i in range(3)] == [72, 6, 6]
    page.locator(".panel").nth(1).locator(".grid button").nth(4).click()
    assert texts(page, ".name") == ["Head 2-2"] * 3
    page.locator(".panel").nth(1).locator(".from button").nth(2).hover()
    assert [said.startswith("gave attends to ") for said in texts(page, ".said")] == [True, True, True]
    assert texts(page, ".to")[2] == "[CLS]Miragab[SEP]"
    page.locator(".panel").first.locator(".grid button").nth(40).click()
    missing = "Head 4-5 is not in this one, of 2 layers of 3 heads"
    assert texts(page, ".name") == ["Head 4-5", missing, missing]


def test_a_long_text_draws_its_strongest_lines(opened: Any, tmp_path: Path):
    words = ["[CLS]", *(f"w{i}" for i in range(148)), "[SEP]"]
    page = opened(write_view(tmp_path / "view.html", [Panel("m", [attention(words, shape=(1, 2))])]))
    page.locator(".frame").wait_for(state="attached")
    page.locator("#least").fill("0")
    assert page.locator(".lines path").count() == 3000
    assert "the 3,000 strongest of " in page.inner_text(".most")


def test_a_head_has_the_letter_and_the_colours_that_it_has_in_the_report_of_the_run(
    opened: Any, report: Path, tmp_path: Path
):
    run = Run.open(report.parent)
    attended = attention(WORDS, shape=(run.layers, run.heads))
    viewed = opened(write_view(tmp_path / "view.html", [Panel("m", [attended], known_roles(run))]))
    viewed.locator(".frame").wait_for(state="attached")
    look = "one => [one.textContent, getComputedStyle(one).backgroundColor, getComputedStyle(one).color]"
    badges = viewed.locator(".grid button").evaluate_all(
        f"all => all.map(one => one.querySelector('.badge')).map(one => one && ({look})(one))"
    )
    reported = opened(report / "index.html")
    reported.locator("[data-heads] [data-role=colour]").select_option(label="any probe")
    cells = reported.locator("[data-heads] td[data-head]").evaluate_all(
        f"all => all.map(one => one.className ? ({look})(one) : null)"
    )
    assert badges == cells
    assert len({tuple(cell) for cell in cells if cell}) > 2
