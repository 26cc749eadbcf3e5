"""The first page of a run: what its heads do before any control has been read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from experiments.studies.scope import ShowScores
from experiments.studies.surroundings import Surroundings
from reports.page.first_page import write_first_page


def first_page_path(folder: Path) -> Path:
    """Return where the first page of the run folder `folder` is until that is whole."""
    return folder.with_name(f"{folder.name}-first.html")


@dataclass(frozen=True)
class FirstPage:
    """A page that is made anew with the scores of each scope, and removed with the end of its run."""

    folder: Path
    "That of the run."
    tell: Callable[[Path], None] | None
    "Is told where the page is; where nobody is, there is none."
    shown: list[pd.DataFrame] = field(default_factory=list)
    "The scores of the scopes so far."

    def showing(self, run: Surroundings) -> ShowScores | None:
        """Return what shows the untested scores of the next scope of a run; None where there is no page."""
        return None if self.tell is None else lambda scores: self._show(run, scores)

    def _show(self, run: Surroundings, scores: pd.DataFrame) -> None:
        assert self.tell is not None
        self.shown.append(run.complete(scores))
        later = [probe.name for scope in run.scopes[len(self.shown) :] for probe in run.probes(scope)]
        path = write_first_page(first_page_path(self.folder), self.folder.name, self.shown, later)
        if len(self.shown) == 1:
            self.tell(path)


@contextmanager
def first_page(folder: Path, tell: Callable[[Path], None] | None) -> Iterator[FirstPage]:
    """Yield the first page of a run, and remove it when the block ends, however it does."""
    page = FirstPage(folder, tell)
    try:
        yield page
    finally:
        if page.shown:  # else it may be that of another process
            first_page_path(folder).unlink(missing_ok=True)
