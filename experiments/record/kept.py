"""The finished parts of an interrupted run, kept beside its folder for `headscope run --resume`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.config.config import Config, flat_keys, resolved
from experiments.record.parts import delete_parts
from experiments.record.provenance import device_name, processor_name, uncommitted_changes
from experiments.record.run_record import Journal
from mha.messages import OneLineError
from probes.corpora.corpus import data_folder
from probes.corpora.named import NAMED_RATINGS
from probes.evidence.results import SPLITS
from probes.maps.relation_attention import RelationAttention
from probes.pairs.corpora import NAMED_PAIRS
from probes.scoring.tally import Numbers, Pooled, Sums
from reports.run.record import RunRecord, read_record
from reports.tables.files import read_parquet

Made = TypeVar("Made")

ANEW = "leave out --resume to begin anew"
MADE_FOR = "made_for.json"
"The file that says what parts must have in common."


class KeptError(OneLineError):
    """Parts of an interrupted run that cannot be resumed."""


def kept_folder(run: Path) -> Path:
    """Return where the parts of the run folder `run` are kept until it is whole."""
    return run.with_name(f".{run.name}-kept")


@dataclass(frozen=True)
class Kept:
    """The finished parts of one run, each a folder of its own; without a folder nothing is kept."""

    folder: Path | None = None
    made_for: Mapping[str, Any] = field(default_factory=dict)
    "Config and record of the run, as far as numbers depend on them."
    taken: list[str] = field(default_factory=list)
    "Parts that an interrupted run had measured."

    @classmethod
    def open(cls, run: Path, config: Config, record: RunRecord, *, resume: bool) -> Kept:
        """Return the parts that are kept for the folder `run`; without `resume` they are deleted.

        Raises KeptError, which says in what they differ, where they are of another config, model, corpus, version,
        processor or number of threads, or where a file that the config names has changed.
        """
        folder, values = kept_folder(run), resolved(config) | {"page": None}
        same = replace(record, started=None, wall_seconds=None, peak_memory_mb=None, cores=None)
        common = {"files": _files(values), "processor": processor_name(), "changes": uncommitted_changes()}
        common |= {"device name": device_name(record.device)}
        made_for = json.loads(json.dumps({"config": values, "record": asdict(same), **common}))
        if not (resume and (folder / MADE_FOR).is_file()):
            delete_parts(folder)
            return cls(folder, made_for)
        with _readable(folder / MADE_FOR):
            before = _read_json(folder / MADE_FOR)
        if found := _differing(before, made_for):
            raise KeptError(f"{folder}: the interrupted run differs in {', '.join(found)}; {ANEW}")
        return cls(folder, made_for)

    @property
    def some(self) -> bool:
        """Whether any part is kept."""
        return self.folder is not None and (self.folder / MADE_FOR).is_file()

    def sums(
        self, name: str, make: Callable[[], Sequence[Pooled]], beside: Sequence[RelationAttention] = ()
    ) -> Sequence[Pooled]:
        """Return sums of hits by split, as they are kept, else made and kept.

        `beside` observe the maps while the sums are made; with kept sums they get back what they had observed.
        """

        def load(part: Path) -> Sequence[Pooled]:
            for number, one in enumerate(beside):
                one.take(_read_arrays(part / f"attention-{number}.npz"))
            return [unpacked(_read_arrays(part / f"sums-{split}.npz")) for split in SPLITS]

        def write(sums: Sequence[Pooled], part: Path) -> None:
            for split, pooled in zip(SPLITS, sums, strict=True):
                np.savez(part / f"sums-{split}.npz", **packed(pooled))
            for number, one in enumerate(beside):
                np.savez(part / f"attention-{number}.npz", **one.saved())

        return self._made(name, make, write, load)

    def arrays(
        self,
        name: str,
        make: Callable[[], Made],
        save: Callable[[Made], Mapping[str, Any]],
        take: Callable[[Mapping[str, Any]], Made],
    ) -> Made:
        """Return what can be saved as arrays, as it is kept, else made and kept, compressed: padding takes no room."""
        path = "arrays.npz"
        return self._made(
            name,
            make,
            lambda made, part: np.savez_compressed(part / path, **save(made)),
            lambda part: take(_read_arrays(part / path)),
        )

    def seeds(self, name: str, make: Callable[[], list[int]]) -> list[int]:
        """Return seeds, as they are kept, else drawn and kept."""
        path = "seeds.json"
        return self._made(
            name,
            make,
            lambda seeds, part: _write_json(part / path, {"seeds": seeds}),
            lambda part: [int(seed) for seed in _read_json(part / path)["seeds"]],
        )

    def tables(
        self, name: str, journal: Journal, make: Callable[[], Mapping[str, pd.DataFrame]]
    ) -> Mapping[str, pd.DataFrame]:
        """Return tables by name, as they are kept, else made and kept; with them goes what the journal noted."""

        def write(tables: Mapping[str, pd.DataFrame], part: Path) -> None:
            for number, frame in enumerate(tables.values()):
                frame.to_parquet(part / f"{number}.parquet")
            _write_json(part / "names.json", {"names": [*tables]})
            journal.complete(RunRecord()).write(part / "journal.json")

        def load(part: Path) -> Mapping[str, pd.DataFrame]:
            journal.take(read_record(part / "journal.json"))
            names = _read_json(part / "names.json")["names"]
            return {one: read_parquet(part / f"{number}.parquet") for number, one in enumerate(names)}

        return self._made(name, make, write, load)

    def has(self, name: str) -> bool:
        """Return whether a part is kept."""
        return self.folder is not None and self._part(name).is_dir()

    def _part(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / "".join(letter if letter.isalnum() else "-" for letter in name)

    def _made(
        self, name: str, make: Callable[[], Made], write: Callable[[Made, Path], None], load: Callable[[Path], Made]
    ) -> Made:
        if self.folder is None:
            return make()
        part = self._part(name)
        if self.has(name):
            with _readable(part):
                found = load(part)
            self.taken.append(name)
            return found
        if not (result := make()):
            return result
        unfinished = part.with_name(f"{part.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        if not (self.folder / MADE_FOR).is_file():
            _write_json(unfinished / MADE_FOR, self.made_for)
            (unfinished / MADE_FOR).replace(self.folder / MADE_FOR)
        write(result, unfinished)
        unfinished.rename(part)
        return result


NOTHING: Final = Kept()
"Keeps nothing."


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


def _read_arrays(path: Path) -> dict[str, Any]:
    with path.open("rb") as file, np.load(file) as arrays:
        return dict(arrays)


def _sums(arrays: Mapping[str, Any], number: int) -> Sums:
    hits = arrays[f"{number} hits"].astype(np.float64)
    clusters = tuple(arrays[f"{number} clusters"].tolist())
    return Sums.of_hits(clusters, arrays[f"{number} n"], hits)


def _files(values: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return size and time of change of the files that a config names: by their paths, or as pairs or ratings.

    Corpora are left out, for the record has their fingerprints.
    """
    named = {**NAMED_PAIRS, **NAMED_RATINGS}
    found: dict[str, list[int]] = {}
    for key, value in flat_keys(values):
        for one in value if isinstance(value, list) else [value]:
            path = data_folder() / named[one].path if one in named else Path(str(one))
            if path.is_absolute() and not key.startswith("corpus."):
                files = sorted(path.rglob("*")) if path.is_dir() else [path]
                facts = {str(file): file.stat() for file in files if file.is_file()}
                found |= {name: [fact.st_size, fact.st_mtime_ns] for name, fact in facts.items()}
    return found


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Name in a KeptError what of the parts cannot be read."""
    try:
        yield
    except (ValueError, KeyError, TypeError, OSError, EOFError, BadZipFile) as error:
        raise KeptError(f"{path}: cannot be read ({error}); {ANEW}") from error


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the keys with other values, with the names of the tables they lie in."""
    one, other = dict(flat_keys(before)), dict(flat_keys(now))
    return [key for key in dict.fromkeys([*one, *other]) if one.get(key) != other.get(key)]


def _write_json(path: Path, values: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(values), encoding="utf-8")


def _read_json(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"expected a JSON object, got {type(found).__name__}")
    return found
