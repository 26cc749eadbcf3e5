"""Labelled rows: texts, pairs of texts or words, and what a classifier should say of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mha.messages import OneLineError
from probes.corpora.line_reader import refuse_near, separated, shortened
from probes.plain.text_tables import ONCE, group_of, second_of, table_rows


class LabelError(OneLineError):
    """A row that has no text or no label of the model."""


@dataclass(frozen=True)
class LabelledRow:
    """A text, a pair of texts or words, and what the model should say of it."""

    text: str
    pair: str | None
    words: tuple[str, ...]
    "With a label each; none where the text has one label."
    label: Any
    "Of a text a name or number, or several; one for each word; or which of the choices is right, from 0."
    group: str = field(repr=False)  # what is drawn does not depend on it
    "Rows of a group depend on each other."
    place: str = field(repr=False)  # where it stands decides nothing
    "Where it stands, for errors."
    choices: tuple[str, ...] = field(default=(), repr=False)
    "Second texts, of which the model is to choose one."


def has_labels(path: Path) -> bool:
    """Return whether a file is one of labelled rows: .csv; or .tsv or .jsonl whose header or first row has a label."""
    suffix = path.suffix.lower() if path.is_file() else ""
    if suffix == ".tsv":
        return "label" in next(separated(path), (1, []))[1]
    if suffix == ".jsonl":
        _, row = next(table_rows(path), ("", None))
        return isinstance(row, Mapping) and "label" in row
    return suffix == ".csv"


def labelled_rows(table: pd.DataFrame | Path) -> list[LabelledRow]:
    """Return the rows of a data frame, or of a .jsonl, .csv or .tsv file; raises LabelError where one is none.

    Columns are text (with text_pair, if there is one, the second text) and label, or words and label with a label for
    each word; as strings both are divided at blanks. A text may have a list of labels, or a list of choices, of which
    label is the number of the right one, from 0. Rows with one group, or else with one (first) text, are a cluster.
    """
    if rows := [_row(place, row) for place, row in table_rows(table)]:
        return rows
    raise LabelError(
        f"{table if isinstance(table, Path) else 'the table'}: no labelled row; files are .jsonl, .csv or .tsv"
    )


def _row(place: str, row: Any) -> LabelledRow:
    columns = dict(row) if isinstance(row, Mapping) else {}
    refuse_near(columns, ONCE, place)
    text, words, label, choices = map(columns.get, ("text", "words", "label", "choices"))
    pair = second_of(columns)
    group = f"group {own}" if (own := group_of(columns)) else ""
    choices = several(choices) if isinstance(choices, Iterable) and not isinstance(choices, str) else ()
    alone = choices or isinstance(words, str | Iterable) or not isinstance(text, str)
    if pair is not None and (alone or not isinstance(pair, str)):
        raise LabelError(f"{place}: expected text_pair as a text, beside text alone; got {shortened(str(pair))}")
    if isinstance(label, list | tuple | np.ndarray) and isinstance(text, str):
        label = several(label)
    if isinstance(words, str | Iterable):
        words, labels = several(words), several(label)
        if len(words) == len(labels) and all(isinstance(word, str) for word in words):
            return LabelledRow(" ".join(words), None, words, labels, group or " ".join(words), place)
        raise LabelError(f"{place}: {len(labels)} labels of {len(words)} words")
    if isinstance(text, str) and isinstance(label, str | int | float | np.number | np.bool_ | tuple) and label == label:
        return LabelledRow(text, pair, (), label, group or "\n".join((text, *choices)), place, choices)
    raise LabelError(f"{place}: expected text and label, or words and a label for each; got {shortened(str(row))}")


def number_of(label: Any) -> float:
    """Return the number that a label is or says; NaN where it is none."""
    found = pd.to_numeric(label, errors="coerce") if pd.api.types.is_scalar(label) else None
    return math.nan if found is None else float(found)


def several(value: Any) -> tuple[Any, ...]:
    """Return words, or their labels: of a string divided at blanks, of a list or an array as they are."""
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(np.asarray(value, dtype=object).tolist()) if isinstance(value, Iterable) else (value,)
