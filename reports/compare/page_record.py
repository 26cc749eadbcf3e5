"""A page about several runs, made from a record: facts in JSON, and tables in files beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

import pandas as pd
from pydantic import TypeAdapter, ValidationError

from reports.blocks.page import Page, write_page
from reports.messages import one_line
from reports.progress import Step, silent
from reports.run.replacing import replace_text
from reports.tables.files import replace_file
from reports.tables.table import Table

Record = TypeVar("Record")


@dataclass(frozen=True)
class RecordPage(Generic[Record]):
    """One kind of page, its record, and the files that they are."""

    name: str
    "Of the JSON file, and of the command that makes it."
    what: str
    "What it is the record of."
    facts: type[Any]
    "The dataclass of what the JSON file says, in its order."
    record: type[Record]
    "The same with further fields, a table each."
    tables: Mapping[str, Table]
    "Name of the file of each of these tables, in their order -> what it must hold."
    page: Callable[[Record, Path], Page]
    "Makes the page of a record that lies in a folder."
    suffix: str = ".csv"
    "Of the files of tables; of those in Parquet the same rows are written as CSV."

    @property
    def file(self) -> str:
        """Name of the JSON file."""
        return f"{self.name}.json"

    def write(self, folder: Path, record: Record, step: Step = silent) -> Path:
        """Write a record and its page into `folder`; return the page's path, ValueError says what is wrong with it."""
        about = self.facts(**{field.name: getattr(record, field.name) for field in fields(self.facts)})
        text = json.dumps(asdict(about), indent=2, ensure_ascii=False)
        replace_text(folder / self.file, f"{text}\n")
        for name, frame in self.frames(record).items():
            table = self.tables[name]
            if self.suffix == ".csv":
                path = folder / f"{name}.csv"
                replace_file(table.validated(frame, path), path)
            else:
                table.write(frame, folder, name)
        return self.write_page(folder, step)

    def frames(self, record: Record) -> dict[str, pd.DataFrame]:
        """Return the tables of a record by their names: its last fields."""
        last = fields(self.record)[-len(self.tables) :]  # type: ignore[arg-type]  # a dataclass
        return {name: getattr(record, field.name) for name, field in zip(self.tables, last, strict=True)}

    def write_page(self, folder: Path, step: Step = silent) -> Path:
        """Make index.html and report.md from the record in `folder`; ValueError says what is wrong with that."""
        return write_page(folder, self.page(self.read(folder), folder), step)

    def read(self, folder: Path) -> Record:
        """Return the record in `folder`; ValueError says what is wrong with it."""
        frames = [table.read(self._table(folder, name)) for name, table in self.tables.items()]
        path = folder / self.file
        try:
            facts = TypeAdapter(self.facts).validate_json(path.read_bytes())
        except ValidationError as error:
            first = error.errors()[0]
            fault = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
            said = f"not the record of {self.what} ({fault}); make it again with 'headscope {self.name}'"
            raise ValueError(one_line(f"{path}: {said}")) from error
        return self.record(*vars(facts).values(), *frames)

    def _table(self, folder: Path, name: str) -> Path:
        """Return the file of a table; published folders have Parquet alone."""
        path = folder / f"{name}{self.suffix}"
        return path if path.exists() or not path.with_suffix(".parquet").exists() else path.with_suffix(".parquet")
