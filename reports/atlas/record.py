"""The record of an atlas, from which its page is made: runs in JSON, answers as Parquet and CSV."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import pandas as pd

from reports.atlas.tables import ACROSS, ACROSS_NAME, ATLAS, NAME
from reports.messages import one_line
from reports.run.replacing import replace_text
from reports.tables.grades import ANSWERS, GRADES

RECORD: Final = "atlas.json"


@dataclass(frozen=True)
class AtlasRun:
    """One of the runs, as the page names it; a run that failed has a message and no numbers."""

    name: str
    "Its folder below runs/."
    model: str
    "Title of the model, as the grid has it."
    corpus: str
    seed: int
    heads: int = 0
    "Heads of the model."
    grades: tuple[int, ...] = ()
    "Heads by highest grade in a role of language: none, 1, 2, 3."
    position: int = 0
    "Heads with a grade for position only."
    verdicts: tuple[int, ...] = ()
    "Label–direction pairs in roles of language: yes, no, undecided."
    seconds: float = 0.0
    "How long the run took."
    failed: str = ""
    "The message of a run that failed."

    @property
    def specialised(self) -> int:
        """Heads with a grade in a role of language."""
        return sum(self.grades[1:])

    def fault(self) -> str:
        """Return what is wrong with its numbers; "" where nothing is."""
        for what, numbers, parts in (("grades", self.grades, GRADES), ("verdicts", self.verdicts, ANSWERS)):
            if len(numbers) != (0 if self.failed else len(parts)):
                return f"{what} of run {self.name!r} are {len(numbers)} numbers, not {0 if self.failed else len(parts)}"
        counts: tuple[Any, ...] = (self.seed, self.heads, self.position, *self.grades, *self.verdicts)
        for count in counts:
            if not isinstance(count, int) or count < 0:
                return f"run {self.name!r} has {count!r} where a count belongs"
        seconds: Any = self.seconds
        if not isinstance(seconds, int | float):
            return f"seconds of run {self.name!r} are {seconds!r}, not a number"
        return ""


@dataclass(frozen=True)
class AtlasRecord:
    """Everything that the page shows."""

    name: str
    runs: tuple[AtlasRun, ...]
    answers: pd.DataFrame
    "Rows of `reports.atlas.tables.ATLAS`."
    made: str
    "By which workers, such as 2 local workers, 1 thread each."
    version: str
    across: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=[*ACROSS.names]))
    "Rows of `reports.atlas.tables.ACROSS`; none where no model has two corpora."
    notes: tuple[str, ...] = ()
    "What a reader should know before believing the numbers."

    @property
    def finished(self) -> tuple[AtlasRun, ...]:
        """The runs that did not fail."""
        return tuple(run for run in self.runs if not run.failed)

    @property
    def failed(self) -> tuple[AtlasRun, ...]:
        """The runs that failed."""
        return tuple(run for run in self.runs if run.failed)


def write_record(folder: Path, record: AtlasRecord) -> None:
    """Write atlas.json and both tables into `folder`; ValueError says what is wrong with the numbers."""
    _check(record)
    folder.mkdir(parents=True, exist_ok=True)
    ATLAS.write(record.answers, folder, NAME)
    ACROSS.write(record.across, folder, ACROSS_NAME)
    about = {"headscope": record.version, "name": record.name, "made": record.made, "notes": record.notes}
    text = json.dumps(about | {"runs": [asdict(run) for run in record.runs]}, indent=2, ensure_ascii=False)
    replace_text(folder / RECORD, f"{text}\n")


def read_record(folder: Path) -> AtlasRecord:
    """Return the record in `folder`; ValueError says what is wrong with it."""
    path = folder / RECORD
    answers, across = ATLAS.read(folder / f"{NAME}.parquet"), folder / f"{ACROSS_NAME}.parquet"
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        runs = tuple(_run(run) for run in record["runs"])
        name, made, version = (str(record[key]) for key in ("name", "made", "headscope"))
        atlas = AtlasRecord(name, runs, answers, made, version, ACROSS.read(across), tuple(map(str, record["notes"])))
        _check(atlas)
        return atlas
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = f"not the record of an atlas ({type(error).__name__}: {error})"
        raise ValueError(one_line(f"{path}: {what}; make it again with 'headscope atlas'")) from error


def _run(values: dict[str, Any]) -> AtlasRun:
    return AtlasRun(**values | {name: tuple(values[name]) for name in ("grades", "verdicts")})


def _check(atlas: AtlasRecord) -> None:
    """Refuse runs of one name, runs whose counts are none, and answers of a run that is not there or failed."""
    names = [run.name for run in atlas.runs]
    if len({*names}) < len(names):
        raise ValueError(f"two runs have the name {next(name for name in names if names.count(name) > 1)!r}")
    for run in atlas.runs:
        if fault := run.fault():
            raise ValueError(fault)
    others = set(atlas.answers["run"]) - {run.name for run in atlas.finished}
    if others:
        raise ValueError(f"the table has rows of {min(others)!r}, which is no finished run")
