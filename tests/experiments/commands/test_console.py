import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from experiments.commands import console
from experiments.commands.console import Talk, Voice, shown, shown_run, working


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Have errors printed to a terminal that is a string."""
    said = io.StringIO()
    monkeypatch.setattr(console, "errors", Console(file=said, force_terminal=True, width=100))
    monkeypatch.setattr(Voice, "talk", Talk.NORMAL)
    return said


def test_quiet_shows_nothing_on_a_terminal(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Voice, "talk", Talk.QUIET)
    with working("making the page"), shown() as step:
        step("score", 1, 2)
    assert terminal.getvalue() == ""


def test_verbose_says_each_begin_and_end_once(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Voice, "talk", Talk.VERBOSE)
    monkeypatch.setattr(console, "errors", Console(file=terminal, width=100))
    with working("page"), shown() as step:
        for done in (0, 1, 2, 2):
            step("score", done, 2, note="loss 3")
    lines = [line.partition(" in ")[0].partition(": 0.")[0] for line in terminal.getvalue().splitlines()]
    assert lines == ["page ...", "score: 2 to do", "score: done", "page"]


def test_a_run_is_one_line_that_is_rewritten_and_gone_at_the_end(terminal: io.StringIO) -> None:
    with shown_run() as course:
        course.plan([("score", 1.0), ("page", 1.0)])
        course.begin("score")
    assert "stage 1 of 2: score · 0 s · next: page" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[1A\x1b[2K"), "the line is erased"


def test_a_run_shows_nothing_where_output_is_no_terminal_and_its_counts_where_one_asked_for_more(
    terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "errors", Console(file=terminal, width=100))
    for talk in (Talk.NORMAL, Talk.VERBOSE):
        monkeypatch.setattr(Voice, "talk", talk)
        with shown_run() as course:
            course.begin("score")
            course("texts", 0, 9)
        assert terminal.getvalue() == ("" if talk is Talk.NORMAL else "texts: 9 to do\n")


def test_a_notebook_has_the_same_line_in_one_output_that_is_empty_in_the_end(
    terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "errors", Console(file=terminal, force_jupyter=True, width=100))
    lines: list[str] = []

    def display(data: dict[str, str], raw: bool, display_id: bool) -> SimpleNamespace:
        return SimpleNamespace(update=lambda now, raw: lines.append(now["text/plain"]))

    monkeypatch.setattr("IPython.display.display", display)
    with shown_run() as course:
        course.plan([("score", 1.0), ("page", 1.0)])
        course.begin("score")
        for done in range(1000):
            course("texts", done, 1000)
    assert lines[0].startswith("stage 1 of 2: score")
    assert (len(lines) < 5, lines[-1], terminal.getvalue()) == (True, "", "")
