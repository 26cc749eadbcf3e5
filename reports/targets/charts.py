"""The chart of a target: recall of the selected heads with their intervals, beside their baselines, by run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import altair as alt

from reports.drawing.charts import Chart, layered, over
from reports.formats import interval, percent
from reports.scores.best_heads import BestHead, best_head
from reports.targets.record import TargetRecord
from reports.targets.target import RoleTarget

ROW: Final = 40
"Pixels of a question, with its name."

SERIES: Final[Mapping[str, tuple[str, str, str]]] = {
    "strongest baseline or control": ("baseline_accuracy", "stroke", "var(--wrong)"),
    "lexical table": ("lexical_accuracy", "diamond", "var(--muted)"),
    "strongest rule of grammar": ("rule_accuracy", "triangle-up", "var(--muted)"),
    "selected head": ("accuracy", "circle", "var(--right)"),
}
"What is drawn -> its column, the shape of its mark, its colour."


def drawn_answers(record: TargetRecord, target: RoleTarget) -> list[BestHead]:
    """Return the questions of a target that the summary tells, by run: the run is the label."""
    rows = record.answers[(record.answers["target"] == target.name) & record.answers["summary"]]
    named = rows.assign(label=rows["run"], variant=rows["variant"].where(rows["label"] == "all", rows["label"]))
    named = named.assign(title=named["name"] + " · " + named["label"] + " · " + named["variant"])
    return [best_head(row) for row in named.to_dict("records")]


def target_chart(target: RoleTarget, rows: Sequence[BestHead]) -> Chart:
    """Return the chart of a target; a head without a grade is hollow."""
    names, marks = [row.title for row in rows], [mark for row in rows for mark in _marks(row)]
    scale = alt.Scale(domain=[0, 100])
    x = alt.X("value:Q", title="recall on the report split, %", scale=scale).axis(alt.Axis(grid=True, tickCount=6))
    above, y = (alt.Y("place:N", axis=None, bandPosition=part).scale(domain=names) for part in (0.22, 0.7))
    named = over([{"place": name} for name in names]).encode(y=above, x=alt.value(2), text="place:N")
    halo = named.mark_text(align="left", stroke="var(--bg)", strokeWidth=4, strokeJoin="round")
    sure = over([mark for mark in marks if "low" in mark]).encode(alt.X("low:Q", scale=scale), y, alt.X2("high:Q"))
    looks = [
        channel(f"{name}:N", scale=None)
        for name, channel in (("shape", alt.Shape), ("colour", alt.Stroke), ("fill", alt.Fill))
    ]
    dots = over(marks).encode(x, y, *looks, alt.Angle("angle:Q", scale=None), tooltip="text:N")
    drawn = layered(
        *(halo, named.mark_text(align="left"), sure.mark_rule(color="var(--right)", strokeWidth=2)),
        dots.mark_point(size=60, strokeWidth=2, opacity=1),
    )
    text = "Filled: a head with a grade. The table below has all numbers."
    return Chart(f"{target.title}: recall and baselines", text, drawn.properties(height=ROW * len(names)))


def _marks(row: BestHead) -> Iterator[dict[str, Any]]:
    """Yield the baselines, and over them the head with the ends of its interval."""
    for name, (column, shape, colour) in SERIES.items():
        if math.isnan(value := float(getattr(row, column))):
            continue
        about = {"place": row.title, "value": 100 * value, "shape": shape, "colour": colour, "fill": "transparent"}
        about |= {"text": f"{row.title}: {name} {percent(value)} %", "angle": 90 if shape == "stroke" else 0}
        if column == "accuracy":
            about |= {"text": f"{about['text']} {interval(row.ci_low, row.ci_high)}"}
            about |= {"fill": colour if row.grade else "var(--bg)", "low": 100 * row.ci_low, "high": 100 * row.ci_high}
        yield about
