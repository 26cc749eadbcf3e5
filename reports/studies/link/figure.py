"""The static figure of the link: what heads attend to against what they cost, a panel a role."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.drawing.figures import BASELINE_ORANGE, HEAD_BLUE, INK, LINE, MUTED, _axes, _bare, _save, _styled
from reports.studies.link.section import ATTENDS, BOTH, EFFECT, Linked, LinkedRole

ACROSS: Final = 3
"Panels in a row."

WIDTH, HEIGHT, BESIDE, BETWEEN, TOP = 2.1, 1.5, 0.6, 0.75, 0.75
"Inches."

COLOURS: Final = {BOTH: HEAD_BLUE, ATTENDS: BASELINE_ORANGE, EFFECT: INK}
NAMED: Final = 5
"Heads of a panel that are named at the most."


def save_link(link: Linked, about: str, folder: Path) -> list[str]:
    """Write a panel a role to link.png and link.pdf in `folder`; returns that name."""
    down = -(-len(link.roles) // ACROSS)
    width = BESIDE + ACROSS * (WIDTH + BESIDE)
    height = TOP + down * (HEIGHT + BETWEEN)
    with _styled():
        figure = Figure(figsize=(width, height))
        figure.text(0.01, 1 - 0.1 / height, f"{about}: attention and causal effect", fontsize=10.5, va="top")
        text = (
            "A dot a head. Blue: attends and has an effect; orange: attends without an effect; dark: has an effect "
            "without attending."
        )
        figure.text(0.01, 1 - 0.33 / height, text, fontsize=7.5, color=MUTED, va="top")
        for number, role in enumerate(link.roles):
            row, column = divmod(number, ACROSS)
            bottom = height - TOP - (row + 1) * HEIGHT - row * BETWEEN
            _draw(_axes(figure, BESIDE + column * (WIDTH + BESIDE), bottom, WIDTH, HEIGHT), role)
        _save(figure, folder / "link")
    return ["link"]


def _draw(axes: Axes, role: LinkedRole) -> None:
    rows = role.rows
    rest = rows[~rows["verdict"].isin(COLOURS)]
    axes.scatter(100 * rest["accuracy"], rest["cost"], s=8, color=MUTED, alpha=0.45, linewidths=0)
    for verdict, colour in COLOURS.items():
        of_verdict = rows[rows["verdict"] == verdict]
        axes.scatter(100 * of_verdict["accuracy"], of_verdict["cost"], s=14, color=colour, linewidths=0, zorder=3)
    told = rows[rows["verdict"].isin(COLOURS)].nlargest(NAMED, "cost")
    for name, accuracy, cost in zip(told["name"], told["accuracy"], told["cost"], strict=True):
        axes.annotate(str(name), (100 * accuracy, cost), xytext=(3, 2), textcoords="offset points", fontsize=6)
    axes.axhline(0, color=LINE, lw=0.8, zorder=1)
    axes.set_title(f"{role.probe}: {role.label}\n{role.variant}", fontsize=7, loc="left", pad=3)
    axes.set_xlabel("accuracy in the role, %", fontsize=6.5, labelpad=1)
    axes.set_ylabel(f"cost, {role.behaviour}", fontsize=6.5, labelpad=1)
    axes.tick_params(labelsize=6)
    axes.grid(color=LINE, lw=0.4)
    axes.set_axisbelow(True)
    _bare(axes)
