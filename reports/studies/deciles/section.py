"""What a page reports of deciles and descriptions: sentences, a scatter of all heads, and the deciles of one head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import pandas as pd

from reports.formats import count, percent
from reports.run.folder import RunFolder
from reports.studies.deciles.tables import DECILES, DESCRIPTIONS
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

DECILE_TERMS: Final[Sequence[tuple[str, str]]] = (
    (
        "decile",
        "All pairs of different words of a sentence, of the whole report split, in ten parts of equal number by the "
        "attention that a head gives them. What holds in the tenth decile alone may not hold of the head.",
    ),
    (
        "description",
        "A rule that names the most attended other word, and others for at most three parts of speech, selected on "
        "the selection split. Its accuracy is that on held-out text. It does not cover attention to [CLS] and [SEP].",
    ),
)

SHOWN: Final = ("decile", "low", "n", "arcs", "before", "distance", "tags", "relations", "offsets", "random")
"Columns of the deciles of one head."

CLEAR: Final = 0.05
"By how much a description must be better than an offset to be counted. The limit is ours."

MEASURES: Final = (
    ("descriptions", "accuracy", "accuracy of the description, %"),
    ("descriptions", "offset_accuracy", "accuracy of the best offset, %"),
    ("descriptions", "gain", "accuracy minus that of the offset, points"),
    ("descriptions", "between", "attention to other words, %"),
    ("deciles", "arcs", "pairs of the tenth decile that a dependency links, %"),
    ("deciles", "before", "pairs of the tenth decile whose attended word stands before, %"),
    ("deciles", "low", "attention at which the tenth decile begins, %"),
)
"Table, column and title of what a scatter shows, in percent."


@dataclass(frozen=True)
class DecileResults:
    """What a page reports."""

    deciles: pd.DataFrame
    descriptions: pd.DataFrame
    shapes: pd.DataFrame
    "Of sentences of the report split; empty where the run has none."

    @cached_property
    def sentences(self) -> list[str]:
        """How well descriptions do, beside an offset and random weights."""
        rows = self.descriptions
        own, offset, random = (
            percent(rows[name].mean()) for name in ("accuracy", "offset_accuracy", "random_accuracy")
        )
        better = int((rows["gain"] > CLEAR).sum())
        return [
            f"A sentence names a word's most attended other word with a mean accuracy of {own} % over heads, on "
            f"{count(rows['n'].iloc[0])} words of held-out text; the best single offset reaches {offset} %, and "
            f"descriptions of a randomly initialised model {random} %.",
            f"In {count(better)} of {count(len(rows))} heads the sentence is more than {100 * CLEAR:.0f} points better "
            "than the offset. These numbers have no intervals.",
        ]

    @cached_property
    def table(self) -> TextTable:
        """The descriptions, the most accurate first."""
        chosen = ("name", "description", "accuracy", "offset", "offset_accuracy", "gain", "between")
        rows = self.descriptions.sort_values("accuracy", ascending=False, kind="stable").to_dict("records")
        return TextTable.of("A description of every head", DESCRIPTIONS.text_columns(*chosen), rows)

    @cached_property
    def plane(self) -> dict[str, Any]:
        """The scatter and the deciles of all heads, as plain values."""
        heads = self.descriptions["name"].tolist()
        columns = DECILES.text_columns(*SHOWN)
        return {
            "heads": heads,
            "measures": [*self._measures(heads)],
            "descriptions": self.descriptions["description"].tolist(),
            "columns": [column.title for column in columns],
            "deciles": {name: _cells(rows) for name, rows in self.deciles.groupby("name", sort=False)},
            "strongest": dict(self._tenth.set_index("name")["strongest"]),
        }

    @property
    def _tenth(self) -> pd.DataFrame:
        tenth: pd.DataFrame = self.deciles[self.deciles["decile"] == self.deciles["decile"].max()]
        return tenth

    def _measures(self, heads: list[str]) -> list[dict[str, Any]]:
        tables = {"descriptions": self.descriptions, "deciles": self._tenth}
        found = [
            _measure(title, 100 * tables[table].set_index("name")[column], heads) for table, column, title in MEASURES
        ]
        shapes = self.shapes.groupby(["kind", "measure"], sort=False) if len(self.shapes) else ()
        for (kind, measure), rows in shapes:
            found.append(_measure(f"{kind}: {measure}", rows.set_index("name")["value"], heads))
        return found


def _measure(title: str, values: pd.Series, heads: list[str]) -> dict[str, Any]:
    numbers = values.reindex(heads)
    return {"title": title, "values": [None if value != value else round(float(value), 4) for value in numbers]}


def _cells(rows: pd.DataFrame) -> list[list[str]]:
    """Return the deciles of one head as a page writes them, the tenth first."""
    records = rows.sort_values("decile", ascending=False).to_dict("records")
    return [[DECILES[name].cell(row[name]) for name in SHOWN] for row in records]


def decile_results(run: RunFolder) -> DecileResults | None:
    """Return what the page reports, of the model's last step; None where it was not measured."""
    found, described = run.studies.get("deciles"), run.studies.get("descriptions")
    if found is None or described is None or found.empty:
        return None
    shapes = run.studies.get("shapes", pd.DataFrame())
    if len(shapes):
        shapes = last_step(shapes)
        shapes = shapes[(shapes["scope"] == "sentence") & (shapes["split"] == "report")]
    return DecileResults(last_step(found), last_step(described), shapes)
