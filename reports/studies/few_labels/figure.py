"""The curves of heads from few labels, as charts of the page and as one figure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import altair as alt
import pandas as pd

from reports.drawing.charts import COLOURS, Chart, SeriesStyle, curves
from reports.drawing.figures import INK, LINE, MUTED, _axes, _bare, _save, _styled
from reports.formats import count, interval, percent
from reports.studies.few_labels.section import FewLabelResults
from reports.studies.few_labels.tables import ENSEMBLE, HEAD, UNTRAINED

GREY: Final = "#808890"


def _styles(rows: pd.DataFrame) -> dict[str, SeriesStyle]:
    """Return how each method is drawn: heads as lines, rules as dashes, random weights in grey."""
    heads = {HEAD: SeriesStyle(COLOURS[0]), ENSEMBLE: SeriesStyle(COLOURS[2]), UNTRAINED: SeriesStyle(GREY)}
    rules = [method for method in rows["method"].unique() if method not in heads]
    colours = (COLOURS[5], COLOURS[4], COLOURS[3], COLOURS[1])
    return heads | {rule: SeriesStyle(colours[place % len(colours)], True) for place, rule in enumerate(rules)}


def few_label_charts(results: FewLabelResults) -> list[Chart]:
    """Return a chart a label: accuracy on held-out text by number of labelled arcs."""
    return [_chart(title, rows) for title, rows in results.labels]


def _chart(title: str, rows: pd.DataFrame) -> Chart:
    x = (
        alt.X("arcs:Q", title="labelled arcs")
        .scale(type="log", nice=False)
        .axis(values=sorted(rows["arcs"].unique().tolist()))
    )
    y = alt.Y("value:Q", title="accuracy, %").scale(domain=[0, 100])
    text = "Accuracy on held-out text by number of labelled arcs; few_labels.parquet has the numbers."
    return Chart(title, text, curves([*_points(rows)], _styles(rows), x, y).properties(height=180))


def _points(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for row in rows.to_dict("records"):
        between = interval(row["low"], row["high"])
        text = f"{row['method']}, {count(row['arcs'])} arcs: {percent(row['accuracy'])} % {between}"
        ends = {"value": 100 * row["accuracy"], "low": 100 * row["low"], "high": 100 * row["high"]}
        yield {"arcs": row["arcs"], "series": row["method"], "text": text} | ends


def save_few_labels(results: FewLabelResults, about: str, folder: Path) -> list[str]:
    """Write one panel a label to few-labels.png and .pdf in `folder`; return the name."""
    from matplotlib.figure import Figure

    columns, width, height = min(2, len(results.labels)), 3.4, 1.9
    rows = -(-len(results.labels) // columns)
    page_width, page_height = columns * (width + 0.75) + 0.15, rows * (height + 0.85) + 0.75
    with _styled():
        figure = Figure(figsize=(page_width, page_height))
        figure.text(0.02, 1 - 0.1 / page_height, f"{about}: heads from few labels", fontsize=10.5, va="top")
        for number, (title, part) in enumerate(results.labels):
            left, bottom = 0.62 + (number % columns) * (width + 0.75), page_height - 1.05 - height
            axes = _axes(figure, left, bottom - (number // columns) * (height + 0.85), width, height)
            for method, style in _styles(part).items():
                line = part[part["method"] == method]
                low, high = 100 * line["low"], 100 * line["high"]
                axes.fill_between(line["arcs"], low, high, color=style.colour, alpha=0.12, lw=0)
                dash = "--" if style.dashed else "-"
                axes.plot(
                    line["arcs"], 100 * line["accuracy"], dash, color=style.colour, marker="o", ms=2.6, label=method
                )
            sizes = part["arcs"].unique()
            axes.set(xscale="log", ylim=(0, 100))
            axes.set_xticks(sizes, [count(size) for size in sizes])
            axes.minorticks_off()
            axes.set_title(title, fontsize=8, loc="left", pad=5, color=INK)
            axes.set_xlabel("labelled arcs", labelpad=1, color=MUTED)
            axes.grid(axis="y", color=LINE, lw=0.5)
            _bare(axes)
        handles, labels = axes.get_legend_handles_labels()
        where = (0.01, 1 - 0.28 / page_height)
        figure.legend(handles, labels, ncols=4, frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=where)
        _save(figure, folder / "few-labels")
    return ["few-labels"]
