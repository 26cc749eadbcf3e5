"""The record of an atlas, from which its page is made: runs in JSON, answers as Parquet and CSV."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import pandas as pd
from pydantic import Field

from reports.atlas.tables import ATLAS_TABLES
from reports.run.page_record import read_facts, write_facts
from reports.tables.grades import ANSWERS, GRADES

RECORD: Final = "atlas.json"

Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True)
class AtlasRun:
    """One of the runs, as the page names it; a run that failed has a message and no numbers."""

    name: str
    "Its folder below runs/."
    model: str
    "Title of the model, as the grid has it."
    corpus: str
    seed: Count
    heads: Count = 0
    "Heads of the model."
    grades: tuple[Count, ...] = ()
    "Heads by highest grade in a role of language: none, 1, 2, 3."
    position: Count = 0
    "Heads with a grade for position only."
    verdicts: tuple[Count, ...] = ()
    "Label–direction pairs in roles of language: yes, no, undecided."
    seconds: float = 0.0
    "How long the run took."
    failed: str = ""
    "The message of a run that failed."

    @property
    def specialised(self) -> int:
        """Heads with a grade in a role of language."""
        return sum(self.grades[1:])


@dataclass(frozen=True)
class AtlasFacts:
    """What atlas.json says, in its order."""

    headscope: str
    name: str
    made: str
    "By which workers, such as 2 local workers, 1 thread each."
    notes: tuple[str, ...]
    "What a reader should know before believing the numbers."
    runs: tuple[AtlasRun, ...]

    def __post_init__(self) -> None:
        """Refuse runs of one name, and runs whose counts are incomplete."""
        names = [run.name for run in self.runs]
        if len({*names}) < len(names):
            raise ValueError(f"two runs have the name {next(name for name in names if names.count(name) > 1)!r}")
        for run in self.runs:
            for what, counts, parts in (("grades", run.grades, GRADES), ("verdicts", run.verdicts, ANSWERS)):
                if len(counts) != (wanted := 0 if run.failed else len(parts)):
                    raise ValueError(f"{what} of run {run.name!r} are {len(counts)} numbers, not {wanted}")

    @property
    def finished(self) -> tuple[AtlasRun, ...]:
        """The runs that did not fail."""
        return tuple(run for run in self.runs if not run.failed)

    @property
    def failed(self) -> tuple[AtlasRun, ...]:
        """The runs that failed."""
        return tuple(run for run in self.runs if run.failed)


@dataclass(frozen=True)
class AtlasRecord(AtlasFacts):
    """Everything that the page shows."""

    answers: pd.DataFrame
    "Rows of `reports.atlas.tables.ATLAS`."
    across: pd.DataFrame
    "Rows of `reports.atlas.tables.ACROSS`; none where no model has two corpora."


def write_record(folder: Path, record: AtlasRecord) -> None:
    """Write atlas.json and both tables into `folder`; ValueError says what is wrong with the numbers."""
    write_facts(folder / RECORD, record, AtlasFacts)
    for (name, table), frame in zip(ATLAS_TABLES.items(), (record.answers, record.across), strict=True):
        table.write(frame, folder, name)


def read_record(folder: Path) -> AtlasRecord:
    """Return the record in `folder`; ValueError says what is wrong with it."""
    answers, across = (table.read(folder / f"{name}.parquet") for name, table in ATLAS_TABLES.items())
    facts = read_facts(folder / RECORD, AtlasFacts, "an atlas", "atlas")
    return AtlasRecord(**vars(facts), answers=answers, across=across)
