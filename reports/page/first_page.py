"""The first page of a run: its best heads beside baselines, before controls are read and anything is tested."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from reports.run.replacing import replace_text
from reports.scores.best_heads import best_heads, probes
from reports.scores.best_shown import best_shown
from reports.templates.environment import assets, environment


def write_first_page(path: Path, name: str, parts: Sequence[pd.DataFrame], later: Sequence[str]) -> Path:
    """Write to `path` the page of the run `name` as far as it is, and return the path.

    `parts` are untested scores in the columns of scores.parquet but for `maps` and `layer_attention`; `later` are the
    probes that are still to be scored.
    """
    scores = pd.concat(parts, ignore_index=True).assign(layer_attention="")
    report = scores[scores["split"] == "report"]
    best = {probe: [row for row in best_heads(scores, probe) if row.n and row.name] for probe in probes(scores)}
    text = (
        environment()
        .get_template("first_page.html.j2")
        .render(
            name=name,
            about=" on ".join(dict.fromkeys([*report["model"][:1], *report["corpus"][:1]])),
            tables=[best_shown(probe, rows, graded=False) for probe, rows in best.items() if rows],
            later=later,
            whole=f"{name}/report/index.html",
            style=assets(("page", "fold", "opening"), ".css"),
            script=assets(("page", "fold"), ".js"),
        )
    )
    return replace_text(path, text)
