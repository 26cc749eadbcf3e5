"""How far a run, a training, a study or a page is, told to whoever asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

Step = Callable[[str, int, int], None]
"Called with what is done, how many of it are done, and how many there are."

T = TypeVar("T")


class Progress(Protocol):
    """A `Step` that can be told what else there is to tell, too."""

    def __call__(self, what: str, done: int, of: int, note: str = "") -> None:
        """Show it."""


def silent(what: str, done: int, of: int, note: str = "") -> None:
    """Tell nobody."""


@dataclass
class Course:
    """The stages of a run: which one is being worked on, and how long all of them take. It is a `Progress` as well.

    The work of a stage is in any unit. From what is done follows how many seconds a unit takes, and from that how long
    the stages take that are still to come.
    """

    show: Progress = silent
    "Is told every step within a stage."
    clock: Callable[[], float] = time.monotonic
    "Returns seconds."
    stages: list[tuple[str, float]] = field(default_factory=list)
    "Name and work of all stages in their order, with those that were not planned."
    place: int = -1
    "Index of the stage that is being worked on."
    _counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    "What is counted within the stage -> how many are done, and how many there are."
    _note: str = ""
    _planned: bool = False
    _done: float = 0.0
    "Work of the stages that are done, and their seconds."
    _seconds: float = 0.0

    def __post_init__(self) -> None:
        """Begin to measure the time."""
        self._start = self._begun = self.clock()

    def plan(self, stages: Sequence[tuple[str, float]]) -> None:
        """Say which stages come after the one that is being worked on, with their work."""
        self.stages[self.place + 1 :] = stages
        self._planned = True

    def begin(self, name: str) -> None:
        """Begin the next stage of that name; planned ones before it are left out, and the one so far is done."""
        now = self.clock()
        if self.place >= 0 and (work := self.stages[self.place][1]):
            self._done, self._seconds = self._done + work, self._seconds + now - self._begun
        later = [place for place in range(self.place + 1, len(self.stages)) if self.stages[place][0] == name]
        self.place = later[0] if later else self.place + 1
        if not later:
            self.stages.insert(self.place, (name, 0.0))
        self._begun, self._counts, self._note = now, {}, ""

    def __call__(self, what: str, done: int, of: int, note: str = "") -> None:
        """Count a step within the stage."""
        self._counts[what], self._note = (done, of), note
        self.show(what, done, of, note)

    @property
    def total(self) -> float | None:
        """The estimated seconds of the whole run; None as long as nothing is done from which they follow.

        A stage takes longer than its work says where what is counted within it goes slower.
        """
        if not self._done:
            return None
        pace, spent = self._seconds / self._done, self.clock() - self._begun
        counted, of = map(sum, zip(*[(0, 0), *self._counts.values()], strict=True))
        counts = spent * of / counted if 4 * counted > of else 0  # the first steps of several at a time take longer
        stage = max(spent, pace * self.stages[self.place][1], counts)
        later = sum(work for _, work in self.stages[self.place + 1 :])
        return self._begun - self._start + stage + pace * later

    def line(self, width: int = 80) -> str:
        """Return the stage, the seconds so far and in all, and where there is room what comes next.

        Where all of it is wider than `width`, the name of the stage is cut, never a number.
        """
        if self.place < 0:
            return ""
        first = f"stage {self.place + 1} of {len(self.stages)}: " if self._planned else ""
        last = f" · {_of_all(self.clock() - self._start, self.total)}"
        name, room = self.stages[self.place][0], width - len(first) - len(last)
        name = name if len(name) <= room else f"{name[: max(room - 1, 0)]}…"
        following = self.stages[self.place + 1 : self.place + 2]
        more = self._note or (f"next: {following[0][0]}" if following else "")
        rest = f" · {more}" if more and len(first + name + last) + 3 + len(more) <= width else ""
        return f"{first}{name}{last}{rest}"


LONG = 180
"Seconds from which on a time is in minutes."


def _of_all(spent: float, total: float | None) -> str:
    """Return so many seconds, of so many where that is known, in the unit of the latter."""
    long = (spent if total is None else total) >= LONG
    parts = [f"{seconds / (60 if long else 1):.0f}" for seconds in (spent, total) if seconds is not None]
    return f"{' of '.join(parts)} {'min' if long else 's'}"


def each(what: str, items: Sequence[T], step: Step) -> Iterator[T]:
    """Yield the items; tell `step` before the first one and whenever one is done. Without items nothing is told.

    >>> told = []
    >>> [draw for draw in each("figures", "ab", lambda *now: told.append(now))], told
    (['a', 'b'], [('figures', 0, 2), ('figures', 1, 2), ('figures', 2, 2)])
    """
    for done, item in enumerate(items):
        step(what, done, len(items))
        yield item
    if items:
        step(what, len(items), len(items))


def counter(step: Step, what: str, of: int) -> Callable[..., None]:
    """Return what tells of one of `what` more, or of as many as it is told, each time it is called.

    >>> count = counter(lambda *now: print(*now), "texts", 9)
    >>> count(), count(4)
    texts 1 9
    texts 5 9
    (None, None)
    """
    done = 0

    def more(number: int = 1) -> None:
        nonlocal done
        done += number
        step(what, done, of)

    return more
