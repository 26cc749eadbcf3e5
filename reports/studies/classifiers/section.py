"""What classifiers tell from the heads: the best head of every task beside its controls, parsers, and layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from reports.formats import MISSING, percent, signed, signed_interval
from reports.run.folder import RunFolder
from reports.studies.classifiers.pairs import LEVEL, PAIRED, Row, pair_sentences, selected_pairs, with_mark
from reports.studies.classifiers.tables import CLASSIFIER_TABLES, CLASSIFIERS, LAYERS, PARSER
from reports.tables.cells import TextColumn, columns_of
from reports.tables.text_table import TextTable

ARC: Final = "arc: "
"What the names of the tasks begin with that a pair's two attention values answer."


@dataclass(frozen=True)
class Classifiers:
    """What a page says about classifiers and parsers."""

    sentences: tuple[str, ...]
    tables: tuple[TextTable, ...]
    best: tuple[Row, ...]
    "Rows of classifiers.parquet: the chosen head of every task that is not about arcs."
    parsers: tuple[Row, ...]
    "Rows of parser.parquet."
    layers: Mapping[str, tuple[float, ...]]
    "Task -> accuracy with layers 0 to l."

    @property
    def drawn(self) -> bool:
        """Whether there is anything for a figure: arcs alone have theirs among the best heads."""
        return bool(self.best or self.parsers or self.layers)


def classifiers(run: RunFolder) -> Classifiers | None:
    """Return what the page says about the classifiers of a run; None where there were none."""
    found = {name: run.studies[name] for name in CLASSIFIER_TABLES if name in run.studies}
    if not found:
        return None
    chosen = _rows(found.get("classifiers"), lambda frame: frame[frame["selected"]])
    best = [row for row in chosen if not str(row["task"]).startswith(ARC)]
    arcs = sorted(
        (row for row in chosen if str(row["task"]).startswith(ARC)), key=lambda row: -float(row["selectivity_low"])
    )
    pairs = selected_pairs(_rows(found.get("pairs")))
    parsers, layers = _rows(found.get("parser")), found.get("layers")
    tables = [
        TextTable.of("Accuracy of the best head for each task", TASKS, best),
        TextTable.of("Arcs from a pair’s two attention values, coded online", ARCS, arcs),
        TextTable.of("Related words: the selected head against the embedding", PAIRED, pairs),
        TextTable.of("Parsers on all heads at once", PARSERS, parsers),
        *_layer_tables(layers),
    ]
    courses = {} if layers is None else {str(task): tuple(part["cumulative"]) for task, part in _by_task(layers)}
    return Classifiers(
        sentences=(*_told(best, "tasks"), *_told(arcs, "kinds of arcs"), *pair_sentences(pairs), *_parsed(parsers)),
        tables=tuple(table for table in tables if len(table)),
        best=tuple(best),
        parsers=tuple(parsers),
        layers=courses,
    )


def _rows(frame: pd.DataFrame | None, keep: Any = lambda frame: frame) -> list[Row]:
    rows: list[Row] = [] if frame is None else keep(frame).to_dict("records")
    return rows


def _by_task(layers: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(str(task), part.sort_values("layer")) for task, part in layers.groupby("task", sort=False)]


def _selective(row: Row, accuracy: str, selectivity: str) -> str:
    return MISSING if np.isnan(row[accuracy]) else f"{percent(row[accuracy])} ({signed(row[selectivity])})"


def _chances(kind: str, title: str) -> TextColumn:
    """Return the column of an accuracy to compare with, its selectivity behind it."""
    accuracy, selectivity = f"{kind}_accuracy", f"{kind}_selectivity"
    return CLASSIFIERS[accuracy].shown(title, write=lambda row: _selective(row, accuracy, selectivity))


_N: Final = CLASSIFIERS["n"].shown(write=with_mark)

_CODED: Final = (
    CLASSIFIERS["control_accuracy"].shown("Control"),
    CLASSIFIERS["selectivity"].shown_beside(),
    CLASSIFIERS["compression"].shown(),
    CLASSIFIERS["control_compression"].shown("Control’s compression"),
)

TASKS: Final = (
    CLASSIFIERS["task"].shown(kind="row"),
    CLASSIFIERS["name"].shown("Head"),
    CLASSIFIERS["classes"].shown("Labels"),
    _N,
    CLASSIFIERS["accuracy"].shown_beside(),
    *_CODED,
    CLASSIFIERS["majority"].shown(unit=False),
    CLASSIFIERS["control_majority"].shown("Control’s majority"),
    _chances("embedding", "Embedding"),
    _chances("random", "Random weights"),
)

ARCS: Final = (
    CLASSIFIERS["label"].shown(kind="row"),
    CLASSIFIERS["task"].shown("Variant", write=lambda row: str(row["task"]).removeprefix(ARC)),
    CLASSIFIERS["name"].shown("Head"),
    _N,
    CLASSIFIERS["accuracy"].shown_beside("Balanced accuracy"),
    *_CODED,
)

PARSERS: Final = (
    PARSER["parser"].shown(kind="row"),
    PARSER["weights"].shown("Weights of the model"),
    PARSER["parameters"].shown("Learned numbers"),
    PARSER["n"].shown(write=with_mark),
    PARSER["uas"].shown_beside("UAS"),
    PARSER["margin"].shown_beside("Margin over the next word"),
    PARSER["control_uas"].shown("Control"),
    PARSER["selectivity"].shown_beside(),
)


def _layer_tables(layers: pd.DataFrame | None) -> list[TextTable]:
    """One table of layers together, with the expected one, and one of each layer alone; tasks solved early first."""
    if layers is None:
        return []
    ordered = sorted(_by_task(layers), key=lambda one: float(np.nan_to_num(one[1]["expected_layer"].iloc[0], nan=1e9)))
    numbers = tuple(str(layer) for layer in sorted(layers["layer"].unique()))
    expected, together, alone = LAYERS["expected_layer"].shown_beside(), [], []
    for task, part in ordered:
        first = part.iloc[0].to_dict()
        solved = str(expected.write(first))
        rows = _rows(part)
        together.append((task, solved, *(_selective(row, "cumulative", "cumulative_selectivity") for row in rows)))
        alone.append((task, *(_selective(row, "accuracy", "selectivity") for row in rows)))
    columns = columns_of(("Task", "Expected layer", *numbers))
    return [
        TextTable.of("Accuracy with layers 0 to l, selectivity beside it", columns, together),
        TextTable.of("Accuracy with one layer alone, selectivity beside it", columns_of(("Task", *numbers)), alone),
    ]


def _told(rows: Sequence[Row], what: str) -> list[str]:
    if not rows:
        return []
    above = sum(row["selectivity_low"] > 0 for row in rows)
    beaten = [row for row in rows if row["ci_low"] > row["majority"] and row["embedding_p"] < LEVEL]
    text = f"In {above} of {len(rows)} {what} the interval of the best head’s selectivity lies above 0."
    if rows[0]["embedding_accuracy"] == rows[0]["embedding_accuracy"]:
        names = ", ".join(str(row["task"]) for row in beaten)
        text += f" A single head is significantly above the word’s embedding and the majority in {names or 'no task'}."
    return [text]


def _parsed(rows: Sequence[Row]) -> list[str]:
    """Say of each parser whether it is significantly above the next word, and what it is with random weights."""
    by_name = {(row["parser"], row["weights"]): row for row in rows}
    sentences = []
    for parser, sees in (("attention", "is given attention alone"), ("attention + words", "is given words as well")):
        row, baseline = by_name.get((parser, "trained")), by_name.get((parser, "random"))
        if row is not None:
            told = "significantly above" if row["margin_low"] > 0 else "not significantly above"
            begin = f"The parser that {sees} has a UAS of {percent(row['uas'])} %, {told} that of the next word by "
            between = signed_interval(row["margin_low"], row["margin_high"])
            sentences.append(f"{begin}{signed(row['margin'])} points {between}".rstrip())
            sentences[-1] += "." if baseline is None else f"; with random weights it has {percent(baseline['uas'])} %."
    return sentences
