"""Processes that draw figures while a page is written: matplotlib keeps a core busy for seconds."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from reports.progress import Step, each

Save = Callable[[], None]
"Draws a figure and saves it; can be pickled."

MOST: Final = 4
"Processes that draw at the same time; each takes a second to begin, and draws two figures at the least."

CHILD: Final = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
from reports.drawing.processes import draw_for_parent
draw_for_parent()
"""

WHAT: Final = "page: figures of probes"


class DrawingError(RuntimeError):
    """A process that draws figures and ended before they were drawn."""


@contextmanager
def drawn_beside(saves: Sequence[Save], step: Step) -> Iterator[None]:
    """Draw figures in other processes while the block runs; the block ends when all are saved.

    Fewer than four figures, and all where there is one core or LOKY_MAX_CPU_COUNT says so, are drawn at the end of the
    block, in this process. What a figure raises is raised there, and DrawingError where a process was ended; where the
    block itself raises, the processes are ended.
    """
    from joblib import cpu_count

    workers = min(cpu_count(), len(saves) // 2, MOST)
    if workers < 2:
        yield
        for save in each(WHAT, saves, step):
            save()
        return
    borders = [len(saves) * nth // workers for nth in range(workers + 1)]
    with TemporaryDirectory() as folder, ExitStack() as stack:
        drawing = {
            end: stack.enter_context(_process(saves[first:end], Path(folder) / str(end)))
            for first, end in pairwise(borders)
        }
        yield
        step(WHAT, 0, len(saves))
        for end, process in drawing.items():
            _wait(process, Path(folder) / str(end))
            step(WHAT, end, len(saves))


@contextmanager
def _process(saves: Sequence[Save], given: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Have another process draw figures, which finds them in the file `given` and ends with the block."""
    given.write_bytes(pickle.dumps(saves))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-P", "-c", CHILD, str(given)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def _wait(process: subprocess.Popen[bytes], given: Path) -> None:
    """Wait for a process that draws figures, and raise what the first that failed has raised."""
    if code := process.wait():
        ended = f"ended with exit code {code}; what it said stands above"
        if code < 0:
            ended = f"was ended by signal {-code}, perhaps for want of memory"
        raise DrawingError(
            f"a process that draws figures {ended}. With LOKY_MAX_CPU_COUNT=1 they are drawn without such processes"
        )
    if (failed := _error(given)).exists():
        raise pickle.loads(failed.read_bytes())


def _error(given: Path) -> Path:
    return given.with_suffix(".error")


def draw_for_parent() -> None:
    """Draw the figures of the file that the command names; write beside it what one raises."""
    given = Path(sys.argv[1])
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        for save in pickle.loads(given.read_bytes()):
            save()
    except Exception as error:
        error.add_note(traceback.format_exc())
        _error(given).write_bytes(_pickled(error))


def _pickled(error: Exception) -> bytes:
    """Return an error as the parent can load it: many classes with more than a message cannot be."""
    try:
        pickle.loads(pickled := pickle.dumps(error))
    except Exception:
        said = DrawingError(f"{type(error).__name__}: {error}")
        said.__notes__ = error.__notes__
        return pickle.dumps(said)
    return pickled


def _end_with_parent() -> None:
    """End this process when the one that holds the other end of its input is gone."""
    os.read(sys.stdin.fileno(), 1)  # `sys.stdin` itself would be locked when the interpreter closes it
    os.kill(os.getpid(), signal.SIGTERM)
