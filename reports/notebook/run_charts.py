"""Charts for notebooks: one question over all heads, best heads beside their baselines, a map of one head."""

import textwrap
from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from reports.drawing.charts import BASELINE_ORANGE, HEAD_BLUE, INK, RAMP_COLOURS
from reports.run.folder import RunFolder
from reports.scores.best_heads import BestHead, best_heads, by_margin, page_scores
from reports.scores.best_table import best_frame, find_question, requested_probes
from reports.scores.plain_names import task

CELL: Final = 26
"Pixels of a head in a heat map."

MAPS: Final = 4
"Heat maps of a probe that are drawn as one picture."

MOST: Final = 12
"Rows of a chart of best heads."

WIDE: Final = 54
"Letters of a line of a label."

STEP, LINE = 26, 15
"Pixels of a row beside baselines, at least, and of a line of its label."

WIDER: Final = 40
"Pixels left of labels, which may be set in a wider font than the one that measured them."

MARKS: Final = (
    "dot: the selected head, with its 95 % interval; bar: the strongest baseline, control, word table or rule"
)
"What is drawn beside baselines."

NUMBERS: Final = tuple(
    alt.Tooltip(f"{column}:{kind}", title=title, format=shape or alt.Undefined)
    for column, kind, title, shape in (
        ("name", "N", "head", ""),
        ("n", "Q", "scored words", ","),
        ("accuracy", "Q", "accuracy", ".1%"),
        ("ci_low", "Q", "interval from", ".1%"),
        ("ci_high", "Q", "interval to", ".1%"),
        ("baseline", "N", "strongest baseline", ""),
        ("baseline_accuracy", "Q", "its accuracy", ".1%"),
        ("margin", "Q", "margin", "+.1%"),
        ("mass", "Q", "attention on the correct words", ".3f"),
        ("grade", "O", "grade", ""),
    )
)
"What a chart says of a head that one points at."


def head_chart(
    run: RunFolder, label: str, probe: str | None = None, variant: str | None = None, axes: Any = None
) -> Any:
    """Return the accuracy of every head on one question as an Altair chart, layers as rows.

    The chosen head is framed and heads with a grade are dotted. Without `probe` or `variant` it is the question of that
    label with the largest sure margin; with `axes` it is drawn there. Raises ValueError where the run scored no such
    thing.
    """
    question = find_question(run, label, probe, variant)
    rows, name = _of(run, question), f"{question.label} · {question.variant}"
    if axes is not None:
        return plot_heads(rows, name, axes)
    base = alt.Chart(rows).encode(
        x=alt.X("column:O", title="head", axis=alt.Axis(labelAngle=0)), y=alt.Y("row:O", title="layer")
    )
    shade = alt.Color("accuracy:Q", title="accuracy", legend=alt.Legend(format="%", gradientLength=120))
    shade = shade.scale(domain=[0, 1], range=[*RAMP_COLOURS])
    cells = base.mark_rect().encode(color=shade, tooltip=[*NUMBERS])
    frame = base.mark_rect(fill=None, stroke=BASELINE_ORANGE, strokeWidth=2).transform_filter("datum.selected")
    ink = alt.condition("datum.accuracy > 0.55", alt.value("white"), alt.value(INK))
    dots = base.mark_circle(size=14, opacity=1).encode(color=ink).transform_filter("datum.grade > 0")
    title = alt.Title(
        name,
        subtitle=f"{run.name}, {question.probe}: framed: the selected head; dotted: heads with a grade",
    )
    return (cells + dots + frame).properties(width=alt.Step(CELL), height=alt.Step(CELL), title=title)


def best_chart(run: RunFolder, probe: str | None = None, axes: Any = None) -> Any:
    """Return the best heads with their intervals beside the strongest baselines as an Altair chart.

    A baseline here is also a control, the lexical table or a rule of grammar. The MOST surest margins are shown; with
    `axes` of Matplotlib they are drawn there.
    """
    scores, _ = page_scores(run.scores)
    every = [row for name in requested_probes(run, probe) for row in best_heads(scores, name) if row.n]
    found = sorted(every, key=by_margin)[:MOST]
    title = f"{run.name}: best heads{'' if probe is None else f' of {probe}'}"
    if axes is not None:
        return plot_best(_beside(found), title, axes)
    many = (
        f"the {len(found)} labels and directions of {len(every)} with the highest lower end of the margin"
        if len(found) < len(every)
        else ""
    )
    return beside_baselines(found).properties(title=alt.Title(title, subtitle=[MARKS, many] if many else MARKS))


def beside_baselines(heads: Sequence[BestHead]) -> alt.LayerChart:
    """Return the accuracy of each head with its interval, beside the strongest of all that it is compared with."""
    rows = _beside(heads)
    labels = alt.Axis(labelLimit=0, labelExpr=r"split(datum.label, '\n')")
    base = alt.Chart(rows).encode(y=alt.Y("role:N", sort=[*rows["role"]], title=None, axis=labels))
    axis = alt.Axis(format="%", title="accuracy", tickCount=5)
    span = base.mark_rule(color=HEAD_BLUE, strokeWidth=2).encode(x=alt.X("ci_low:Q", axis=axis), x2="ci_high:Q")
    dots = base.mark_circle(color=HEAD_BLUE, size=45, opacity=1).encode(
        x=alt.X("accuracy:Q", scale=alt.Scale(domain=[0, 1])), tooltip=[*NUMBERS]
    )
    strongest = base.mark_tick(color=BASELINE_ORANGE, thickness=2.5, size=12).encode(x="strongest_accuracy:Q")
    lines = max((1 + name.count("\n") for name in rows["role"]), default=1)
    return alt.LayerChart(layer=[span, strongest, dots]).properties(
        width=380, height=alt.Step(max(STEP, LINE * lines)), padding={"left": WIDER, "right": 5, "top": 5, "bottom": 5}
    )


def _beside(heads: Sequence[BestHead]) -> pd.DataFrame:
    """Return the rows of `beside_baselines`."""
    order = [f"{task(row.probe, row.label, row.variant).removeprefix('attends ')} · {row.name}" for row in heads]
    if len({*order}) < len(order):
        order = [f"{name} ({row.label}, {row.variant})" for name, row in zip(order, heads, strict=True)]
    rows = best_frame(heads)[[*_FIELDS]].assign(role=[textwrap.fill(name, WIDE) for name in order])
    rows["strongest_accuracy"] = rows[["baseline_accuracy", "lexical_accuracy", "rule_accuracy"]].max(axis=1)
    return rows


_FIELDS: Final = (
    *("name", "n", "accuracy", "ci_low", "ci_high", "baseline", "baseline_accuracy", "lexical_accuracy"),
    *("rule_accuracy", "margin", "mass", "grade"),
)


def _of(run: RunFolder, question: BestHead) -> Any:
    scores, _ = page_scores(run.scores)
    rows = scores[scores["split"] == "report"]
    for column in ("probe", "label", "variant"):
        rows = rows[rows[column] == getattr(question, column)]
    return rows.assign(row=rows["layer"] + 1, column=rows["head"] + 1)[["row", "column", "selected", *_FIELDS]]


def run_pictures(run: RunFolder, probes: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """Return the charts of every probe, or of those named, in Vega-Lite by name: best heads, and the main heat maps."""
    found: dict[str, dict[str, Any]] = {}
    for probe in probes or requested_probes(run, None):
        rows = [row for row in best_heads(page_scores(run.scores)[0], requested_probes(run, probe)[0]) if row.n]
        labels = list(dict.fromkeys(row.label for row in rows))[:MAPS]
        if labels:
            found[f"{probe}-best-heads"] = best_chart(run, probe).to_dict()
            found[f"{probe}-heat-map"] = alt.concat(
                *(head_chart(run, one, probe) for one in labels), columns=2
            ).to_dict()
    return found


def map_chart(weights: npt.NDArray[np.float32], queries: Sequence[str], keys: Sequence[str], title: str) -> Any:
    """Return an Altair chart of a map [query, key] with entries in [0, 1]; words may occur more than once."""
    rows, columns = [[f"{i} {word}" for i, word in enumerate(words)] for words in (queries, keys)]
    query, key = np.divmod(np.arange(weights.size), len(keys))
    frame = pd.DataFrame({"query": np.take(rows, query), "key": np.take(columns, key), "weight": weights.ravel()})
    word = "slice(datum.label, indexof(datum.label, ' ') + 1)"
    return (
        alt.Chart(frame, title=title)
        .mark_rect()
        .encode(
            x=alt.X("key:N", sort=columns, axis=alt.Axis(labelExpr=word, title=None, orient="top", labelAngle=-60)),
            y=alt.Y("query:N", sort=rows, axis=alt.Axis(labelExpr=word, title=None)),
            color=alt.Color("weight:Q", title="attention", scale=alt.Scale(domain=[0, 1], range=[*RAMP_COLOURS])),
            tooltip=["query:N", "key:N", alt.Tooltip("weight:Q", format=".1%")],
        )
        .properties(width=alt.Step(CELL), height=alt.Step(CELL))
    )


def plot_heads(rows: pd.DataFrame, title: str, axes: Any) -> Any:
    """Draw the accuracy of every head, layers as rows: the selected head framed, heads with a grade dotted."""
    from matplotlib.colors import LinearSegmentedColormap  # where it is asked for

    table = rows.pivot(index="row", columns="column", values="accuracy")
    ramp = LinearSegmentedColormap.from_list("headscope", RAMP_COLOURS)
    axes.imshow(table.to_numpy(), cmap=ramp, vmin=0, vmax=1)
    axes.set_xticks(range(table.shape[1]), table.columns)
    axes.set_yticks(range(table.shape[0]), table.index)
    for row in rows.to_dict("records"):
        x, y = row["column"] - 1, row["row"] - 1
        if row["grade"] > 0:
            axes.plot(x, y, "o", markersize=3, color="white" if row["accuracy"] > 0.55 else "black")
        if row["selected"]:
            axes.plot(x, y, "s", markersize=14, fillstyle="none", color=BASELINE_ORANGE)
    axes.set(xlabel="head", ylabel="layer", title=title)
    return axes


def plot_best(rows: pd.DataFrame, title: str, axes: Any) -> Any:
    """Draw best heads with their 95 % intervals, and the strongest baselines as bars."""
    places = np.arange(len(rows))[::-1]
    reach = np.array([rows["accuracy"] - rows["ci_low"], rows["ci_high"] - rows["accuracy"]])
    axes.errorbar(rows["accuracy"], places, xerr=reach, fmt="o", color=HEAD_BLUE)
    axes.plot(rows["strongest_accuracy"], places, "|", markersize=11, markeredgewidth=2.5, color=BASELINE_ORANGE)
    axes.set_yticks(places, rows["role"])
    axes.set(xlabel="accuracy on the report split", xlim=(0, 1), title=title)
    return axes
