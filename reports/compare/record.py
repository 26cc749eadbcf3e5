"""The record of a comparison, from which its page is made: what was compared in JSON, what came out as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from reports.compare.table import RunPair
from reports.compare.tables import COMPARED, HEADS
from reports.run.page_record import read_facts, write_facts
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
class PairFacts:
    """What compare.json says of two runs, as `RunPair` has it."""

    one: str
    other: str
    shapes: tuple[tuple[int, int], tuple[int, int]]
    matched: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """What compare.json says, in its order."""

    headscope: str
    runs: tuple[Compared, ...]
    pairs: tuple[PairFacts, ...]


def write_compared(folder: Path, runs: Sequence[Compared], pairs: Sequence[RunPair], version: str) -> None:
    """Write compare.json, compare.csv and heads.csv into `folder`."""
    about = [PairFacts(pair.first, pair.second, pair.shapes, pair.matched, pair.notes) for pair in pairs]
    write_facts(folder / RECORD, Comparison(version, tuple(runs), tuple(about)), Comparison)
    for path, table, frames in (
        (folder / ROWS_FILE, COMPARED, [pair.rows for pair in pairs]),
        (folder / HEADS_FILE, HEADS, [pair.heads for pair in pairs]),
    ):
        replace_file(table.validated(pd.concat(frames, ignore_index=True), path), path)


def read_compared(folder: Path) -> tuple[Comparison, list[RunPair]]:
    """Return the comparison whose record lies in `folder`; ValueError says what is wrong with it."""
    tables = COMPARED.read(folder / ROWS_FILE), HEADS.read(folder / HEADS_FILE)
    found = read_facts(folder / RECORD, Comparison, "a comparison", "compare")
    pairs = []
    for pair in found.pairs:
        rows, heads = (table[(table["one"] == pair.one) & (table["other"] == pair.other)] for table in tables)
        own = rows.reset_index(drop=True), heads.reset_index(drop=True)
        pairs.append(RunPair(pair.one, pair.other, *own, pair.shapes, pair.matched, pair.notes))
    return found, pairs
