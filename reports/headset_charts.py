"""Charts of heads as a set as shapes for inline SVG: the heads on a plane, and what their subspaces share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap, to_hex

from reports.formats import count, decimal
from reports.headset import COMPARED, HeadsTogether
from reports.sandbox_charts import Chart, Key, Shape

Edges = npt.NDArray[np.float64]

PLANE, MARGIN = 560, 26
BARS: Final = 40
"Steps of a histogram."

LAYERS: Final = LinearSegmentedColormap.from_list("layers", ["#0072b2", "#009e73", "#d9a000", "#d55e00", "#cc79a7"])
"From the first layer to the last; every colour can be told from a white and from a black ground."

NAMED: Final = 24
"Heads whose roles are written on the plane."

OWN, FRESH = "var(--right)", "var(--wrong)"


def layer_colours(layers: int) -> list[str]:
    """Return the colour of every layer."""
    return [to_hex(LAYERS(place)) for place in np.linspace(0, 1, layers)] if layers > 1 else [to_hex(LAYERS(0.0))]


def headset_charts(found: HeadsTogether) -> list[Chart]:
    """Return the plane of the heads, then a panel a subspace; none where the run compared no heads."""
    if found.places.empty:
        return []
    whats = [what for what in COMPARED if (found.subspaces["what"] == what).any()]
    return [plane_chart(found.places), *(overlap_chart(found.subspaces, what) for what in whats)]


def plane_chart(places: pd.DataFrame) -> Chart:
    """Return the heads on their plane, coloured by layer, those with a role named."""
    across, up = places["x"].to_numpy(), places["y"].to_numpy()
    scale = (PLANE - 2 * MARGIN) / max(float(np.ptp(across)), 1e-9)
    height = float(np.ptp(up)) * scale + 2 * MARGIN
    x, y = MARGIN + (across - across.min()) * scale, height - MARGIN - (up - up.min()) * scale
    colours = layer_colours(int(places["layer"].max()) + 1)
    rows = places.to_dict("records")
    shapes = [
        Shape("dot", "point", left, top, text=_told(row), colour=colours[row["layer"]])
        for row, left, top in zip(rows, x.tolist(), y.tolist(), strict=True)
    ]
    named = [
        (row["role"], left, top) for row, left, top in zip(rows, x.tolist(), y.tolist(), strict=True) if row["role"]
    ]
    shapes += [_label(*one) for one in apart(named)]
    keys = tuple(Key(f"layer {number + 1}", "found", colour) for number, colour in enumerate(colours))
    said = "Near heads have maps that are alike; distances are in the table distances.parquet."
    return Chart("Heads on a plane, by the distance of their maps", said, height, tuple(shapes), keys, PLANE, "layers")


def _label(role: str, left: float, top: float) -> Shape:
    """Return a head's role beside its dot, on the side on which there is room."""
    look, x = ("name", left + 6) if left + 7 * len(role) < PLANE else ("name end", left - 6)
    return Shape("text", look, x, top + 3.5, text=role)


def _told(row: dict[object, object]) -> str:
    role = f", {row['role']}" if row["role"] else ""
    return (
        f"{row['name']}{role}; group {row['group']}, nearest {row['nearest']} ({decimal(float(str(row['distance'])))})"
    )


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


def overlap_chart(subspaces: pd.DataFrame, what: str) -> Chart:
    """Return how many pairs of heads share how much, of the model's heads and of heads with fresh weights."""
    height, left, right, bottom = 190.0, 34, 12, 36
    rows = subspaces[(subspaces["what"] == what) & subspaces["overlap"].notna()]
    low, high = (float(rows["overlap"].agg(end)) for end in ("min", "max"))
    edges = np.linspace(low, high if high > low else low + 1e-6, BARS + 1)
    first, last = float(edges[0]), float(edges[-1])
    shares = {
        weights: np.histogram(part["overlap"], edges)[0] / len(part)
        for weights, part in rows.groupby("weights", sort=True)
    }
    most = max(float(share.max()) for share in shares.values())
    width = 340

    def across(value: float) -> float:
        return left + (width - left - right) * (value - first) / (last - first)

    def up(value: float) -> float:
        return height - bottom - (height - bottom - 10) * value / most

    shapes = [Shape("path", "axis", d=f"M{left} {up(0):.1f}H{width - right}")]
    for value in (first, last):
        shapes.append(Shape("text", "tick middle", across(value), height - bottom + 14, text=decimal(value)))
    shapes.append(Shape("text", "tick end", left - 4, up(most) + 4, text=f"{100 * most:.0f} %"))
    shapes.append(Shape("text", "name middle", (left + width - right) / 2, height - 6, text=COMPARED[what]))
    keys = []
    for weights, share in shares.items():
        name, colour = ("this model", OWN) if weights == "own" else ("fresh weights", FRESH)
        corners = zip(pairwise(edges.tolist()), share.tolist(), strict=True)
        steps = "".join(f"V{up(value):.1f}H{across(end):.1f}" for (_, end), value in corners)
        shapes.append(Shape("path", "curve", d=f"M{across(first):.1f} {up(0):.1f}{steps}V{up(0):.1f}", colour=colour))
        keys.append(Key(name, "found", colour))
    said = f"Shares of {count(len(rows) // max(len(shares), 1))} pairs of heads by {COMPARED[what]}."
    return Chart(COMPARED[what].partition(":")[0], said, height, tuple(shapes), tuple(keys), width, "weights")
