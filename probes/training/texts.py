"""Texts for training: lines or files of plain text, parts of a corpus, or a column of a `datasets` data set."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from mha.models.folders import HUB
from mha.nearest_name import nearest_name
from probes.corpora.conllu import CorpusError
from probes.corpora.corpus import Corpus, Named, data_folder
from probes.corpora.named import lacking
from probes.pairs.verb_number import verb_questions

NAMED_TEXTS = {
    "text_pretrain": Named(
        "text_pretrain",
        "English prose, novels, textbooks, science and news",
        "see SOURCE.txt",
        "several, see SOURCE.txt",
    ),
    "wikitext2": Named(
        "text_wikitext2",
        "WikiText-2, validation and test",
        "CC BY-SA",
        "Merity et al. 2016, github.com/pytorch/examples",
    ),
}
"Folders of plain text that are known by name."

NO_TEXT = "SOURCE.txt"
"What a folder of texts says of itself; it is not read as text."

CARDS = ("README.md", ".huggingface.yaml")
"Files of a data set in which `datasets` reads where its data is."


def texts_path(name: str) -> Path:
    """Return the folder of named texts; raises CorpusError for unknown names and missing folders, with what to do."""
    if name not in NAMED_TEXTS:
        hint = nearest_name(name, NAMED_TEXTS)
        raise CorpusError(f'unknown texts {name!r}; {hint} (files are given as path = "...")')
    path = data_folder() / NAMED_TEXTS[name].path
    if not path.is_dir():
        raise lacking(f"texts {name!r} are not", name, path, path.name)
    return path


@dataclass(frozen=True)
class TextFiles:
    """Files of plain text, and folders of *.txt in the order of their names, read anew every time."""

    paths: tuple[Path, ...]
    unit: str = "line"
    '"line": every line that is not blank is a text; "file": every file is one.'

    def __post_init__(self) -> None:
        """Refuse what is not there."""
        if self.unit not in ("line", "file"):
            raise CorpusError(f"unit is {self.unit!r}, expected 'line' or 'file' for plain text")
        if not self.files():
            raise CorpusError(f"{', '.join(map(str, self.paths))}: no *.txt here")

    def files(self) -> list[Path]:
        """Return the files that are read."""
        found: list[Path] = []
        for path in self.paths:
            if not path.exists():
                raise CorpusError(f"{path}: no such file or folder of texts")
            inside = sorted(file for file in path.rglob("*.txt") if file.name != NO_TEXT)
            found += inside if path.is_dir() else [path]
        return found

    def __iter__(self) -> Iterator[str]:
        """Yield the texts."""
        for path in self.files():
            try:
                with path.open(encoding="utf-8") as file:
                    parts = file if self.unit == "line" else [file.read()]
                    for number, part in enumerate(parts, start=1):
                        if "\0" in part:
                            raise CorpusError(f"{path}:{number}: a NUL byte, which no text has")
                        if text := part.strip():
                            yield text
            except UnicodeDecodeError as error:
                raise CorpusError(f"{path}: not UTF-8 text (byte {error.start})") from None


@dataclass(frozen=True)
class CorpusTexts:
    """The sentences or documents of a corpus, or questions about its verbs, words divided by blanks."""

    corpus: Corpus
    unit: str = "sentence"
    '"sentence", "document", or "verb" for `probes.pairs.verb_number`.'

    def __post_init__(self) -> None:
        """Refuse another unit."""
        if self.unit not in ("sentence", "document", "verb"):
            raise CorpusError(f"unit is {self.unit!r}, expected 'sentence', 'document' or 'verb' for a corpus")

    def __iter__(self) -> Iterator[str]:
        """Yield the texts."""
        for document in self.corpus.stream():
            if self.unit == "document":
                yield " ".join(document.words)
            elif self.unit == "sentence":
                yield from (" ".join(sentence.words) for sentence in document.sentences)
            else:
                yield from (" ".join(words) for part in document.split_sentences() for words in verb_questions(part))


@dataclass(frozen=True)
class DatasetTexts:
    """A column of strings of a data set that `datasets` opens: a folder, one saved to disk, or one of the hub."""

    name: str
    'The folder, or "hub:owner/name", for which alone the network is used.'
    subset: str | None = None
    split: str = "train"
    column: str = "text"
    streaming: bool = False
    "Whether it is read while it is downloaded, for one that fits on no disk."
    revision: str | None = None

    def open(self) -> Any:
        """Return the data set; raises CorpusError where it cannot be opened or has no such column."""
        self._refuse_elsewhere()
        try:
            found = self._opened()
        except CorpusError:
            raise
        except Exception as error:  # datasets raises what its readers raise
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise CorpusError(f"data set {self.name!r} cannot be opened: {why}") from error
        columns = found.column_names
        if columns is None:
            return found
        if self.column not in columns:
            raise CorpusError(f"data set {self.name!r} has no column {self.column!r}; it has {', '.join(columns)}")
        return found.select_columns([self.column])  # others may hold addresses, which are fetched when they are read

    def _opened(self) -> Any:
        import datasets

        if (saved := self._saved()) is not None:
            opened = datasets.load_from_disk(saved)
            return opened.to_iterable_dataset() if self.streaming else opened
        name = self.name.removeprefix(HUB)
        return datasets.load_dataset(
            name, self.subset, split=self.split, streaming=self.streaming, revision=self.revision
        )

    def _refuse_elsewhere(self) -> None:
        """Raise CorpusError for a name that is neither of a folder nor of the hub, and for data that is elsewhere."""
        if self.name.startswith(HUB):
            return
        if not Path(self.name).is_dir():
            raise CorpusError(f"data set {self.name!r}: no such folder; one of the hub is called '{HUB}owner/name'")
        for card in (Path(self.name) / name for name in CARDS):
            if card.is_file() and (address := data_elsewhere(card)) is not None:
                raise CorpusError(
                    f"{card}: its data files are elsewhere ({address}); put them into the folder and name them there"
                )

    def _saved(self) -> Path | None:
        """Return the folder of a data set that `save_to_disk` wrote, of its split where it has several; else None."""
        folder = Path(self.name)
        if (folder / "state.json").is_file():
            return folder
        if not (folder / "dataset_dict.json").is_file():
            return None
        if not (folder / self.split / "state.json").is_file():
            there = ", ".join(sorted(path.parent.name for path in folder.glob("*/state.json")))
            raise CorpusError(f"data set {self.name!r} has no split {self.split!r}; it has {there}")
        return folder / self.split

    def __iter__(self) -> Iterator[str]:
        """Yield the texts that are not blank."""
        for row in self.open():
            if not isinstance(text := row[self.column], str):
                raise CorpusError(
                    f"data set {self.name!r}: column {self.column!r} holds a {type(text).__name__}, no text"
                )
            if text.strip():
                yield text


def data_elsewhere(card: Path) -> str | None:
    """Return the first address among the data files that the card of a data set names; None where all are files."""
    import yaml

    front = re.match(r"\s*---\n(.*?)\n---", text := card.read_text(encoding="utf-8", errors="replace"), re.DOTALL)
    try:
        # the loader in Python takes seconds for some hundred brackets within each other
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        found = yaml.load(front[1] if front else text if card.suffix == ".yaml" else "", loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CorpusError(f"{card}: not YAML ({str(error).splitlines()[0]})") from None
    configs = found.get("configs") if isinstance(found, dict) else None
    return next((part for part in _strings_in(configs) if "://" in part), None)


def _strings_in(found: object) -> Iterator[str]:
    """Yield the strings in nested lists and tables; what YAML's aliases name several times is gone through once."""
    left, seen = [found], set[int]()
    while left:
        part = left.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, list | dict) and id(part) not in seen:
            seen.add(id(part))
            left += part.values() if isinstance(part, dict) else part


@dataclass(frozen=True)
class Portion:
    """The held-out texts or the others, by a hash of each text, so that a text that comes twice is on one side."""

    texts: Iterable[str]
    share: float
    "Of the held-out texts, from 0 to 1."
    held_out: bool

    def __iter__(self) -> Iterator[str]:
        """Yield the texts of this side."""
        limit = self.share * 2**32
        return (
            text for text in self.texts if (zlib.crc32(text.encode("utf-8", "surrogatepass")) < limit) == self.held_out
        )


@dataclass(frozen=True)
class Stretch:
    """The texts from one number to another, for streams that are too long to be gone through."""

    texts: Iterable[str]
    start: int = 0
    stop: int | None = None

    def __iter__(self) -> Iterator[str]:
        """Yield the texts."""
        return islice(iter(self.texts), self.start, self.stop)
