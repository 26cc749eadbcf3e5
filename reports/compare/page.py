"""The page of a comparison: two or more runs side by side, role by role and head by head."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from reports.compare.record import Compared, Comparison, read_compared, write_compared
from reports.compare.table import ALONE, CHANGES, HEAD_CHANGES, RunPair
from reports.compare.text_tables import RUNS, head_counts, head_table, role_table
from reports.formats import percent
from reports.progress import Step, each, silent
from reports.tables.text_table import TextTable
from reports.templates.environment import assets, environment

METHOD: Final = (
    (
        "Role",
        "A label that stands for itself (no pooled label, 50 scored words or more) in which a head has a grade: its "
        "lead over every baseline and control of its run is significant and above the margin of [verdict]. It is "
        "counted in one direction: one in which both runs have a head with a grade, else one of them, by the largest "
        "margin. Other directions, and labels without a role, stand beside it where their difference is significant.",
    ),
    (
        "Role of a checkpoint",
        "A checkpoint (RUN@seed-1@step-500) has no corrected test. There a head has a role where the 95 % interval of "
        "its margin lies above 0 and the margin is large enough, against the baselines alone. The selected head is "
        "the best on all texts. Its accuracy is held out: heads are selected on one half of the texts and evaluated "
        "on the other; the interval is as wide as that head’s own. The change of a single head is evaluated on the "
        "texts that also selected it, which favours the first run a little.",
    ),
    (
        "Difference",
        "Accuracy in the second run minus that in the first, in percentage points, each of the head that the run "
        "selected on its selection split, evaluated on the report split.",
    ),
    (
        "Interval, paired",
        "Where both runs kept counts of the same words (counts.parquet), the groups of texts are resampled for both at "
        "once: the interval is that of the difference itself, and p is that of random signs of the differences of "
        "groups, two-sided.",
    ),
    (
        "Interval, not paired (∥)",
        "Elsewhere it follows from the intervals of both numbers as if they were independent (Zou and Donner 2008). "
        "Runs on the same texts mostly err alike, so this interval is too wide and the test conservative.",
    ),
    (
        "Adjusted p",
        "Corrected for all differences on this page by Benjamini and Hochberg: of those called significant, on "
        "average at most a share alpha is false (proven for independent tests; the directions of a label are not "
        "independent).",
    ),
    (
        "The previous head",
        "The head of the second run that corresponds to the head selected in the first, and how far its accuracy "
        "changed, whichever head is the best in the second run.",
    ),
)
"Terms and what they mean."


def write_comparison(folder: Path, runs: Sequence[Compared], pairs: Sequence[RunPair], version: str) -> Path:
    """Write compare.json, compare.csv, heads.csv and the page made of them into `folder`; return the page's path."""
    write_compared(folder, Comparison(tuple(runs), tuple(pairs), version))
    return write_comparison_page(folder)


def write_comparison_page(folder: Path, step: Step = silent) -> Path:
    """Make index.html and report.md of a comparison from its record; ValueError says what is wrong with that."""
    page = read_compared(folder)
    html, markdown = (_rendered(name, page) for name in each("page", ("compare.html.j2", "compare.md.j2"), step))
    (folder / "report.md").write_text(re.sub(r"\n{3,}", "\n\n", markdown), encoding="utf-8")
    (folder / "index.html").write_text(html, encoding="utf-8")
    return folder / "index.html"


def _rendered(template: str, page: Comparison) -> str:
    """Return the page as HTML that loads nothing from anywhere, or as Markdown."""
    html = template.endswith(".html.j2")
    made = environment(html=html)
    parts = ("page", "compare")
    inlined = {"style": assets(parts, ".css"), "script": assets(parts, ".js")} if html else {}
    told: dict[str, Any] = {"changes": CHANGES, "head_changes": HEAD_CHANGES, "method": METHOD, "grids": grids}
    told |= {"role_table": role_table, "head_table": head_table, "head_counts": head_counts}
    told |= {"run_table": TextTable.of("Runs", RUNS, page.runs), "version": page.version}
    return made.get_template(template).render(page=page, **told, **inlined)


def records(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the rows of a table."""
    return frame.to_dict("records")


def grids(pair: RunPair) -> list[dict[str, Any]]:
    """Return both grids of heads as the page's script reads them: [layer x head] sign, class and what is said of each.

    `to` is the place of the counterpart in the other grid, None where there is none.
    """
    rows = records(pair.heads)
    return [
        _grid(name, {row[own]: row for row in rows if row[own]}, shape, beyond, beside)
        for name, own, beside, shape, beyond in (
            (pair.first, "head", "partner", *pair.shapes),
            (pair.second, "partner", "head", *pair.shapes[::-1]),
        )
    ]


def _grid(
    name: str, rows: dict[str, dict[Any, Any]], shape: tuple[int, int], beyond: tuple[int, int], beside: str
) -> dict[str, Any]:
    layers, heads = shape
    names = [f"{layer + 1}-{head + 1}" for layer in range(layers) for head in range(heads)]
    cells = [_cell(head, rows[head], beside, beyond[1]) if head in rows else None for head in names]
    return {"name": name, "layers": layers, "heads": heads, "cells": cells}


def _cell(head: str, row: dict[Any, Any], beside: str, wide: int) -> dict[str, Any]:
    sign, kind = HEAD_CHANGES[row["change"]]
    to = row[beside]
    layer, place = (int(part) - 1 for part in to.split("-")) if to else (0, 0)
    return {"sign": sign, "kind": kind, "summary": head_summary(head, row), "to": layer * wide + place if to else None}


def head_summary(head: str, row: dict[Any, Any]) -> str:
    """Say what became of a head in a line."""
    before, now = row["one_role"] or "none", row["other_role"] or "none"
    parts = [f"Head {head}: {row['change']}"]
    if row["change"] != ALONE:
        parts.append(f"{row['head']} of the first run, {row['partner']} of the second")
    parts.append(f"main role {before if before == now else f'{before} → {now}'}")
    if row["largest"]:
        change = f"{percent(row['largest_from'])} → {percent(row['largest_to'])} %"
        parts.append(f"largest change {row['largest']} {change}")
    return " · ".join(parts)
