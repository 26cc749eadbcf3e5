"""The first page of a run: its selected heads beside baselines, before other models are read and anything is tested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pandas as pd
from markupsafe import Markup

from reports.blocks.block import Block, Heading, Paragraph, Raw, Section, TableBlock
from reports.blocks.page import Page
from reports.run.replacing import replace_text
from reports.scores.best_heads import BestHead, best_heads, probes
from reports.scores.best_table import best_shown

STATE: Final = (
    "Each row has the head selected on the selection split, evaluated on the report split in percent, beside the "
    "strongest baseline so far. A head above its baselines may still be no better than one without training. Still "
    "missing: {}, all tests, grades and verdicts."
)

WHOLE: Final = Markup(
    'When the run is complete, its report is <a href="{0}">{0}</a>, and this page is deleted. Until then an older '
    "report may be there."
)


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
    page = Page(
        title=f"Attention heads of {first['model']} on {first['corpus']}",
        sections=(
            Section("state", "Summary", [*_state(name, controls, later)]),
            Section("best", "Best heads", [*_best(best)]),
        ),
        byline=(("run", name), "not the whole report"),
        kicker="headscope report, first page",
        assets=("opening",),
    )
    return replace_text(path, page.html)


def _state(name: str, controls: Sequence[str], later: Sequence[str]) -> Iterator[Block]:
    yield Paragraph("No verdict yet: heads have not been compared with other models.")
    yield Paragraph(STATE.format(", ".join(controls)))
    if later:
        probes_left = ", ".join(later)
        yield Paragraph(
            f"Probes that are still to be scored: {probes_left}. They are added here; reload the page to see them."
        )
    yield Paragraph(WHOLE.format(f"{name}/report/index.html"))
    yield Raw("rivals_legend", None)


def _best(best: Mapping[str, Sequence[BestHead]]) -> Iterator[Block]:
    for place, (probe, rows) in enumerate(best.items(), 1):
        if rows:
            shown = best_shown(probe, rows, None)
            yield Heading(shown.title)
            yield TableBlock(shown, caption=False, sorts=True, filter=str(place), wraps=True)
