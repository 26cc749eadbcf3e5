"""Texts for training: lines or files of plain text, or parts of a corpus."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mha.messages import nearest_name
from probes.corpora.conllu import CorpusError
from probes.corpora.corpus import Corpus, Named, data_folder
from probes.corpora.named import lacking
from probes.pairs.grammar_pairs import verb_questions
from probes.plain.raw_text import ABOUT

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
            inside = sorted(file for file in path.rglob("*.txt") if file.name != ABOUT)
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
    '"sentence", "document", or "verb" for `probes.pairs.grammar_pairs`.'

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
