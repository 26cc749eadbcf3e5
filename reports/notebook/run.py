"""A run as people open it: its numbers, its best heads, charts, and the card of a head."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

from reports.heads.card import HeadCard, head_card
from reports.heads.grid import kinds_of_sinks
from reports.measures.registry import measure_tables, measures_of
from reports.messages import head_hint
from reports.run.folder import RunFolder, RunFolderError
from reports.scores.best_heads import page_scores
from reports.scores.best_table import best_table
from reports.scores.shortest_table import shortest_table
from reports.scores.thresholds import run_thresholds
from reports.scores.verdicts import Verdicts, find_all
from reports.tables.text_table import TextTable


class Run(RunFolder):
    """The numbers of one finished run; `print` and a notebook show which heads do what.

    `run.best()` is the table of best heads, `run.plot("obj")` a chart of all heads on one label, `run.head("3-5")` the
    card of one head, by the name that papers use, and `run.scores` holds the numbers of every head.
    """

    @classmethod
    def open(cls, path: str | Path, *, published: bool = False) -> Self:
        """Open the run folder at `path`, with `published` also one that holds what was published of a run.

        Raises FileNotFoundError where there is no such folder or a file of it is missing, RunFolderError where one of
        its files cannot be understood.
        """
        return cls.read(path, measure_tables(), published=published)

    def best(self, probe: str | None = None, label: str | Sequence[str] | None = None) -> TextTable:
        """Return the chosen head of every label, of one probe or of all, the largest sure margins first.

        `label` keeps one label, or several; labels without an item on the report split are left out. Raises ValueError
        for a probe or label that the run did not ask.
        """
        return best_table(self, probe, label)

    def plot(
        self, label: str | None = None, probe: str | None = None, variant: str | None = None, *, ax: Any = None
    ) -> Any:
        """Return a chart: all heads on one label, or without a label the best heads beside their baselines.

        Where a label was asked in several ways it is the one with the largest sure margin, unless `probe` or `variant`
        say which. With `ax` it is drawn on these axes of Matplotlib, which are returned. Raises ValueError where the
        run scored no such thing.
        """
        from reports.notebook.offline import Plot
        from reports.notebook.run_charts import best_chart, head_chart  # draws only where asked

        drawn = best_chart(self, probe, ax) if label is None else head_chart(self, label, probe, variant, ax)
        return Plot(drawn) if ax is None else drawn

    @property
    def verdicts(self) -> Verdicts:
        """All verdicts on labels and heads."""
        return Verdicts(run_thresholds(self), find_all(page_scores(self.scores)[0]), kinds_of_sinks(self))

    def __str__(self) -> str:
        return str(self._first())

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self._first()._repr_html_()}"

    def _first(self) -> TextTable:
        """Return which heads do what; its note ends with what each measure says first of causal effects."""
        table, verdicts = shortest_table(self), self.verdicts
        effects = [one for measure in measures_of(self) for one in islice(measure.effects(self, verdicts), 1)]
        return replace(table, note=" ".join((table.note, *effects)))

    def head(self, name: str) -> HeadCard:
        """Return the card of the head called `name`, layer and head counted from 1: "3-5" is layer 2, head 4.

        Its `scores` are the head's rows. Raises RunFolderError that says which names there are.
        """
        if not (self.scores["name"] == name).any():
            raise RunFolderError(f"{self.folder}: no head {name!r}; {self._hint(name)}")
        return head_card(self, name, [one.card for one in measures_of(self)])

    def _hint(self, name: str) -> str:
        """Say which heads there are, and which one `name` probably meant."""
        known = list(dict.fromkeys(self.scores["name"]))
        return head_hint(name, known) if known else "this run scored no heads"
