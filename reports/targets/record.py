"""The record of a page of targets, from which it is made: runs in JSON, answers and effects as CSV."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from reports.messages import one_line
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
class TargetRecord:
    """Everything that the page shows."""

    runs: tuple[TargetRun, ...]
    answers: pd.DataFrame
    "Rows of `reports.targets.tables.ANSWERS`."
    effects: pd.DataFrame
    "Rows of `reports.targets.tables.EFFECTS`."
    notes: tuple[str, ...]
    "What a reader should know before believing the numbers."
    version: str
    behaviours: dict[str, tuple[str, ...]]
    "Target -> the behaviours that belong to it."
    headless: tuple[str, ...] = ()
    "Models without a masked-LM head, as far as their runs say."


def write_record(folder: Path, targets: TargetRecord) -> None:
    """Write targets.json, targets.csv and effects.csv into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for (name, table), frame in zip(TARGET_TABLES.items(), (targets.answers, targets.effects), strict=True):
        path = folder / f"{name}.csv"
        replace_file(table.validated(frame, path), path)
    record = {"headscope": targets.version, "runs": [asdict(run) for run in targets.runs], "notes": targets.notes}
    text = json.dumps(
        record | {"behaviours": targets.behaviours, "headless": targets.headless}, indent=2, ensure_ascii=False
    )
    (folder / RECORD).write_text(f"{text}\n", encoding="utf-8")


def read_record(folder: Path) -> TargetRecord:
    """Return the record in `folder`; ValueError says what is wrong with it."""
    path = folder / RECORD
    answers, effects = (table.read(folder / f"{name}.csv") for name, table in TARGET_TABLES.items())
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        runs = tuple(TargetRun(**run) for run in record["runs"])
        behaviours = {str(name): tuple(of) for name, of in record["behaviours"].items()}
        said, headless = tuple(record["notes"]), tuple(record.get("headless", ()))
        return TargetRecord(runs, answers, effects, said, str(record["headscope"]), behaviours, headless)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = f"not the record of a page of targets ({type(error).__name__}: {error})"
        raise ValueError(one_line(f"{path}: {what}; make it again with 'headscope targets'")) from error
