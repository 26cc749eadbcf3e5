"""The first page of a run: what its heads do, before they are compared with other models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from experiments.config.config import Config
from experiments.run.context import RunContext
from experiments.run.scope import ShowScores
from probes.registry import PERMUTED, RANDOM, WORDS
from reports.page.first_page import write_first_page


def first_page_path(folder: Path) -> Path:
    """Return where the first page of the run folder `folder` is until that is whole."""
    return folder.with_name(f"{folder.name}-first.html")


@contextmanager
def first_page(folder: Path, show: Callable[[Path], None] | None) -> Iterator[FirstPage]:
    """Yield the first page of a run, which is removed when the block ends; also one that a killed run has left."""
    try:
        _remove(folder)
        yield FirstPage(folder, show)
    finally:
        _remove(folder)


@dataclass
class FirstPage:
    """A page that is written anew with the scores of each scope."""

    folder: Path
    "That of the run."
    show: Callable[[Path], None] | None
    "Is shown the path of the page when it is there; None for no page."
    scopes: int = 0
    "That have been scored."
    frames: list[pd.DataFrame] = field(default_factory=list)
    "Their scores, where there are any."

    def of(self, run: RunContext) -> ShowScores | None:
        """Return what adds the next scope of a run; None for no page, or where no other model reads."""
        return None if self.show is None or not _controls(run.config) else lambda scores: self._add(run, scores)

    def _add(self, run: RunContext, scores: pd.DataFrame) -> None:
        self.scopes += 1
        if not len(scores):
            return
        self.frames.append(run.complete(scores))
        later = [probe.name for scope in run.scopes[self.scopes :] for probe in run.probes(scope)]
        path, name = first_page_path(self.folder), self.folder.name
        try:
            write_first_page(path, name, self.frames, _controls(run.config), later)
        except OSError as error:  # the run itself may do without
            run.note(f"the first page could not be written: {error.strerror}")
            return
        if self.show is not None and len(self.frames) == 1:
            self.show(path)


def _controls(config: Config) -> list[str]:
    """Return the names of the controls in which a model reads."""
    asked = {RANDOM: config.controls.random, PERMUTED: config.controls.permuted, WORDS: config.controls.orders}
    return [name for name, there in asked.items() if there]


def _remove(folder: Path) -> None:
    with suppress(OSError):
        first_page_path(folder).unlink(missing_ok=True)
