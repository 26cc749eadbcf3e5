"""Where the files of named corpora are fetched from, and what must arrive."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pooch

from mha.messages import nearest_name
from probes.corpora.line_reader import CorpusError
from probes.corpora.named import NAMED, Named, ReleasedTreebank
from probes.pairs.corpora import NAMED_PAIRS
from probes.training.texts import NAMED_TEXTS

PINNED = Path(__file__).with_name("pinned.toml")
"Made from files at hand; a corpus whose bytes no address serves has its reason there instead of files."


@dataclass(frozen=True)
class SourceFile:
    """A file that is fetched."""

    name: str
    "Below the folder of its corpus."
    url: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Source:
    """Where a corpus is fetched from; without files the reason why it has to be fetched by hand."""

    name: str
    address: str
    about: Named
    folder: str = ""
    "Below the folder of named corpora."
    files: tuple[SourceFile, ...] = ()
    by_hand: str = ""

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(file.bytes for file in self.files)

    def missing(self, data: Path) -> list[SourceFile]:
        """Return the files that do not lie under `data`; raises CorpusError where another file lies in a place."""
        there = {file: path for file in self.files if (path := data / self.folder / file.name).exists()}
        for file, path in there.items():
            refuse_other(path, file.sha256, file.url)
        return [file for file in self.files if file not in there]


def refuse_other(path: Path, sha256: str, url: str) -> None:
    """Raise CorpusError where a file has another hash than that of `url`."""
    if pooch.file_hash(str(path)) != sha256:
        raise CorpusError(f"{path}: not the file of {url} (by its sha256); move it away to fetch that one")


@cache
def sources() -> dict[str, Source]:
    """Return where every named corpus is fetched from."""
    pinned = tomllib.loads(PINNED.read_text(encoding="utf-8"))
    return {name: _source(name, about, **pinned[name]) for name, about in (NAMED | NAMED_PAIRS | NAMED_TEXTS).items()}


def _source(name: str, about: Named, address: str, files: Sequence[dict[str, Any]] = (), **more: str) -> Source:
    found = tuple(SourceFile(url=address + file["name"], **file) for file in files)
    return Source(name, address, about, files=found, **more)


def source_of(name: str) -> Source | ReleasedTreebank:
    """Return the source of a named corpus, or the treebank that is named; raises CorpusError for other names."""
    if treebank := ReleasedTreebank.named(name):
        return treebank
    if name in sources():
        return sources()[name]
    known = nearest_name(name, sources())
    raise CorpusError(f"fetch: unknown corpus {name!r}; {known} (a treebank is called ud:German-PUD@r2.15)")
