"""What runs answer to the questions of the three targets: one row a question, beside its strongest baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from experiments.targets.runs import NamedRun
from probes import get_probe
from reports.scores.best_heads import BestHead, best_heads
from reports.targets.tables import ANSWERS
from reports.targets.target import FIRST, PLACES, TARGETS, RoleTarget

LEXICAL = "lexical table"

MOST = 5
"Heads that are named of those with the highest grade."


def answers(runs: Sequence[NamedRun]) -> pd.DataFrame:
    """Return the rows of `ANSWERS`: by target, by run as given, then by place, probe, label and variant."""
    rows = [row for target in TARGETS for run in runs for row in _of_run(target, run)]
    return pd.DataFrame(rows, columns=[*ANSWERS.names])


def _of_run(target: RoleTarget, run: NamedRun) -> Iterator[dict[str, Any]]:
    """Yield the rows of a target; the first row of each label that leads is the one that the summary tells."""
    asked = [row for probe in target.probes for row in best_heads(run.scores, probe) if row.n and row.name]
    placed = sorted(_placed(target, asked), key=lambda found: found[0])
    left = list(target.leads)
    for (place, *_), row in placed:
        summary = PLACES[place] == FIRST and row.label in left
        if summary:
            left.remove(row.label)
        yield _answer(target, run, row, PLACES[place], summary=summary)


def _placed(target: RoleTarget, asked: Sequence[BestHead]) -> Iterator[tuple[tuple[Any, ...], BestHead]]:
    """Yield each row with its sort key: place, probe, label, variant in the order of the probe."""
    variants = {probe: get_probe(probe).variants for probe in target.probes}
    order = [(*variants[row.probe], row.variant).index(row.variant) for row in asked]
    first: dict[tuple[str, str], int] = {}
    for row, variant in zip(asked, order, strict=True):
        first[row.probe, row.label] = min(variant, first.get((row.probe, row.label), variant))
    for row, variant in zip(asked, order, strict=True):
        place = target.place(row.label, first_variant=variant == first[row.probe, row.label])
        key = PLACES.index(place), target.probes.index(row.probe), target.rank(row.label), variant, row.variant
        yield key, row


def _answer(target: RoleTarget, run: NamedRun, row: BestHead, place: str, *, summary: bool) -> dict[str, Any]:
    known = vars(row)
    corpus = run.scores.loc[run.scores["split"] == "report", "corpus"]
    about: dict[str, Any] = {"target": target.name, "run": run.title, "model": run.model, "corpus": corpus.iloc[0]}
    about |= {"place": place, "summary": summary, **strongest_baseline(row), **highest(run.scores, row)}
    return {name: about[name] if name in about else known[name] for name in ANSWERS.names}


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
    accuracy, name, low, high = (
        max(there, key=lambda baseline: baseline[0]) if there else (math.nan, "", math.nan, math.nan)
    )
    lead = {"lead": row.accuracy - accuracy, "lead_low": low, "lead_high": high}
    return {"strongest": name, "strongest_accuracy": accuracy, **lead}


def highest(scores: pd.DataFrame, row: BestHead) -> dict[str, Any]:
    """Return the highest grade that any head has on the question, and the heads that have it."""
    of = {"probe": row.probe, "label": row.label, "variant": row.variant, "split": "report"}
    rows = scores[(scores[[*of]] == [*of.values()]).all(axis=1)]
    highest = int(rows["grade"].max())
    heads = rows[rows["grade"] == highest].sort_values(["accuracy", "layer", "head"], ascending=[False, True, True])
    names = heads["name"].tolist() if highest else []
    more = [f"+{len(names) - MOST}"] if len(names) > MOST else []
    return {"highest": highest, "highest_heads": ", ".join([*names[:MOST], *more])}
