"""The first page of a run: its selected heads beside baselines, before other models are read and anything is tested."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from reports.run.replacing import replace_text
from reports.scores.best_heads import best_heads, probes
from reports.scores.best_shown import best_shown
from reports.templates.environment import assets, environment


def write_first_page(
    path: Path, name: str, parts: Sequence[pd.DataFrame], controls: Sequence[str], later: Sequence[str]
) -> Path:
    """Write to `path` the page of the run `name` as far as it is, and return the path.

    `parts` are untested scores in the columns of scores.parquet but for `maps` and `layer_attention`, one row each at
    the least; `controls` are still missing, and `later` are the probes that are still to be scored.
    """
    scores = pd.concat(parts, ignore_index=True).assign(layer_attention="")
    first = scores[scores["split"] == "report"].iloc[0]
    best = {probe: [row for row in best_heads(scores, probe) if row.n and row.name] for probe in probes(scores)}
    text = (
        environment()
        .get_template("first_page.html.j2")
        .render(
            name=name,
            about=f"{first['model']} on {first['corpus']}",
            tables=[best_shown(probe, rows, None) for probe, rows in best.items() if rows],
            controls=controls,
            later=later,
            whole=f"{name}/report/index.html",
            style=assets(("page", "fold", "opening"), ".css"),
            script=assets(("page", "fold"), ".js"),
        )
    )
    return replace_text(path, text)
