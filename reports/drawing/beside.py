"""Figures that other processes draw while a page is written: matplotlib keeps a core busy for seconds."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Final

from reports.progress import Step, each

Save = Callable[[], None]
"Draws a figure and saves it; can be pickled."

CHILD: Final = "from reports.drawing.beside import draw_for_parent; draw_for_parent()"


@contextmanager
def drawn_beside(saves: Sequence[Save], step: Step) -> Iterator[None]:
    """Draw figures while the block runs, in a process for every core; the block ends when all are saved.

    Where there is one core, or LOKY_MAX_CPU_COUNT says so, they are drawn at the end of the block, in this process.
    What a figure raises is raised there.
    """
    from joblib import cpu_count

    what, workers = "page: figures of probes", min(cpu_count(), len(saves))
    if workers < 2:
        yield
        for save in each(what, saves, step):
            save()
        return
    with ThreadPoolExecutor(workers) as pool:
        borders = [len(saves) * nth // workers for nth in range(workers + 1)]
        drawing = [pool.submit(_draw_in_process, saves[first:end]) for first, end in pairwise(borders)]
        yield
        for one in each(what, drawing, step):
            one.result()


def _draw_in_process(saves: Sequence[Save]) -> None:
    """Draw figures in a process of their own; raise what the first that fails raises."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command, given = [sys.executable, "-c", CHILD], pickle.dumps((os.getpid(), saves))
    child = subprocess.run(command, input=given, capture_output=True, env=environment, check=False)
    if child.returncode:
        raise RuntimeError(f"the process that draws figures ended with {child.returncode}: {child.stderr.decode()}")
    if (error := pickle.loads(child.stdout)) is not None:
        raise error


def draw_for_parent() -> None:
    """Draw the figures that the process which started this one gives, as long as it lives, and tell it of an error."""
    parent, saves = pickle.load(sys.stdin.buffer)
    error = None
    try:
        for save in saves:
            if os.getppid() == parent:
                save()
    except Exception as raised:
        error = raised
    sys.stdout.buffer.write(pickle.dumps(error))
