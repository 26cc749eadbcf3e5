"""A column of strings of a `datasets` data set, read without anything that lies elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mha.models.folders import HUB
from probes.corpora.line_reader import CorpusError
from probes.plain.text_tables import text_column

CARDS = ("README.md", ".huggingface.yaml")
"Files of a data set in which `datasets` reads where its data is."


@dataclass(frozen=True)
class DatasetTexts:
    """A column of strings of a data set that `datasets` opens: a folder, one saved to disk, or one of the hub."""

    name: str
    'The folder, or "hub:owner/name", for which alone the network is used.'
    subset: str | None = None
    split: str = "train"
    column: str | None = "text"
    "None for the one called text or sentence."
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
        column = text_column(columns, self.column, f"data set {self.name!r}")
        return found.select_columns([column])  # others may hold addresses, which are fetched when they are read

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
            column = self.column or text_column(list(row), None, f"data set {self.name!r}")
            if not isinstance(text := row[column], str):
                raise CorpusError(f"data set {self.name!r}: column {column!r} holds a {type(text).__name__}, no text")
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
