"""The record of a comparison, from which its page is made: what was compared in JSON, what came out as CSV."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from reports.compare.table import RunPair
from reports.compare.tables import COMPARED, HEADS
from reports.messages import one_line
from reports.tables.files import replace_file

RECORD, ROWS_FILE, HEADS_FILE = "compare.json", "compare.csv", "heads.csv"
"The files of a record: runs and pairs, rows (`COMPARED`), heads (`HEADS`)."


@dataclass(frozen=True)
class Compared:
    """One of the runs, as the page names it."""

    name: str
    model: str
    texts: str
    "What its heads were told on."
    made: str
    "When, with which version, from which weights."


@dataclass(frozen=True)
class Comparison:
    """Everything that the page shows."""

    runs: tuple[Compared, ...]
    pairs: tuple[RunPair, ...]
    version: str


def write_compared(folder: Path, comparison: Comparison) -> None:
    """Write compare.json, compare.csv and heads.csv into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, table, frames in (
        (folder / ROWS_FILE, COMPARED, [pair.rows for pair in comparison.pairs]),
        (folder / HEADS_FILE, HEADS, [pair.heads for pair in comparison.pairs]),
    ):
        replace_file(table.validated(pd.concat(frames, ignore_index=True), path), path)
    about = ("shapes", "matched", "notes")
    pairs = [
        {"one": pair.first, "other": pair.second} | {name: getattr(pair, name) for name in about}
        for pair in comparison.pairs
    ]
    record = {"headscope": comparison.version, "runs": [asdict(run) for run in comparison.runs], "pairs": pairs}
    (folder / RECORD).write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_compared(folder: Path) -> Comparison:
    """Return the comparison whose record lies in `folder`; ValueError says what is wrong with it."""
    path = folder / RECORD
    rows, heads = COMPARED.read(folder / ROWS_FILE), HEADS.read(folder / HEADS_FILE)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        runs = tuple(Compared(**run) for run in record["runs"])
        pairs = tuple(_pair(about, rows, heads) for about in record["pairs"])
        return Comparison(runs, pairs, str(record["headscope"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = (
            f"not the record of a comparison ({type(error).__name__}: {error}); make it again with 'headscope compare'"
        )
        raise ValueError(one_line(f"{path}: {what}")) from error


def _pair(about: Mapping[str, Any], rows: pd.DataFrame, heads: pd.DataFrame) -> RunPair:
    own, told = (
        table[(table["one"] == about["one"]) & (table["other"] == about["other"])].reset_index(drop=True)
        for table in (rows, heads)
    )
    one, other = (_shape(shape) for shape in about["shapes"])
    return RunPair(about["one"], about["other"], own, told, (one, other), about["matched"], tuple(about["notes"]))


def _shape(of: Sequence[int]) -> tuple[int, int]:
    layers, heads = of
    return layers, heads
