"""What a page does for those who print it, read it on a phone, or move by keyboard."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SHOWN = (
    "(name) => document.querySelector(name).checkVisibility({contentVisibilityAuto: true, visibilityProperty: true})"
)


@pytest.fixture
def page(browser: Any, report: Path) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1200, "height": 900})
    opened.goto((report / "index.html").as_uri())
    yield opened
    opened.close()


@pytest.mark.slow
def test_print_shows_what_is_folded_and_no_controls(page: Any) -> None:
    page.locator("section#meaning .fold").click()
    folded = ("#summary .rule", "#provenance pre", "#meaning dl")
    assert [page.evaluate(SHOWN, one) for one in folded] == [False, False, False]
    page.emulate_media(media="print", color_scheme="dark")
    for one in folded:
        page.wait_for_function(SHOWN, arg=one)
    for control in ("nav", ".controls", ".filter input", ".fold", ".back", ".skip"):
        assert not page.evaluate(SHOWN, control), control
    ink = "getComputedStyle(document.body).{}"
    assert page.evaluate(ink.format("color")) == "rgb(0, 0, 0)"
    assert page.evaluate(ink.format("backgroundColor")) == "rgb(255, 255, 255)"


def test_print_unfolds_also_where_a_browser_does_not_know_how_by_style(page: Any) -> None:
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not page.locator("#summary").evaluate("(one) => one.open")


@pytest.mark.slow
def test_a_section_folds_at_its_heading_by_keyboard_and_a_link_unfolds_it(page: Any) -> None:
    button = page.locator("#controls .fold")
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "false"
    assert button.get_attribute("aria-label") == "Section Baselines and controls"
    assert page.locator("#controls h2").is_visible()
    assert not page.locator("#controls p").first.is_visible()
    page.locator("#sections a", has_text="Baselines and controls").click()
    assert page.locator("#controls p").first.is_visible()


def test_the_first_key_skips_to_the_answers(page: Any) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the summary"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#opening"


def test_every_drawing_has_words_or_is_beside_its_numbers(report: Path) -> None:
    html = (report / "index.html").read_text(encoding="utf-8")
    drawings = re.findall(r"<svg[^>]*>(?:\s*<title>)?", html)
    assert drawings
    hidden = re.findall(r'aria-hidden="true">(?:(?!</p>).)*</p>', html)  # legends, whose words stand beside them
    for drawing in drawings:
        named = 'role="img"' in drawing and ("aria-label" in drawing or "<title>" in drawing)
        assert named or 'aria-hidden="true"' in drawing or any(drawing in legend for legend in hidden), drawing


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_from_the_page_in_light_and_dark(report: Path, dark: bool) -> None:
    """Contrast of text is 4.5 or more, of what is drawn 3 or more (WCAG 2.2, 1.4.3 and 1.4.11)."""
    html = (report / "index.html").read_text(encoding="utf-8")
    light, night = re.findall(r":root {([^}]*--bg[^}]*)}", html)[:2]
    colours = {name: value for name, value in re.findall(r"--([\w-]+): (#\w+)", night if dark else light)}
    full = {
        name: "#" + "".join(2 * one for one in value[1:]) if len(value) == 4 else value
        for name, value in colours.items()
    }
    for ground in ("bg", "panel"):
        for name, least in {
            "ink": 7,
            "muted": 4.5,
            "accent": 4.5,
            "right": 4.5,
            "wrong": 4.5,
            "warn": 4.5,
            "other": 3,
        }.items():
            one, other = sorted((luminance(full[name]), luminance(full[ground])), reverse=True)
            assert (one + 0.05) / (other + 0.05) >= least, (name, ground)


def test_tables_open_with_eight_columns(too_wide: Callable[[Path], list[str]], report: Path) -> None:
    assert too_wide(report) == []


def test_axe_finds_no_serious_fault_of_accessibility(serious_faults: Callable[[Path], list[str]], report: Path) -> None:
    assert serious_faults(report / "index.html") == []
