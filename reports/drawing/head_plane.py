"""Heads on a plane, and how much the subspaces of two heads share."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import altair as alt
import numpy as np
import pandas as pd

from reports.drawing.charts import Chart, layered, legend, over
from reports.formats import MISSING, count, decimal

PLANE: Final = 500
"Pixels between the outermost heads, for which labels are placed; on a much narrower screen there are none."

BARS: Final = 40
"Steps of a histogram."

LAYERS: Final = ["#0072b2", "#009e73", "#d9a000", "#d55e00", "#cc79a7"]
"From the first layer to the last; every colour can be told from a white and from a black ground."

NAMED: Final = 24
"Heads whose roles are written on the plane."

WEIGHTS: Final = {"own": ("this model", "var(--right)"), "random": ("randomly initialised weights", "var(--wrong)")}
"Weights in subspaces.parquet -> their name and colour."

TOOLTIP: Final = {
    "head": "head",
    "role": "role",
    "surest": "main role",
    "accuracy": "accuracy, %",
    "margin": "margin, points",
    "group": "group",
    "nearest": "nearest head",
    "distance": "at a distance of, nats",
}
"What is told of a head where one points at it: column of the data -> name."


def plane_chart(places: pd.DataFrame) -> Chart:
    """Return the heads on their plane, coloured by layer; a click on a head chooses it everywhere on the page.

    One unit is as long across as it is up, however wide the page is.
    """
    rows = [_told(row) for row in places.to_dict("records")]
    wide, tall = (max(float(np.ptp(places[axis])), 1e-9) for axis in ("x", "y"))
    unit = alt.param("unit", expr=f"max({wide} / (width - 60), {tall} / (height - 40))")
    at = _centred(alt.X("x:Q"), places["x"], "width"), _centred(alt.Y("y:Q"), places["y"], "height")
    chosen = alt.param("head", value="")
    is_chosen = alt.datum.head == chosen
    layers = alt.Legend(title="layer", orient="bottom", tickMinStep=1, format="d")
    dots = over(rows).encode(
        *at,
        alt.Color("layer:Q", legend=layers).scale(range=LAYERS, nice=False),
        size=alt.when(is_chosen).then(alt.value(200)).otherwise(alt.value(70)),
        strokeWidth=alt.when(is_chosen).then(alt.value(2.5)).otherwise(alt.value(0)),
        tooltip=[alt.Tooltip(f"{column}:N", title=name) for column, name in TOOLTIP.items()],
    )
    marks = dots.mark_circle(opacity=0.9, stroke="var(--ink)", cursor="pointer")
    named = over(apart(rows, PLANE / wide)).encode(*at, text="role:N")
    roles = named.mark_text(align="left", dx=7, opacity=alt.expr("width < 400 ? 0 : 1"))
    height = min(max(round(PLANE * tall / wide) + 60, 240), 560)
    drawn = layered(marks, roles).add_params(unit, chosen).properties(height=height)
    text = "Near heads have similar maps; distances are in the table distances.parquet."
    return Chart("Heads on a plane, by the distance of their maps", text, drawn)


def _told(row: Mapping[Hashable, Any]) -> dict[str, Any]:
    """Return what the plane shows of a head, and tells where one points at it."""
    named = {"head": row["name"], "layer": row["layer"] + 1, "distance": decimal(row["distance"])}
    roles = {name: row[name] or MISSING for name in ("role", "surest", "accuracy", "margin")}
    return named | roles | {name: row[name] for name in ("x", "y", "group", "nearest")}


def _centred(channel: alt.X | alt.Y, values: pd.Series[float], size: str) -> alt.X | alt.Y:
    """Return the channel with as many units to both sides of the middle as there is room for."""
    middle = (float(values.min()) + float(values.max())) / 2
    low, high = (alt.expr(f"{middle} {sign} unit * {size} / 2") for sign in "-+")
    return channel.axis(None).scale(nice=False, zero=False, domainMin=low, domainMax=high)


def apart(rows: Sequence[dict[str, Any]], scale: float) -> list[dict[str, Any]]:
    """Return the heads whose roles touch none that is written before, NAMED at the most; `scale` is pixels a unit."""
    kept: list[dict[str, Any]] = []
    for row in (row for row in rows if row["role"] != MISSING):
        free = all(
            abs(row["y"] - one["y"]) * scale > 12
            or abs(row["x"] - one["x"]) * scale > 6.5 * max(len(row["role"]), len(one["role"]))
            for one in kept
        )
        if free and len(kept) < NAMED:
            kept.append(row)
    return kept


def overlap_chart(subspaces: pd.DataFrame, title: str) -> Chart:
    """Return the distribution of `overlap` over pairs of heads, of the model and of randomly initialised weights."""
    known = subspaces.dropna(subset="overlap")
    edges = np.histogram_bin_edges(known["overlap"], BARS)
    parts = {str(name): part["overlap"] for name, part in known.groupby("weights")}
    steps = [
        {"weights": WEIGHTS[name][0], "from": start, "to": end, "share": 100 * number / len(part)}
        for name, part in parts.items()
        for start, end, number in zip(
            edges.tolist(), edges[1:].tolist(), np.histogram(part, edges)[0].tolist(), strict=False
        )
    ]
    names, colours = [WEIGHTS[name][0] for name in parts], [WEIGHTS[name][1] for name in parts]
    drawn = over(steps).encode(
        alt.X("from:Q", title=title).bin("binned"),
        alt.X2("to:Q"),
        alt.Y("share:Q", title="pairs, %").stack(None),
        alt.Color("weights:N", legend=legend(names, "square")).scale(domain=names, range=colours),
        tooltip=["weights:N", *(alt.Tooltip(f"{column}:Q", format=".2f") for column in ("from", "to", "share"))],
    )
    about = f"Shares of {count(len(known) // max(len(parts), 1))} pairs of heads by {title}."
    return Chart(title.partition(":")[0], about, drawn.mark_bar(binSpacing=0, opacity=0.5).properties(height=160))
