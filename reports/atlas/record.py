"""The record of an atlas, from which its page is made: runs in JSON, selected heads as Parquet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

import pandas as pd

from reports.atlas.tables import ATLAS, FILE
from reports.messages import one_line
from reports.run.replacing import replace_text
from reports.tables.files import replace_file

RECORD: Final = "atlas.json"


@dataclass(frozen=True)
class AtlasRun:
    """One run."""

    name: str
    "Its folder, below runs/."
    model: str
    corpus: str
    "Model and corpus as the grid calls them."
    seed: int
    heads: int = 0
    "Heads of the model."
    grades: tuple[int, ...] = ()
    "Heads by their highest grade in a role of language, from 0 on."
    position: int = 0
    "Heads that have a grade in position alone."
    verdicts: tuple[int, ...] = ()
    "Label-direction pairs in roles of language with the verdict yes, no, undecided."
    seconds: float = 0.0
    "From the start of the run to its last number."
    failed: str = ""
    "What was wrong, where it failed; all other numbers are 0 then."

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """Return the run that `asdict` and JSON have made into plain values."""
        return cls(**{name: tuple(one) if isinstance(one, list) else one for name, one in values.items()})

    @property
    def specialised(self) -> int:
        """Heads with a grade in a role of language."""
        return sum(self.grades[1:])


@dataclass(frozen=True)
class AtlasRecord:
    """Everything that the page shows."""

    name: str
    runs: tuple[AtlasRun, ...]
    answers: pd.DataFrame
    "Rows of `reports.atlas.tables.ATLAS`."
    made: str
    "Who did the runs, such as: 2 workers of local, 1 thread each."
    version: str
    notes: tuple[str, ...] = ()

    @property
    def done(self) -> tuple[AtlasRun, ...]:
        """The runs that did not fail."""
        return tuple(run for run in self.runs if not run.failed)

    @property
    def failed(self) -> tuple[AtlasRun, ...]:
        """The runs that failed."""
        return tuple(run for run in self.runs if run.failed)


def write_record(folder: Path, atlas: AtlasRecord) -> None:
    """Write atlas.parquet and atlas.json into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(ATLAS.validated(atlas.answers, folder / FILE), folder / FILE)
    record = {"headscope": atlas.version, "name": atlas.name, "made": atlas.made, "notes": atlas.notes}
    text = json.dumps(record | {"runs": [asdict(run) for run in atlas.runs]}, indent=2, ensure_ascii=False)
    replace_text(folder / RECORD, f"{text}\n")


def read_record(folder: Path) -> AtlasRecord:
    """Return the record in `folder`; ValueError says what is wrong with it."""
    path, answers = folder / RECORD, ATLAS.read(folder / FILE)
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        runs = tuple(map(AtlasRun.read, record["runs"]))
        told = (str(record[key]) for key in ("made", "headscope"))
        return AtlasRecord(str(record["name"]), runs, answers, *told, tuple(record["notes"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = f"not the record of an atlas ({type(error).__name__}: {error})"
        raise ValueError(one_line(f"{path}: {what}; make it again with 'headscope atlas'")) from error
