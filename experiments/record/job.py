"""Work in parts: what is finished is kept beside the folder that it is for, so that work that was cut off goes on."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar
from urllib.parse import quote
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.config.config import differing_keys
from experiments.record.provenance import git_commit
from experiments.record.run_record import Journal
from mha.messages import OneLineError
from probes.maps.relation_attention import RelationAttention
from probes.scoring.tally import Numbers, Pooled, Sums
from reports.run.record import RunRecord, read_record
from reports.tables.files import read_parquet

Made = TypeVar("Made")

ANEW = "leave out --resume to begin anew"
MADE_FOR, MADE_BY = "made_for.json", "made_by.json"
"The files that say what parts must have in common, and of each how it was made."


class KeptError(OneLineError):
    """Parts of interrupted work that cannot be resumed."""


class Form(Protocol[Made]):
    """How a part is kept in a folder of its own."""

    def write(self, made: Made, folder: Path) -> None:
        """Write it into a new folder."""

    def read(self, folder: Path) -> Made:
        """Return what was written; raises ValueError, KeyError, TypeError or OSError where it cannot be read."""
        ...


class AsJson:
    """What JSON holds."""

    def write(self, made: Any, folder: Path) -> None:
        """Write it as the one value of an object."""
        _write_json(folder / "made.json", {"made": made})

    def read(self, folder: Path) -> Any:
        """Return it; keys of objects are text."""
        return _read_json(folder / "made.json")["made"]


JSON: Final = AsJson()


@dataclass(frozen=True)
class AsArrays(Generic[Made]):
    """What can be saved as arrays; they are compressed, so padding takes no room."""

    save: Callable[[Made], Mapping[str, Any]]
    take: Callable[[Mapping[str, Any]], Made]

    def write(self, made: Made, folder: Path) -> None:
        """Write its arrays."""
        np.savez_compressed(folder / "arrays.npz", **self.save(made))

    def read(self, folder: Path) -> Made:
        """Return what has these arrays."""
        return self.take(_read_arrays(folder / "arrays.npz"))


@dataclass(frozen=True)
class AsSums:
    """Sums of hits, with what observers have seen of the maps while they were made."""

    beside: Sequence[RelationAttention] = ()
    "The observers; with kept sums they get back what they had observed."

    def write(self, made: Pooled, folder: Path) -> None:
        """Write the sums, and what was observed."""
        np.savez(folder / "sums.npz", **packed(made))
        for number, one in enumerate(self.beside):
            np.savez(folder / f"attention-{number}.npz", **one.saved())

    def read(self, folder: Path) -> Pooled:
        """Return the sums, and give the observers what was observed."""
        for number, one in enumerate(self.beside):
            one.take(_read_arrays(folder / f"attention-{number}.npz"))
        return unpacked(_read_arrays(folder / "sums.npz"))


@dataclass(frozen=True)
class AsTables:
    """Tables by name, with what the journal of the run has noted by then."""

    journal: Journal

    def write(self, made: Mapping[str, pd.DataFrame], folder: Path) -> None:
        """Write the tables and the journal."""
        for number, frame in enumerate(made.values()):
            frame.to_parquet(folder / f"{number}.parquet")
        _write_json(folder / "names.json", {"names": [*made]})
        self.journal.complete(RunRecord()).write(folder / "journal.json")

    def read(self, folder: Path) -> Mapping[str, pd.DataFrame]:
        """Return the tables; the journal takes over what was noted."""
        self.journal.take(read_record(folder / "journal.json"))
        names = _read_json(folder / "names.json")["names"]
        return {one: read_parquet(folder / f"{number}.parquet") for number, one in enumerate(names)}


@dataclass(frozen=True)
class Job:
    """Work in parts, each kept in a folder of its own until all are done; without a folder nothing is kept."""

    folder: Path | None = None
    made_for: Mapping[str, Any] = field(default_factory=dict)
    "What parts must have in common: whatever numbers depend on."
    git_commit: str | None = None
    "Of the code that makes parts now."
    taken: list[str] = field(default_factory=list)
    "Parts that were there already."
    made_by: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    "Part -> the seconds that it took, and the commit."

    @classmethod
    def open(cls, out: Path, made_for: Mapping[str, Any], *, resume: bool, refuse: bool = True) -> Job:
        """Return the parts that are kept for the folder `out`; without `resume` they are deleted.

        Raises KeptError, which says in what they differ, where they were `made_for` something else; those are deleted
        too where there is nobody to `refuse` them to, unless they are of another kind of work (other keys).
        """
        folder, now = kept_folder(out), json.loads(json.dumps(made_for))
        differing, before = list[str](), dict[str, Any]()
        if there := resume and (folder / MADE_FOR).is_file():
            with _readable(folder / MADE_FOR):
                before = _read_json(folder / MADE_FOR)
                differing = differing_keys(before, now)
        if differing and (refuse or before.keys() != now.keys()):
            raise KeptError(f"{folder}: what was interrupted differs in {', '.join(differing)}; {ANEW}")
        if differing or not there:
            delete_parts(out)
        return cls(folder, now, git_commit())

    @property
    def some(self) -> bool:
        """Whether any part is kept."""
        return self.folder is not None and (self.folder / MADE_FOR).is_file()

    def has(self, name: str) -> bool:
        """Return whether a part is kept."""
        return self.folder is not None and _place(self.folder, name).is_dir()

    def part(self, name: str, make: Callable[[], Made], form: Form[Made] = JSON) -> Made:
        """Return a part, as it is kept, else made and kept; tables and sums without any are not kept.

        Raises KeptError for one that is kept and cannot be read.
        """
        if self.folder is None:
            return make()
        part = _place(self.folder, name)
        if part.is_dir():
            with _readable(part):
                by = _read_json(part / MADE_BY)
                self.made_by[name] = {what: by[what] for what in ("seconds", "git_commit")}
                found = form.read(part)
            self.taken.append(name)
            return found
        begun = time.perf_counter()
        made = make()
        self.made_by[name] = {"seconds": round(time.perf_counter() - begun, 1), "git_commit": self.git_commit}
        if made or form is JSON:
            self._keep(part, made, self.made_by[name], form)
        return made

    def _keep(self, part: Path, made: Made, made_by: Mapping[str, Any], form: Form[Made]) -> None:
        """Keep a part: written under another name, so that half of it is never taken for the whole."""
        unfinished = part.with_name(f"{part.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        if not self.some:
            _write_json(unfinished / MADE_FOR, self.made_for)
            (unfinished / MADE_FOR).replace(part.with_name(MADE_FOR))
        _write_json(unfinished / MADE_BY, made_by)
        form.write(made, unfinished)
        unfinished.rename(part)

    def entry(self) -> dict[str, Any]:
        """Return what a record says of the parts; `wall_seconds` is the sum of them."""
        seconds, commits = ({name: by[what] for name, by in self.made_by.items()} for what in ("seconds", "git_commit"))
        return {"wall_seconds": round(sum(seconds.values()), 1), "stages": seconds, "commits": commits}


NOTHING: Final = Job()
"Keeps nothing."


def kept_folder(out: Path) -> Path:
    """Return where the parts that are for the folder `out` are kept until it is whole."""
    return out.with_name(f".{out.name}-kept")


def delete_parts(out: Path) -> None:
    """Delete the parts that are kept for `out`: under another name, so that half of them are never taken for all."""
    folder = kept_folder(out)
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        deleted = folder.with_name(f"{folder.name}.deleted")
        shutil.rmtree(deleted, ignore_errors=True)
        folder.rename(deleted)
        shutil.rmtree(deleted, ignore_errors=True)


def packed(pooled: Pooled) -> dict[str, Any]:
    """Return sums of hits as arrays: those of question 3 are "3 clusters", "3 n" and "3 hits"."""
    arrays: dict[str, Any] = {"questions": np.array(json.dumps([*pooled]))}
    for number, sums in enumerate(pooled.values()):
        arrays |= {f"{number} clusters": np.array(sums.clusters, np.int64), f"{number} n": sums.n}
        arrays[f"{number} hits"] = _small(sums.hits)
    return arrays


def _small(numbers: Numbers) -> npt.NDArray[Any]:
    """Return the same numbers in one or two bytes each, where they are whole and small enough: few hits are shared."""
    for kind in (np.uint8, np.uint16):
        if np.array_equal(small := numbers.astype(kind), numbers):
            return small
    return numbers


def unpacked(arrays: Mapping[str, Any]) -> Pooled:
    """Return the sums of hits that were `packed`; all other measures are missing."""
    questions = json.loads(arrays["questions"].item())
    return {(probe, variant, label): _sums(arrays, nth) for nth, (probe, variant, label) in enumerate(questions)}


def _sums(arrays: Mapping[str, Any], number: int) -> Sums:
    hits = arrays[f"{number} hits"].astype(np.float64)
    clusters = tuple(arrays[f"{number} clusters"].tolist())
    return Sums.of_hits(clusters, arrays[f"{number} n"], hits)


def _place(folder: Path, name: str) -> Path:
    """Return the folder of a part."""
    return folder / quote(name, safe=" ,")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Name in a KeptError what of the parts cannot be read."""
    try:
        yield
    except (ValueError, KeyError, TypeError, OSError, EOFError, BadZipFile) as error:
        raise KeptError(f"{path}: cannot be read ({error}); {ANEW}") from error


def _read_arrays(path: Path) -> dict[str, Any]:
    with path.open("rb") as file, np.load(file) as arrays:
        return dict(arrays)


def _write_json(path: Path, values: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(values), encoding="utf-8")


def _read_json(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"expected a JSON object, got {type(found).__name__}")
    return found
