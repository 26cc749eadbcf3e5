"""How the command line talks: progress on a terminal, more when asked, nothing when asked to be quiet."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as TimeLeft
from rich.text import Text

from reports.progress import Course, silent
from reports.progress import Progress as Step

errors = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)  # else "file:100:" becomes a picture

PACE_SECONDS = 600
"Over which the time left is estimated: steps of a training may be reported further apart than rich's 30 seconds."


class Talk(Enum):
    """How much is said beside results and mistakes."""

    QUIET = "nothing"
    NORMAL = "progress bars on a terminal"
    VERBOSE = "a line at the begin and at the end of every stage, with its seconds"


class Voice:
    """How much this process says."""

    talk = Talk.NORMAL


@contextmanager
def shown() -> Iterator[Step]:
    """Show progress: bars with the time left on a terminal, lines where one asked for more, else nothing."""
    if Voice.talk is Talk.VERBOSE:
        yield _Lines()
    elif Voice.talk is Talk.QUIET or not errors.is_terminal:
        yield silent
    else:
        with _bars() as step:
            yield step


@contextmanager
def shown_run() -> Iterator[Course]:
    """Show how far a run is: lines where one asked for more, else one that is rewritten on a terminal or in a notebook.

    Anywhere else nothing is shown.
    """
    course = Course(_Lines() if Voice.talk is Talk.VERBOSE else silent)
    if Voice.talk is Talk.NORMAL and errors.is_jupyter:
        yield from _in_notebook(course)
    elif Voice.talk is not Talk.NORMAL or not errors.is_terminal:
        yield course
    else:
        with Live(get_renderable=lambda: Text(course.line(errors.width)), console=errors, transient=True):
            yield course


def _in_notebook(course: Course) -> Iterator[Course]:
    """Rewrite one output of the cell, at most twice a second, which is empty in the end: so is it in what is saved."""
    from IPython.display import display

    make: Any = display
    line = make({"text/plain": ""}, raw=True, display_id=True)
    shown = 0.0

    def show(what: str, done: int, of: int, note: str = "") -> None:
        nonlocal shown
        if time.monotonic() > shown + 0.5:
            line.update({"text/plain": course.line(errors.width)}, raw=True)
            shown = time.monotonic()

    course.show = show
    try:
        yield course
    finally:
        line.update({"text/plain": ""}, raw=True)


@contextmanager
def going_on(how: str = "") -> Iterator[None]:
    """Where Ctrl-C ends the block, say `how` to go on, else what the error notes: nothing else is said of it."""
    try:
        yield
    except KeyboardInterrupt as error:
        for note in [how] if how else getattr(error, "__notes__", ()):
            errors.print(note, markup=False)
        raise


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something is being done whose end cannot be foreseen, with the time that it has taken."""
    started = time.monotonic()
    if Voice.talk is Talk.VERBOSE:
        errors.print(f"{what} ...", markup=False)
        yield
        errors.print(f"{what}: {time.monotonic() - started:.1f} s", markup=False)
    else:
        disable = Voice.talk is Talk.QUIET or not errors.is_terminal
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=errors, disable=disable, transient=True) as bar:
            bar.add_task(what, total=None)
            yield


def loading() -> AbstractContextManager[None]:
    """Show that Python loads what a command needs, torch among it: seconds in which nothing can be counted."""
    return working("loading the program")


COUNTS = 28
"Columns that the count, the time left and the gaps of a bar take."


@contextmanager
def _bars() -> Iterator[Step]:
    bar_width = 40 if errors.width >= 120 else 10
    columns = (BarColumn(bar_width), MofNCompleteColumn(), TimeLeft())
    name_column, note_column = (TextColumn(f"{{task.{of}}}", markup=False) for of in ("description", "fields[note]"))
    with Progress(name_column, *columns, note_column, console=errors, speed_estimate_period=PACE_SECONDS) as bar:
        tasks: dict[str, TaskID] = {}
        last: dict[str, int] = {}
        room = errors.width - bar_width - COUNTS

        def step(what: str, done: int, of: int, note: str = "") -> None:
            name = _cut(what, room)
            note = _cut(note, room - len(name))
            if what not in tasks:
                tasks[what] = bar.add_task(name, total=of, note=note)
            elif done < last[what]:  # the stage is done once more, such as a page that is made after every model
                bar.reset(tasks[what], total=of)
            last[what] = done
            bar.update(tasks[what], completed=done, note=note)

        yield step


def _cut(text: str, room: int) -> str:
    """Return a text that fits: what is cut is a name or a note, never a count or a time."""
    return text if len(text) <= room else f"{text[: room - 1]}…" if room > 1 else ""


class _Lines:
    """Progress as lines: the begin and the end of every stage, each time that it is done."""

    def __init__(self) -> None:
        self._begun: dict[str, float] = {}
        self._last: dict[str, int] = {}

    def __call__(self, what: str, done: int, of: int, note: str = "") -> None:
        """Print a line where a stage begins or ends."""
        again, self._last[what] = done < self._last.get(what, 0), done
        if again or what not in self._begun:
            self._begun[what] = time.monotonic()
            errors.print(f"{what}: {of:,} to do", markup=False)
        if done >= of and self._begun[what] >= 0:
            seconds = time.monotonic() - self._begun[what]
            errors.print(f"{what}: done in {seconds:.1f} s{' ' * bool(note)}{note}", markup=False)
            self._begun[what] = -1.0
