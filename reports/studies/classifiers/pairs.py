"""What a page says of single heads on pairs of words: whether they are above the embedding and random weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from reports.formats import MISSING, count
from reports.scores.best_heads import FEW_CLUSTERS
from reports.studies.classifiers.tables import PAIRS
from reports.tables.cells import TextColumn

LEVEL: Final = 0.05
"A lead with an adjusted p below this is significant."

BASELINES: Final = (("embedding", "both embeddings"), ("random", "the same head with randomly initialised weights"))
"What each head is compared with, and what a sentence calls it."

Row = Mapping[str, Any]


def _met(row: Row, baseline: str) -> bool:
    """Return whether there is such a baseline, and a test of the lead over it."""
    return not math.isnan(row[f"{baseline}_p"])


def with_mark(row: Row) -> str:
    """Return the number of examples, marked where there are few clusters."""
    return ("⚠ " if 0 < row["clusters"] < FEW_CLUSTERS else "") + count(row["n"])


def _heads_above(baseline: str, title: str) -> TextColumn:
    """Return the column of how many heads lead a baseline significantly."""
    tip = f"Heads with an adjusted p below {LEVEL}, of all heads."
    above = f"{baseline}_above"
    return TextColumn(title, lambda row: f"{row[above]} of {row['heads']}" if _met(row, baseline) else MISSING, tip=tip)


PAIRED: Final = (
    PAIRS["task"].shown(kind="row"),
    PAIRS["features"].shown(),
    PAIRS["name"].shown("Head"),
    PAIRS["n"].shown(write=with_mark),
    PAIRS["accuracy"].shown_beside(),
    PAIRS["control_accuracy"].shown("Control"),
    PAIRS["selectivity"].shown_beside(),
    PAIRS["embedding_accuracy"].shown("Embedding"),
    PAIRS["embedding_lead"].shown_beside("Lead over it"),
    PAIRS["embedding_p"].shown("p"),
    _heads_above("embedding", "Heads above it"),
    PAIRS["random_accuracy"].shown("Random weights"),
    PAIRS["random_lead"].shown_beside("Lead over them"),
    PAIRS["random_p"].shown("p, random weights"),
    _heads_above("random", "Heads above them"),
    PAIRS["together_accuracy"].shown("All heads"),
)


def selected_pairs(rows: Sequence[Row]) -> list[Row]:
    """Return the selected head of every task and kind of features, with `heads` and how many lead each baseline.

    `embedding_above` and `random_above` count heads with an adjusted p below LEVEL.
    """
    selected: list[Row] = []
    for row in (row for row in rows if row["selected"]):
        heads = [head for head in rows if (head["task"], head["features"]) == (row["task"], row["features"])]
        above = {f"{baseline}_above": sum(head[f"{baseline}_p"] < LEVEL for head in heads) for baseline, _ in BASELINES}
        selected.append({**row, "heads": len(heads), **above})
    return selected


def pair_sentences(selected: Sequence[Row]) -> list[str]:
    """Say of each baseline over which tasks selected heads lead it significantly, and for which tasks no head does."""
    sentences = []
    for baseline, over in BASELINES:
        if not (rows := [row for row in selected if _met(row, baseline)]):
            continue
        led = [f"{row['task']} from {row['features']}" for row in rows if row[f"{baseline}_p"] < LEVEL]
        begin = f"In {len(led)} of {len(rows)} cases the selected head classifies significantly more pairs of words "
        sentences.append(f"{begin}correctly than {over}{': ' if led else ''}{', '.join(led)}.")
        above = {row["task"]: 0 for row in rows}
        for row in rows:
            above[row["task"]] += row[f"{baseline}_above"]
        if none := [task for task, heads in above.items() if not heads]:
            sentences[-1] += f" No head does for {' and '.join(none)}."
    return sentences
