"""What a page does for those who print it, read it on a phone, or move by keyboard."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports.heads.role_marks import COLOURS
from reports.templates.environment import asset

SHOWN = (
    "(name) => document.querySelector(name).checkVisibility({contentVisibilityAuto: true, visibilityProperty: true})"
)


@pytest.fixture
def page(opened: Any, report: Path) -> Any:
    return opened(report / "index.html")


@pytest.mark.slow
def test_print_shows_what_is_folded_and_no_controls(page: Any) -> None:
    folded = ("#summary h3", "#provenance pre", "#meaning dl")
    assert [page.evaluate(SHOWN, one) for one in folded] == [False, False, False]
    page.emulate_media(media="print", color_scheme="dark")
    for one in folded:
        page.wait_for_function(SHOWN, arg=one)
    for control in ("nav", ".controls", ".filter input", ".fold", ".skip"):
        assert not page.evaluate(SHOWN, control), control
    ink = "getComputedStyle(document.body).{}"
    assert page.evaluate(ink.format("color")) == "rgb(0, 0, 0)"
    assert page.evaluate(ink.format("backgroundColor")) == "rgb(255, 255, 255)"


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


def luminance(colour: str) -> float:
    full = colour if len(colour) == 7 else "#" + "".join(2 * one for one in colour[1:])
    channels = [int(full[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_from_the_page_in_light_and_dark(report: Path, dark: bool) -> None:
    """Contrast of text is 4.5 or more, of what is drawn 3 or more (WCAG 2.2, 1.4.3 and 1.4.11)."""
    html = (report / "index.html").read_text(encoding="utf-8")
    roots = re.findall(r":root {([^}]*--bg[^}]*)}", html)
    colours = dict(re.findall(r"--([\w-]+): (#\w+)", roots[dark]))
    least = {"ink": 7, "other": 3} | dict.fromkeys(("muted", "accent", "right", "wrong", "warn"), 4.5)
    for ground in ("bg", "panel"):
        for name, wanted in least.items():
            assert contrast(colours[name], colours[ground]) >= wanted, (name, ground)


def test_every_role_has_a_colour_of_its_own_in_which_its_letter_can_be_read() -> None:
    css = re.findall(r"\.role-(\d) \{ --role: (#\w+); --letter: (#\w+); \}", asset("role_marks.css"))
    assert [int(place) for place, *_ in css] == [*range(COLOURS + 1)]
    assert len({colour for _, colour, _ in css}) == COLOURS + 1
    assert all(contrast(colour, letter) >= 4.5 for _, colour, letter in css)


def test_tables_open_with_eight_columns(too_wide: Callable[[Path], list[str]], report: Path) -> None:
    assert too_wide(report) == []


@pytest.mark.slow
def test_axe_finds_no_serious_fault_of_accessibility(serious_faults: Callable[[Path], list[str]], report: Path) -> None:
    assert serious_faults(report / "index.html") == []
