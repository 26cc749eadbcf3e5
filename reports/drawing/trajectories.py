"""What the charts and the slider of head biographies show: loss, behaviour and roles over one axis of steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import altair as alt
import pandas as pd

from reports.drawing.charts import COLOURS, Chart, SeriesStyle, curves, layered, over, series_styles
from reports.formats import count, tenths

QUESTION: Final = ["probe", "label", "variant"]

MOST_CURVES: Final = 8
"Roles whose curves are drawn."

MOST_CELLS: Final = 250_000
"Numbers of the slider view that a page holds; labels beyond are left out, those with the smallest margins first."

PROGRESS: Final[Mapping[str, tuple[str, SeriesStyle]]] = {
    "loss": ("training loss", SeriesStyle(COLOURS[0])),
    "evaluation_loss": ("evaluation loss", SeriesStyle(COLOURS[3], dashed=True)),
    "behaviour": ("behaviour", SeriesStyle(COLOURS[2])),
    "effective": ("median over heads", SeriesStyle(COLOURS[4])),
}
"Column of what was measured of each checkpoint -> its name and look."

PANELS: Final = (
    ("Loss", "nats", ("loss", "evaluation_loss"), 120),
    ("Behaviour", "accuracy, %", ("behaviour",), 100),
    ("Best head of each role: margin over the strongest baseline", "points", (), 240),
    ("Effective number of roles of a head", "roles", ("effective",), 100),
)
"Title, unit, columns and height of each chart; without columns it is of the roles."


def trajectory_charts(tables: Mapping[str, pd.DataFrame], onsets: pd.DataFrame) -> Iterator[Chart]:
    """Yield the charts that have numbers, all with the same axis, log(step + 1), and a line where the slider stands.

    Numbers are means over seeds; roles are those of `onsets` with the highest margins, or of all where none came.
    """
    steps = tables["biography_steps"].groupby("step")[["loss", "evaluation_loss", "behaviour"]].mean()
    effective = tables["biography_profiles"].groupby(["seed", "step"])["effective"].median().groupby("step").mean()
    measured, last = steps.join(effective).reset_index(), int(steps.index.max())
    for title, unit, columns, height in PANELS:
        series = {PROGRESS[name][0]: measured.rename(columns={name: "value"}) for name in columns}
        looks = {PROGRESS[name][0]: PROGRESS[name][1] for name in columns}
        if not columns:
            series = _curves(tables, onsets)
            looks = series_styles(series)
        known = {name: rows[rows["value"].notna()] for name, rows in series.items()}
        known = {name: rows for name, rows in known.items() if len(rows)}
        if known:
            rows = [row for name, frame in known.items() for row in _points(frame, name, unit)]
            yield _chart(f"{title} ({unit})", rows, {name: looks[name] for name in known}, last, height)


def _curves(tables: Mapping[str, pd.DataFrame], onsets: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the margins of the best heads of each role, means over seeds, with the range of seeds or the interval."""
    chosen = onsets.sort_values("peak_margin", ascending=False, kind="stable").head(MOST_CURVES)
    chosen = chosen.sort_values("onset", kind="stable")
    if chosen.empty:
        every = tables["biography_onsets"].query("role").sort_values("peak_margin", ascending=False, kind="stable")
        chosen = every.drop_duplicates(["probe", "label"]).head(MOST_CURVES)
    drawn = {}
    for question in chosen[QUESTION].itertuples(index=False):
        rows = tables["biography_curves"]
        by_step = rows[(rows[QUESTION] == list(question)).all(axis=1)].groupby("step")
        mean = by_step[["margin", "low", "high"]].mean()
        if by_step.obj["seed"].nunique() > 1:  # the band tells seeds apart, not resamples
            mean = mean.assign(low=by_step["margin"].min(), high=by_step["margin"].max())
        drawn[f"{question.label} ({question.variant})"] = mean.rename(columns={"margin": "value"}).reset_index()
    return drawn


def ticks(last: int) -> list[int]:
    """Return the steps that are written on the axis: 0, and powers of ten up to the last step, which closes it."""
    powers = [10**power for power in range(len(str(last)))]
    return [0, *(one for one in powers if math.log1p(one) < 0.93 * math.log1p(last)), last]


def _chart(title: str, rows: list[dict[str, Any]], looks: Mapping[str, SeriesStyle], last: int, height: int) -> Chart:
    axis = alt.Axis(values=ticks(last), format=",d", title="step (log scale)")
    x = alt.X("step:Q", axis=axis).scale(type="symlog", constant=1, domain=[0, last], nice=False)
    y = alt.Y("value:Q", title=None).scale(zero=False).axis(minExtent=38, tickCount=max(height // 40, 3))
    step = alt.param("step", value=last)
    slider = over([{}]).transform_calculate(at=step.name).encode(alt.X("at:Q"))
    rule = slider.mark_rule(color="var(--other)", strokeDash=[2, 3])
    drawn = layered(rule, curves(rows, looks, x, y)).add_params(step)
    text = "Over training steps on a log scale; biographies.csv has the numbers."
    return Chart(title, text, drawn.properties(height=height))


def _points(rows: pd.DataFrame, series: str, unit: str) -> Iterator[dict[str, Any]]:
    """Yield the points of a line, fractions in percent, with what is said of each."""
    share = unit in ("points", "accuracy, %")
    for row in rows.to_dict("records"):
        value, low, high = (100**share * row.get(name, math.nan) for name in ("value", "low", "high"))
        number = f"{value:.1f}" if share else f"{value:.3g}"
        text = f"{series}, step {count(row['step'])}: {number} {unit}".replace("-", "−")
        ends = {name: None if math.isnan(end) else end for name, end in (("low", low), ("high", high))}
        yield {"step": row["step"], "value": value, **ends, "series": series, "text": text}


def slider_view(scores: pd.DataFrame, listed: pd.DataFrame) -> tuple[dict[str, Any], int]:
    """Return accuracies by label, seed and step, in whole tenths of a percent; and how many labels are left out."""
    layers, heads = int(scores["layer"].max()) + 1, int(scores["head"].max()) + 1
    peaks = listed.set_index(QUESTION)["peak_margin"]
    groups = {question: rows for question, rows in scores.groupby(QUESTION, sort=False)}
    order = sorted(groups, key=lambda one: (-float(peaks.get(one, -math.inf)), one))
    kept = order[: max(MOST_CELLS // max(map(len, groups.values())), 1)]
    maps = [_slider_map(groups[question], question) for question in kept]
    return {"layers": layers, "heads": heads, "maps": maps}, len(order) - len(kept)


def _slider_map(rows: pd.DataFrame, question: Any) -> dict[str, Any]:
    seeds = []
    for seed, of_seed in rows.groupby("seed"):
        table = of_seed.sort_values(["step", "layer", "head"]).groupby("step")["accuracy"]
        values = {int(str(step)): [tenths(value) for value in part.tolist()] for step, part in table}
        seeds.append({"seed": int(str(seed)), "steps": list(values), "accuracy": list(values.values())})
    first = rows.iloc[0]
    names = dict(zip(QUESTION, question, strict=True))
    baseline = {"baseline": first["baseline"], "baseline_accuracy": tenths(float(first["baseline_accuracy"]))}
    return names | baseline | {"n": int(first["n"]), "seeds": seeds}
