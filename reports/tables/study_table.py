"""A table of what a run measured of heads beside their scores: what it must hold, how it is written and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from reports.tables.columns import SPLITS
from reports.tables.schema import read_parquet, refuse, replace_file, typed

Refuse = Callable[[pd.Series, str], None]
"Called with a mark a row, and what is wrong with those that are marked."


def last_step(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the model's last step of training; all where its steps are not known."""
    return frame[frame["step"] == frame["step"].max()] if frame["step"].notna().any() else frame


def nothing_more(frame: pd.DataFrame, refuse_where: Refuse) -> None:
    """Have no further demands on a table."""


@dataclass(frozen=True)
class StudyTable:
    """What a table must hold."""

    columns: Mapping[str, str]
    "Column -> dtype, in order."
    key: tuple[str, ...]
    "The columns that tell its rows apart."
    check: Callable[[pd.DataFrame, Refuse], None] = nothing_more
    "Refuses what cannot have been measured."
    csv: bool = True
    "Whether it is written as CSV too; a table that only our own commands read is not."

    def validated(self, frame: pd.DataFrame, where: str | Path) -> pd.DataFrame:
        """Return the table with its columns in order; ValueError, one line that begins with `where`, on a wrong one."""
        ordered = typed(frame, self.columns, where)

        def refuse_where(wrong: pd.Series, complaint: str) -> None:
            refuse(ordered, wrong, where, complaint, self.key)

        if "split" in self.columns:
            refuse_where(~ordered["split"].isin(SPLITS), f"`split` is not one of {', '.join(SPLITS)}")
        self.check(ordered, refuse_where)
        refuse_where(ordered.duplicated(list(self.key)), f"two rows have the same {', '.join(self.key)}")
        return ordered

    def write(self, frame: pd.DataFrame, folder: Path, name: str) -> None:
        """Write NAME.parquet, and the same rows as NAME.csv where that is wanted, into `folder`."""
        found = self.validated(frame, folder / f"{name}.parquet")
        if self.csv:
            replace_file(found, folder / f"{name}.csv")
        replace_file(found, folder / f"{name}.parquet")

    def read(self, path: Path) -> pd.DataFrame:
        """Read a parquet file; ValueError says what is wrong with it."""
        return self.validated(read_parquet(path), path)


def read_tables(folder: Path, tables: Mapping[str, StudyTable]) -> dict[str, pd.DataFrame]:
    """Return those of the tables that lie in `folder`, by name; ValueError says what is wrong with one."""
    paths = {name: folder / f"{name}.parquet" for name in tables}
    return {name: tables[name].read(path) for name, path in paths.items() if path.is_file()}
