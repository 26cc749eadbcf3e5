"""Charts of relations between heads: the heads on a plane, and what their subspaces share."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import altair as alt
import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap, to_hex

from reports.drawing.charts import Chart, layered, legend, over
from reports.formats import MISSING, count, decimal
from reports.studies.headset.section import COMPARED, HeadsTogether

PLANE: Final = 500
"Pixels between the outermost heads, for which labels are placed; on a much narrower screen there are none."

BARS: Final = 40
"Steps of a histogram."

LAYERS: Final = LinearSegmentedColormap.from_list("layers", ["#0072b2", "#009e73", "#d9a000", "#d55e00", "#cc79a7"])
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


def layer_colours(layers: int) -> list[str]:
    """Return the colour of every layer."""
    return [to_hex(LAYERS(place)) for place in np.linspace(0, 1, layers)] if layers > 1 else [to_hex(LAYERS(0.0))]


def headset_charts(headset: HeadsTogether) -> list[Chart]:
    """Return the plane of the heads, then a panel a subspace; none where the run compared no heads."""
    if headset.places.empty:
        return []
    whats = [what for what in COMPARED if (headset.subspaces["what"] == what).any()]
    return [plane_chart(headset.places), *(overlap_chart(headset.subspaces, what) for what in whats)]


def plane_chart(places: pd.DataFrame) -> Chart:
    """Return the heads on their plane, coloured by layer; a click on a head chooses it everywhere on the page.

    One unit is as long across as it is up, however wide the page is.
    """
    names = [f"layer {layer}" for layer in range(1, int(places["layer"].max()) + 2)]
    rows = [_told(row) for row in places.to_dict("records")]
    wide, tall = (max(float(np.ptp(places[axis])), 1e-9) for axis in ("x", "y"))
    unit = alt.param("unit", expr=f"max({wide} / (width - 60), {tall} / (height - 40))")
    at = _centred(alt.X("x:Q"), places["x"], "width"), _centred(alt.Y("y:Q"), places["y"], "height")
    chosen = alt.param("head", value="")
    is_chosen = alt.datum.head == chosen
    dots = over(rows).encode(
        *at,
        alt.Color("layer:N", legend=legend(names, "circle")).scale(domain=names, range=layer_colours(len(names))),
        size=alt.when(is_chosen).then(alt.value(200)).otherwise(alt.value(70)),
        strokeWidth=alt.when(is_chosen).then(alt.value(2.5)).otherwise(alt.value(0)),
        tooltip=[alt.Tooltip(f"{column}:N", title=name) for column, name in TOOLTIP.items()],
    )
    marks = dots.mark_circle(opacity=0.9, stroke="var(--ink)", cursor="pointer")
    height = min(max(round(PLANE * tall / wide) + 60, 240), 560)
    drawn = layered(marks, *_roles(rows, at, PLANE / wide)).add_params(unit, chosen).properties(height=height)
    text = "Near heads have similar maps; distances are in the table distances.parquet."
    return Chart("Heads on a plane, by the distance of their maps", text, drawn)


def _told(row: Mapping[Hashable, Any]) -> dict[str, Any]:
    """Return what the plane shows of a head, and tells where one points at it."""
    named = {"head": row["name"], "layer": f"layer {row['layer'] + 1}", "distance": decimal(row["distance"])}
    roles = {name: row[name] or MISSING for name in ("role", "surest", "accuracy", "margin")}
    return named | roles | {name: row[name] for name in ("x", "y", "group", "nearest")}


def _centred(channel: alt.X | alt.Y, values: pd.Series[float], size: str) -> alt.X | alt.Y:
    """Return the channel with as many units to both sides of the middle as there is room for."""
    middle = (float(values.min()) + float(values.max())) / 2
    low, high = (alt.expr(f"{middle} {sign} unit * {size} / 2") for sign in "-+")
    return channel.axis(None).scale(nice=False, zero=False, domainMin=low, domainMax=high)


def _roles(rows: Sequence[Mapping[str, Any]], at: tuple[alt.X | alt.Y, ...], scale: float) -> Iterator[alt.Chart]:
    """Yield the roles beside their heads, on the side on which there is room; `scale` is pixels a unit."""
    named = [row for row in rows if row["role"] != MISSING]
    kept = apart([(row["role"], scale * row["x"], scale * row["y"]) for row in named])
    shown = [row for row in named if (row["role"], scale * row["x"], scale * row["y"]) in kept]
    right = max(row["x"] for row in rows)
    sides: tuple[tuple[Literal["left", "right"], int], ...] = (("left", 7), ("right", -7))
    for side, aside in sides:
        part = [row for row in shown if (row["x"] + 7 * len(row["role"]) / scale <= right) == (side == "left")]
        if part:
            wide = alt.expr("width < 400 ? 0 : 1")
            yield over(part).mark_text(align=side, dx=aside, opacity=wide).encode(*at, text="role:N")


def apart(named: Sequence[tuple[str, float, float]], least: float = 12) -> list[tuple[str, float, float]]:
    """Return the labels that can be written without touching one that was written before, NAMED at the most."""
    kept: list[tuple[str, float, float]] = []
    for role, x, y in named:
        free = all(
            abs(y - other) > least or abs(x - left) > 6.5 * max(len(role), len(text)) for text, left, other in kept
        )
        if free and len(kept) < NAMED:
            kept.append((role, x, y))
    return kept


@dataclass(frozen=True)
class Overlaps:
    """How many pairs of heads share how much of a subspace, counted in steps."""

    edges: list[float]
    shares: dict[str, list[float]]
    "Weights -> percent of their pairs in each step."
    pairs: int
    "Of each kind of weights."


def overlaps(subspaces: pd.DataFrame, what: str) -> Overlaps:
    """Count the pairs of a subspace, those of the model and those of randomly initialised weights in the same steps."""
    rows = subspaces[(subspaces["what"] == what) & subspaces["overlap"].notna()]
    low, high = (float(rows["overlap"].agg(end)) for end in ("min", "max"))
    edges = np.linspace(low, high if high > low else low + 1e-6, BARS + 1)
    weights = {str(name): part["overlap"] for name, part in rows.groupby("weights", sort=True)}
    shares = {name: (100 * np.histogram(part, edges)[0] / len(part)).tolist() for name, part in weights.items()}
    return Overlaps(edges.tolist(), shares, len(rows) // max(len(weights), 1))


def overlap_chart(subspaces: pd.DataFrame, what: str) -> Chart:
    """Return the distribution of overlap over pairs of heads, of the model and of randomly initialised weights."""
    counted = overlaps(subspaces, what)
    steps = [
        {"weights": WEIGHTS[name][0], "from": start, "to": end, "share": share}
        for name, shares in counted.shares.items()
        for start, end, share in zip(counted.edges, counted.edges[1:], shares, strict=False)
    ]
    names, colours = zip(*(WEIGHTS[name] for name in counted.shares), strict=True)
    drawn = over(steps).encode(
        alt.X("from:Q", title=COMPARED[what]).bin("binned"),
        alt.X2("to:Q"),
        alt.Y("share:Q", title="pairs, %").stack(None),
        alt.Color("weights:N", legend=legend(names, "square")).scale(domain=names, range=colours),
        tooltip=["weights:N", *(alt.Tooltip(f"{column}:Q", format=".2f") for column in ("from", "to", "share"))],
    )
    text = f"Shares of {count(counted.pairs)} pairs of heads by {COMPARED[what]}."
    title = COMPARED[what].partition(":")[0]
    return Chart(title, text, drawn.mark_bar(binSpacing=0, opacity=0.5).properties(height=160))
