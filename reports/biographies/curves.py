"""What the charts and the slider view of head biographies show, taken from the tables of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from reports.formats import tenths

QUESTION: Final = ["probe", "label", "variant"]

MOST_CELLS: Final = 250_000
"Numbers of the slider view that a page holds; labels beyond are left out, those with the smallest margins first."


def drawn_curves(curves: pd.DataFrame, questions: Sequence[tuple[str, str, str]]) -> pd.DataFrame:
    """Return the curves of the chosen questions, means over seeds, in their order."""
    frames = []
    for question in questions:
        rows = curves[(curves[QUESTION] == list(question)).all(axis=1)]
        by_step = rows.groupby("step")
        mean = by_step[["margin", "low", "high"]].mean()
        if rows["seed"].nunique() > 1:  # the band tells seeds apart, not resamples
            mean = mean.assign(low=by_step["margin"].min(), high=by_step["margin"].max())
        said = by_step["name"].agg(", ".join)
        frames.append(mean.assign(name=said, role=f"{question[1]} ({question[2]})").reset_index())
    columns = ["step", "margin", "low", "high", "name", "role"]
    return pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)


def progress(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return losses, behaviour and the median effective number of roles by step, means over seeds."""
    steps = tables["biography_steps"].groupby("step")[["loss", "evaluation_loss", "behaviour"]].mean()
    effective = tables["biography_profiles"].groupby(["seed", "step"])["effective"].median().groupby("step").mean()
    return steps.join(effective).reset_index()


def slider_view(scores: pd.DataFrame, listed: pd.DataFrame) -> tuple[dict[str, Any], int]:
    """Return accuracies by label, seed and step, in whole tenths of a percent; and how many labels are left out."""
    layers, heads = int(scores["layer"].max()) + 1, int(scores["head"].max()) + 1
    peaks = listed.set_index(QUESTION)["peak_margin"]
    groups = {question: rows for question, rows in scores.groupby(QUESTION, sort=False)}
    order = sorted(groups, key=lambda one: (-float(peaks.get(one, -math.inf)), one))
    each = max(len(rows) for rows in groups.values())
    kept = order[: max(MOST_CELLS // each, 1)]
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
