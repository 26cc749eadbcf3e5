"""The record of a page of targets, from which it is made: runs in JSON, answers and effects as CSV."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from reports.run.page_record import read_facts, write_facts
from reports.tables.files import replace_file
from reports.targets.tables import TARGET_TABLES

RECORD: Final = "targets.json"


@dataclass(frozen=True)
class TargetRun:
    """One of the runs, as the page names it."""

    name: str
    model: str
    texts: str
    "Corpora of the selection and the report split."
    made: str
    "When, and from which weights."
    part: str
    "What it gives to the page: targets, effects."


@dataclass(frozen=True)
class TargetFacts:
    """What targets.json says, in its order."""

    headscope: str
    runs: tuple[TargetRun, ...]
    notes: tuple[str, ...]
    "What a reader should know before believing the numbers."
    behaviours: dict[str, tuple[str, ...]]
    "Target -> the behaviours that belong to it."
    headless: tuple[str, ...]
    "Models without a masked-LM head, as far as their runs say."


@dataclass(frozen=True)
class TargetRecord(TargetFacts):
    """Everything that the page shows."""

    answers: pd.DataFrame
    "Rows of `reports.targets.tables.ANSWERS`."
    effects: pd.DataFrame
    "Rows of `reports.targets.tables.EFFECTS`."


def write_record(folder: Path, targets: TargetRecord) -> None:
    """Write targets.json, targets.csv and effects.csv into `folder`."""
    write_facts(folder / RECORD, targets, TargetFacts)
    for (name, table), frame in zip(TARGET_TABLES.items(), (targets.answers, targets.effects), strict=True):
        path = folder / f"{name}.csv"
        replace_file(table.validated(frame, path), path)


def read_record(folder: Path) -> TargetRecord:
    """Return the record in `folder`; ValueError says what is wrong with it."""
    answers, effects = (table.read(folder / f"{name}.csv") for name, table in TARGET_TABLES.items())
    facts = read_facts(folder / RECORD, TargetFacts, "a page of targets", "targets")
    return TargetRecord(**vars(facts), answers=answers, effects=effects)
