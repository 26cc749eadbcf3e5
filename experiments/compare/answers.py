"""What runs answer: their selected heads, each beside its strongest baseline; and what their models are called."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from experiments.statements.rule import CONTROLS
from reports import Run
from reports.formats import MISSING, day
from reports.run.record import CorpusFacts, RunRecord
from reports.scores.best_heads import BestHead
from reports.tables.grades import has_stable_grade

LEXICAL = "lexical table"

MOST = 5
"Heads that are named of those with the highest grade."


def selected_row(row: BestHead, scores: pd.DataFrame, names: Iterable[str], about: dict[str, Any]) -> dict[str, Any]:
    """Return the columns `names` of a selected head, beside the run that `about` names."""
    known = vars(row) | strongest_baseline(row) | highest(scores, row) | about
    return {name: known[name] for name in names}


def strongest_baseline(row: BestHead) -> dict[str, Any]:
    """Return the most accurate of baselines, controls, lexical table and rules, and the head's lead over it.

    All NaN, and no name, where the question has no baseline.
    """
    baselines = [
        (row.baseline_accuracy, row.baseline, row.margin_low, row.margin_high),
        (row.lexical_accuracy, LEXICAL, row.lexical_margin_low, row.lexical_margin_high),
        (row.rule_accuracy, row.rule, row.rule_margin_low, row.rule_margin_high),
    ]
    there = [baseline for baseline in baselines if not math.isnan(baseline[0])]
    accuracy, name, low, high = max(there, key=lambda one: one[0], default=(math.nan, "", math.nan, math.nan))
    lead = {"lead": row.accuracy - accuracy, "lead_low": low, "lead_high": high}
    return {"strongest": name, "strongest_accuracy": accuracy, **lead}


def highest(scores: pd.DataFrame, row: BestHead) -> dict[str, Any]:
    """Return the highest stable grade that any head has on the question, and the heads that have it."""
    of = {"probe": row.probe, "label": row.label, "variant": row.variant, "split": "report"}
    rows = scores[(scores[[*of]] == [*of.values()]).all(axis=1) & has_stable_grade(scores)]
    highest = int(rows["grade"].max()) if len(rows) else 0
    heads = rows[rows["grade"] == highest].sort_values(["accuracy", "layer", "head"], ascending=[False, True, True])
    names = heads["name"].tolist() if highest else []
    more = [f"+{len(names) - MOST}"] if len(names) > MOST else []
    return {"highest": highest, "highest_heads": ", ".join([*names[:MOST], *more])}


def same_weights(run: Run) -> tuple[str, ...]:
    """Return what runs of the same weights have in common: the hash, and for untrained weights how they were drawn.

    Untrained weights have the hash of those that they were made from. Where a record has no hash it is the name of the
    model.
    """
    model = run.record.model
    drawn = (model.source or "", str(run.record.seed)) if model.source in CONTROLS else ()
    return (model.sha256 or f"called {model.name or run.name}", *drawn)


def made_text(record: RunRecord, *, weights: bool = True) -> str:
    """Say when a run was made, with which version, and from which weights where those are known."""
    known = f", weights {record.model.sha256[:12]}" if weights and record.model.sha256 else ""
    return f"{day(record.started)}, headscope {record.headscope or ''}{known}"


def texts_text(corpus: CorpusFacts) -> str:
    """Say what texts a run has read, and how many where that is known."""
    return f"{corpus.name or MISSING}{f' ({corpus.texts()})' if corpus.texts() else ''}"


def model_titles(runs: Sequence[Run]) -> list[str]:
    """Return what the model of each run is called; names that several models share say of which run they are."""
    first: dict[tuple[str, ...], Run] = {}
    for run in runs:
        first.setdefault(same_weights(run), run)
    titles = {weights: _model_title(run) for weights, run in first.items()}
    times = Counter(titles.values())
    titles |= {of: f"{title} of {first[of].name}" for of, title in titles.items() if times[title] > 1}
    return [titles[same_weights(run)] for run in runs]


def _model_title(run: Run) -> str:
    model = run.record.model
    name = model.title or run.name
    return f"{name} ({model.source} weights)" if model.source in CONTROLS else name
