"""What one run of an atlas found: its heads by grade, and the selected head of every label and direction."""

from __future__ import annotations

import pandas as pd

from experiments.atlas.grid import GridRun
from experiments.targets.answers import highest, strongest_baseline
from reports import Run
from reports.atlas.record import AtlasRun
from reports.atlas.tables import ATLAS
from reports.heads.grid import kinds_of_sinks
from reports.scores.best_heads import best_heads, page_scores, probes
from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Verdicts, find_all


def atlas_run(cell: GridRun, run: Run) -> AtlasRun:
    """Return the counts of a run, the same as its own page has."""
    heads = int(run.scores["name"].nunique())
    counts = Verdicts(RunThresholds(), find_all(run.scores), kinds_of_sinks(run))
    return AtlasRun(
        cell.name,
        cell.model,
        cell.corpus,
        cell.seed,
        heads=heads,
        grades=(heads - sum(counts.by_grade), *counts.by_grade[::-1]),
        position=counts.position,
        verdicts=tuple(counts.answers.values()),
        seconds=run.record.wall_seconds or 0.0,
    )


def answers(cell: GridRun, run: Run) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of `ATLAS` of a run, and a sentence for everything that one page cannot show."""
    scores, left_out = page_scores(run.scores)
    about = {"run": cell.name, "model": cell.model, "corpus": cell.corpus, "seed": cell.seed}
    rows = []
    for row in (row for probe in probes(scores) for row in best_heads(scores, probe) if row.n and row.name):
        known = vars(row) | strongest_baseline(row) | highest(scores, row) | about
        rows.append({name: known[name] for name in ATLAS.names})
    return pd.DataFrame(rows, columns=[*ATLAS.names]), left_out
