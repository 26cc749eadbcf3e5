"""A run folder, opened for reading: what was scored, on what, and with which configuration."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pandas as pd

from reports.run.record import RunRecord, read_record
from reports.run.sentence_attention import SentenceAttention
from reports.tables import biographies
from reports.tables.scores import EXAMPLES, SCORES
from reports.tables.table import Table, last_step, read_tables

PUBLISHED = ("run.json", "config.toml", "scores.parquet")
"Files of every published run; of heads neither selected nor with a grade its scores have the accuracy alone."

FILES = (*PUBLISHED, "examples.parquet")
"What a folder must hold to be a run folder."


class RunFolderError(ValueError):
    """A file of a run folder that cannot be understood."""


@dataclass(frozen=True, repr=False)
class RunFolder:
    """The numbers of one finished run, as its folder holds them; `print` says which run."""

    folder: Path
    scores: pd.DataFrame
    "One row a model x step x corpus x maps x probe x label x variant x layer x head x split (`SCORES`)."
    examples: pd.DataFrame
    "One row an arc of the sentences that the page shows (`EXAMPLES`)."
    record: RunRecord
    "What run.json says: model, corpora, versions, counts of what was dropped, times."
    config: str
    "config.toml as written: everything that was decided, defaults included."
    attention: SentenceAttention | None = None
    "What every head does on the sentences that the page shows; None where the run kept none."

    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    "What was measured of heads beside their scores: tables by name, see `reports.measures.registry`."

    @classmethod
    def read(cls, path: str | Path, tables: Mapping[str, Table], *, published: bool = False) -> Self:
        """Read the run folder at `path`; `tables` are those of measures that it may hold, by name.

        With `published` it may also be what was published of a run, for readers of selected heads alone.
        Raises FileNotFoundError where there is no such folder or a file of it is missing, RunFolderError where one of
        its files cannot be understood.
        """
        folder = Path(path)
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder}: no such folder; expected a run folder, made by 'headscope run CONFIG'")
        missing = [name for name in (PUBLISHED if published else FILES) if not (folder / name).is_file()]
        if missing:
            raise FileNotFoundError(
                f"{folder}: not a finished run folder, {', '.join(missing)} missing; "
                "make one with 'headscope run CONFIG'"
            )
        try:
            return cls._read(folder, tables)
        except ValueError as error:
            raise RunFolderError(str(error)) from error

    @classmethod
    def _read(cls, folder: Path, tables: Mapping[str, Table]) -> Self:
        examples = folder / "examples.parquet"
        return cls(
            folder=folder,
            scores=SCORES.read(folder / "scores.parquet"),
            examples=EXAMPLES.read(examples) if examples.is_file() else pd.DataFrame(columns=[*EXAMPLES.names]),
            record=read_record(folder / "run.json"),
            config=(folder / "config.toml").read_text(encoding="utf-8"),
            attention=SentenceAttention.read(folder),
            tables=_whole(read_tables(folder, tables), folder),
        )

    @property
    def name(self) -> str:
        """Name of the run; the folder's where run.json gives none."""
        return self.record.name or self.folder.name

    @property
    def settings(self) -> Mapping[str, Any]:
        """config.toml as it was read in; raises RunFolderError where it cannot be read."""
        try:
            return tomllib.loads(self.config)
        except (ValueError, RecursionError) as error:
            raise RunFolderError(
                f"{self.folder / 'config.toml'}: not TOML ({error}); run again to make a new one"
            ) from error

    @property
    def without_items(self) -> list[str]:
        """Probes that the config names and that have no score, for the corpora have nothing that they ask about."""
        scored = set(self.scores["probe"])
        return [name for name in self.settings.get("probes", {}).get("names", ()) if name not in scored]

    def facts(self, measure: str) -> Mapping[str, Any]:
        """Return what run.json says of a measure for all heads together; nothing where it says nothing."""
        return (self.record.facts or {}).get(measure, {})

    def last(self, table: str) -> pd.DataFrame:
        """Return the rows of a table of a measure that are of the model's last step; none where there is no table."""
        found = self.tables.get(table, pd.DataFrame())
        return last_step(found) if len(found) else found

    @property
    def layers(self) -> int:
        """Number of layers of the model."""
        return int(self.scores["layer"].max()) + 1 if len(self.scores) else 0

    @property
    def heads(self) -> int:
        """Number of heads of the widest layer."""
        return int(self.scores["head"].max()) + 1 if len(self.scores) else 0

    def __repr__(self) -> str:
        """Which run it is, in one line."""
        asked = self.scores["probe"].nunique()
        return (
            f"Run {self.name!r}: {', '.join(self.scores['model'].drop_duplicates())}, {self.layers} layers x "
            f"{self.heads} heads, {asked} {'probe' if asked == 1 else 'probes'}, {len(self.scores):,} scores"
        )


def _whole(tables: Mapping[str, pd.DataFrame], folder: Path) -> Mapping[str, pd.DataFrame]:
    """Return the tables; raises ValueError where one of biographies is missing beside the others."""
    needed = {*biographies.TABLES} - {*biographies.OPTIONAL}
    if biographies.MAIN in tables and (lacking := sorted(needed - {*tables})):
        raise ValueError(f"{folder / lacking[0]}.parquet: missing beside {biographies.MAIN}.parquet; run again")
    return tables
