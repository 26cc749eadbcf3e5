"""What a page reports of heads from few labels: where heads beat rules that learn from the same arcs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pandas as pd

from reports.formats import count, percent, signed, signed_interval
from reports.run.folder import RunFolder
from reports.studies.few_labels.tables import ENSEMBLE, HEAD, UNTRAINED
from reports.tables.cells import Cell, TextColumn
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

FEW_LABEL_TERMS: Final[Sequence[tuple[str, str]]] = (
    (
        "from so many arcs",
        "Labelled arcs are drawn at random from the selection split. A head is selected by its accuracy on them, and "
        "heads are added to an ensemble while the mean of their maps gains; nothing of the model is trained. Rules "
        "learn from the same arcs: an offset, a lexical table of word forms and offsets, the nearest word of a set of "
        "part-of-speech tags. The fixed rule is, of the baselines and rules that need no labels, the best on the arcs.",
    ),
    (
        "lead over the best rule",
        "Accuracy on held-out text minus that of the rule with the highest accuracy from as many arcs. The interval is "
        "over draws of arcs and resampled documents; it is not corrected for the number of labels. Rules are not "
        "combined with each other, as the heads of an ensemble are.",
    ),
)


@dataclass(frozen=True)
class FewLabelResults:
    """What a page reports."""

    sentences: Sequence[str]
    "For each number of arcs on how many labels heads lead, and on how many rules do."
    tables: Sequence[TextTable]
    "Leads of heads and of ensembles by number of arcs."
    rows: pd.DataFrame
    "As few_labels.parquet, of the last step."

    @property
    def labels(self) -> list[tuple[str, pd.DataFrame]]:
        """Each label with its rows, in the order of the run."""
        return [
            (f"{label} ({variant})", rows)
            for (label, variant), rows in self.rows.groupby(["label", "variant"], sort=False)
        ]


def few_labels(run: RunFolder) -> FewLabelResults | None:
    """Return what the page reports, of the model's last step; None where nothing was asked."""
    table = run.studies.get("few_labels")
    if table is None or table.empty:
        return None
    rows = last_step(table)
    sizes = sorted(rows["arcs"].unique().tolist())
    tables = [_leads(rows, method, sizes) for method in (HEAD, ENSEMBLE)]
    return FewLabelResults([_said(rows[rows["arcs"] == size], size) for size in sizes], tables, rows)


def _said(rows: pd.DataFrame, size: int) -> str:
    """Write for how many labels heads, ensembles and rules are significantly ahead."""
    heads, ensembles, untrained = (rows[rows["method"] == method] for method in (HEAD, ENSEMBLE, UNTRAINED))
    return (
        f"{count(size)} labelled arcs: of {count(len(heads))} labels, the selected head leads the best rule in "
        f"{count((heads['lead_low'] > 0).sum())} and is behind it in {count((heads['lead_high'] < 0).sum())}; an "
        f"ensemble leads in {count((ensembles['lead_low'] > 0).sum())}, a head of random weights in "
        f"{count((untrained['lead_low'] > 0).sum())}. The others are undecided."
    )


def _leads(rows: pd.DataFrame, method: str, sizes: Sequence[int]) -> TextTable:
    found = rows[rows["method"] == method]
    by_label = [
        {int(row["arcs"]): row for row in part.to_dict("records")}
        for _, part in found.groupby(["label", "variant"], sort=False)
    ]
    columns = [
        TextColumn("Label", lambda row: next(iter(row.values()))["label"], "row"),
        TextColumn("Variant", lambda row: next(iter(row.values()))["variant"]),
        *(TextColumn(f"{count(size)} arcs", partial(_cell, size), kind="number") for size in sizes),
    ]
    title = f"Lead of the {method} over the best rule in points; accuracy of either, and the rule"
    return TextTable.of(title, columns, by_label)


def _cell(size: int, row: Mapping[int, Mapping[Any, Any]]) -> Cell | str:
    if size not in row:
        return ""
    one = row[size]
    lead = f"{signed(one['lead'])} {signed_interval(one['lead_low'], one['lead_high'])}"
    beside = f"{percent(one['accuracy'])}, {percent(one['accuracy'] - one['lead'])} {one['best_rule']}"
    return Cell(f"{lead}; {beside}", sort=float(one["lead"]))
