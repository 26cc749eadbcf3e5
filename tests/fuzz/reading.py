"""One execution: a reader on some bytes, and whether what it did is what it says that it does."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.targets import Target

LONGEST = 2000
"Characters of an error that a person can read."

SLOWEST = 10.0
"Seconds that one execution may take: far more than a loaded machine needs for a few thousand bytes."


@dataclass(frozen=True)
class Fault:
    """What a reader did that it does not say."""

    what: str
    "The error and the line of ours that raised it: equal for equal faults."
    given: bytes


class Reading:
    """A reader with the folder that its file is written to."""

    def __init__(self, target: Target, folder: Path) -> None:
        """Make what has to be beside the file."""
        self.target, self.path = target, folder / target.file
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if target.folder is not None:
            target.folder(self.path.parent)

    def fault(self, given: bytes) -> Fault | None:
        """Read these bytes; return what is wrong with what the reader did, None where nothing is."""
        self.path.write_bytes(given)
        begun = time.perf_counter()
        try:
            self.target.read(self.path)
        except (Exception, RecursionError) as error:
            wrong = self._wrong(error)
        else:
            wrong = ""
        taken = time.perf_counter() - begun
        wrong = wrong or ("" if taken < SLOWEST else f"took more than {SLOWEST:g} s")
        return Fault(wrong, given) if wrong else None

    def _wrong(self, error: Exception) -> str:
        text = str(error)
        if not isinstance(error, self.target.errors):
            return f"{type(error).__name__} at {_place(error)}"
        if self.target.names_file and not text.startswith(str(self.path.parent)):
            return f"{type(error).__name__} does not begin with the file at {_place(error)}"
        if not text.strip() or len(text.splitlines()) > 1:
            return f"{type(error).__name__} is not one line at {_place(error)}"
        return f"{type(error).__name__} is too long at {_place(error)}" if len(text) > LONGEST else ""


@contextmanager
def reading(target: Target) -> Iterator[Reading]:
    """Yield the reader with a folder of its own, in memory where the system has such."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Reading(target, Path(folder))


def _place(error: BaseException) -> str:
    """Return the last line of this repository that an error went through."""
    root = Path(__file__).parents[2]
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(root)]
    return f"{Path(ours[-1].filename).relative_to(root)}:{ours[-1].lineno}"
