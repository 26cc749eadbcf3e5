"""Corpora, named or from files: parsed once, kept as memory-mapped Arrow, given out as texts for a model to read."""

from __future__ import annotations

import hashlib
import mmap
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import chain
from pathlib import Path
from typing import Any

from mha.cache import replacing
from probes.corpora.named import NAMED as NAMED
from probes.corpora.named import Named as Named
from probes.corpora.named import cache_folder as cache_folder
from probes.corpora.named import corpus_path as corpus_path
from probes.corpora.named import data_folder as data_folder
from probes.corpora.readers import corpus_files, left_out, read_documents
from probes.corpora.windows import Cut, cut, windows
from probes.records import Document, Mention, Sentence, frozen_ints

LAYOUT = 6
"Part of every fingerprint: raise it when a reader changes what is read of words, trees or mentions."

STORED_LAYOUT = 2
"Part of the name of every stored file: raise it when the columns below change."


@dataclass(frozen=True)
class Corpus:
    """Documents that can be streamed again and again, and what a run records of them."""

    name: str
    stream: Callable[[], Iterator[Document]]
    fingerprint: str
    "Changes with the content; for files the sha256 of their names and bytes and of what was taken from them."
    stored: bool = False
    "Whether texts are kept on disk (in Arrow), for corpora that need not fit into memory."
    notes: tuple[str, ...] = ()
    "What a run says of how the texts came to be words or trees."
    annotated: Path | None = None
    "The CoNLL-U file into which a pipeline parsed plain text."

    @classmethod
    def read(cls, path: Path, *, name: str | None = None, first: int | None = None, raw: bool = False) -> Corpus:
        """Open a file, or a folder of files, of a format that `probes.corpora.readers` knows.

        `first` takes that many sentences of each file only. Words are parted by single blanks, and what was written
        without one is a remark of its sentence; with `raw` a blank is only where the file has it (`space_after`).
        """
        next(read_documents(path, first=first))
        digest = hashlib.sha256(f"{LAYOUT} {first} {'raw ' if raw else ''}".encode())
        for part in corpus_files(path):
            digest.update(part.name.encode())  # some formats tell the kind of their sentences in it
            with part.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)

        def stream() -> Iterator[Document]:
            documents = read_documents(path, first=first)
            return documents if raw else map(parted_by_blanks, documents)

        return cls(name or path.stem, stream, digest.hexdigest(), stored=True, notes=left_out(path))

    @classmethod
    def of(cls, documents: Iterable[Document], name: str = "memory") -> Corpus:
        """Hold documents in memory."""
        held = tuple(documents)
        digest = hashlib.sha256()
        for document in held:
            digest.update(repr((document.id, document.words, document.heads.tolist(), document.deprels)).encode())
            digest.update(repr((document.upos, document.feats, document.mentions)).encode())
            digest.update(repr([(sentence.id, len(sentence)) for sentence in document.sentences]).encode())
            if any(kinds := [sentence.kind for sentence in document.sentences]):
                digest.update(repr(kinds).encode())
            if document.space_after:
                digest.update(repr(document.space_after).encode())
            if any(seconds := [sentence.second for sentence in document.sentences]):
                digest.update(repr(seconds).encode())
        return cls(name, lambda: iter(held), digest.hexdigest())

    @classmethod
    def generated(cls, documents: int, seed: int, *, wide: bool = False) -> Corpus:
        """Generate documents of the embedded grammar, in its wide style if asked."""
        from probes.grammar import generate

        return cls.of(generate(documents, seed, wide=wide), f"grammar-wide-{seed}" if wide else f"grammar-{seed}")

    def halves(self) -> tuple[Corpus, Corpus]:
        """Divide the documents by a hash of their ids into a selection half and a report half.

        Where all of several documents fall into one half, the one with the smallest hash selects, the others report.
        """
        alone = self._alone()
        return self._half(0, alone), self._half(1, alone)

    def _alone(self) -> int | None:
        """Return the smallest hash of documents that all fall into one half; None where both halves have some."""
        hashes: list[int] = []
        for document in self.stream():
            hashes.append(_hash(document))
            if hashes[0] % 2 != hashes[-1] % 2:
                return None
        return min(hashes, default=None)

    def _half(self, number: int, alone: int | None) -> Corpus:
        def stream() -> Iterator[Document]:
            return (document for document in self.stream() if _half_of(document, alone) == number)

        rule = f"half {number}" if alone is None else f"half {number}, alone {alone}"  # two files in the cache
        fingerprint = hashlib.sha256(f"{self.fingerprint} {rule}".encode()).hexdigest()
        return replace(self, stream=stream, fingerprint=fingerprint)

    def size(self) -> dict[str, int]:
        """Return the numbers of documents, sentences and words and, if there are any, of sentences that are pairs."""
        return self.sentences().size()

    def sentences(self) -> Texts:
        """Return every sentence as a text of its own."""
        return self._texts("sentence", lambda document: (document.split_sentences(), Cut()))

    def windows(self, max_words: int) -> Texts:
        """Return the documents in windows of at most `max_words` words (see `probes.corpora.windows`)."""
        return self._texts(
            f"window-{max_words}", lambda document: (windows(document, max_words), cut(document, max_words))
        )

    def _texts(self, scope: str, divide: Callable[[Document], Divided]) -> Texts:
        if not self.stored:
            held = [(tuple(texts), lost) for texts, lost in map(divide, self.stream())]
            return MemoryTexts([text for texts, _ in held for text in texts], sum((lost for _, lost in held), Cut()))
        path = cache_folder() / "corpora" / f"{self.fingerprint[:24]}-{scope}-{STORED_LAYOUT}.arrow"
        if not path.exists():
            _store(map(divide, self.stream()), path)
        return ArrowTexts(path)


PUT = (
    "word with no blank after it (as SpaceAfter=No or the text itself says), read with one; "
    'corpus.text = "raw" reads the text as it is written'
)
"The remark on a blank that is not in the file."


def _hash(document: Document) -> int:
    return zlib.crc32(document.id.encode())


def _half_of(document: Document, alone: int | None) -> int:
    """Return 0 for a document that selects, 1 for one that reports; `alone` is the hash of one that selects alone."""
    return _hash(document) % 2 if alone is None else int(_hash(document) != alone)


def parted_by_blanks(document: Document) -> Document:
    """Return a document whose words are parted by single blanks, with a remark for every blank that was put."""
    if not document.space_after:
        return document
    sentences = (
        replace(sentence, space_after=(), remarks=(*sentence.remarks, *[PUT] * sentence.space_after[:-1].count(False)))
        for sentence in document.sentences
    )
    return Document(document.id, tuple(sentences))


Divided = tuple[Iterable[Document], Cut]
"The texts that a document is divided into, and what the borders between them take away."


def _size(ids: Sequence[str], seconds: Sequence[int], words: int) -> dict[str, int]:
    pairs = sum(second > 0 for second in seconds)
    counts = {"documents": len({*ids}), "sentences": len(seconds), "words": words}
    return counts | ({"pairs": pairs} if pairs else {})


class Texts:
    """Texts that a model reads one by one, in the order of the corpus."""

    lost: Cut
    "What the borders of windows took away."

    def __len__(self) -> int:
        """Return the number of texts."""
        raise NotImplementedError

    def take(self, indices: Sequence[int]) -> list[Document]:
        """Return the texts at these indices."""
        raise NotImplementedError

    def ids(self) -> list[str]:
        """Return the document id of every text."""
        return [text.id for chunk in self.chunks(1000) for text in chunk]

    def size(self) -> dict[str, int]:
        """Return the numbers of documents, sentences and words, as `Corpus.size`."""
        texts = [text for chunk in self.chunks(1000) for text in chunk]
        seconds = [sentence.second for text in texts for sentence in text.sentences]
        return _size([text.id for text in texts], seconds, sum(map(len, texts)))

    def remarks(self) -> Iterator[tuple[str, str]]:
        """Yield the id of a sentence and the remark for everything odd that was read."""
        for chunk in self.chunks(1000):
            for text in chunk:
                yield from ((sentence.id, remark) for sentence in text.sentences for remark in sentence.remarks)

    def wordings(self) -> list[int]:
        """Return for every text a hash of its words, of use in this process alone."""
        return [hash(text.words) for chunk in self.chunks(1000) for text in chunk]

    def chunks(self, size: int) -> Iterator[list[Document]]:
        """Yield all texts in order, `size` at a time."""
        for start in range(0, len(self), size):
            yield self.take(range(start, min(start + size, len(self))))


class MemoryTexts(Texts):
    """Texts held in memory."""

    def __init__(self, texts: Sequence[Document], lost: Cut | None = None) -> None:
        """Hold `texts`."""
        self._texts, self.lost = texts, lost or Cut()

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._texts)

    def take(self, indices: Sequence[int]) -> list[Document]:
        """Return the texts at these indices."""
        return [self._texts[i] for i in indices]


class ArrowTexts(Texts):
    """Texts in an Arrow file that is mapped into memory."""

    def __init__(self, path: Path) -> None:
        """Open the file."""
        from datasets import Dataset
        from datasets.table import InMemoryTable
        from pyarrow import py_buffer

        self._path = path
        with path.open("rb") as file:
            self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        table = InMemoryTable.from_buffer(py_buffer(self._mapped))
        self._rows = Dataset(table, fingerprint=path.stem)  # it would read all to make one
        self.lost = Cut(**{field.name: sum(self._rows[f"lost_{field.name}"][:]) for field in fields(Cut)})

    def __reduce__(self) -> tuple[type[ArrowTexts], tuple[Path]]:
        """Be opened anew where it is copied to."""
        return ArrowTexts, (self._path,)

    def __len__(self) -> int:
        return len(self._rows)

    def ids(self) -> list[str]:
        """Return the document id of every text."""
        return list(self._rows["id"])

    def size(self) -> dict[str, int]:
        """Return the numbers of documents, sentences and words, as `Corpus.size`."""
        columns = self._rows.select_columns(["id", "lengths", "seconds"])
        return _size(
            columns["id"][:], [*chain.from_iterable(columns["seconds"][:])], sum(map(sum, columns["lengths"][:]))
        )

    def remarks(self) -> Iterator[tuple[str, str]]:
        """Yield the id of a sentence and the remark for everything odd that was read."""
        columns = self._rows.select_columns(["sentences", "remarks"])
        for names, found in zip(columns["sentences"][:], columns["remarks"][:], strict=True):
            yield from ((names[one["sentence"]], one["remark"]) for one in found)

    def wordings(self) -> list[int]:
        """Return for every text a hash of its words, of use in this process alone."""
        return [hash(tuple(words)) for words in self._rows.select_columns(["words"])["words"][:]]

    def take(self, indices: Sequence[int]) -> list[Document]:
        """Return the texts at these indices."""
        parts = (self._few(indices[start : start + AT_A_TIME]) for start in range(0, len(indices), AT_A_TIME))
        return [*chain.from_iterable(parts)]

    def _few(self, indices: Sequence[int]) -> list[Document]:
        columns = self._rows[list(indices)]
        if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
            self._mapped.madvise(mmap.MADV_DONTNEED)  # what was read is no memory of this process from here on
        return [_document(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


AT_A_TIME = 16
"Texts that are taken from a file at a time: the system maps many pages around each."

_COLUMNS = ("words", "heads", "deprels", "upos", "feats", "space_after")
"What a text holds of each of its words."


def _row(text: Document, lost: Cut) -> dict[str, Any]:
    return {
        "id": text.id,
        "sentences": [sentence.id for sentence in text.sentences],
        "lengths": [len(sentence) for sentence in text.sentences],
        "kinds": [sentence.kind for sentence in text.sentences],
        "languages": [sentence.language for sentence in text.sentences],
        "seconds": [sentence.second for sentence in text.sentences],
        "words": list(text.words),
        "heads": [int(head) for sentence in text.sentences for head in sentence.heads],
        "deprels": list(text.deprels),
        "upos": list(text.upos),
        "feats": list(text.feats),
        "space_after": list(text.space_after),
        "remarks": [
            {"sentence": number, "remark": remark}
            for number, sentence in enumerate(text.sentences)
            for remark in sentence.remarks
        ],
        "mentions": [
            {"sentence": number, "words": list(mention.words), "head": mention.head, "entity": mention.entity}
            for number, sentence in enumerate(text.sentences)
            for mention in sentence.mentions
        ],
        **{f"lost_{what}": count for what, count in asdict(lost).items()},
    }


def _document(row: dict[str, Any]) -> Document:
    mentions: dict[int, list[Mention]] = {}
    for mention in row["mentions"]:
        record = Mention(tuple(mention["words"]), mention["head"], mention["entity"])
        mentions.setdefault(mention["sentence"], []).append(record)
    remarks: dict[int, list[str]] = {}
    for one in row["remarks"]:
        remarks.setdefault(one["sentence"], []).append(one["remark"])
    sentences, start = [], 0
    own = zip(*(row[column] for column in ("sentences", "lengths", "kinds", "languages", "seconds")), strict=True)
    for number, (name, length, kind, language, second) in enumerate(own):
        columns = {key: row[key][start : start + length] for key in _COLUMNS}
        heads = columns.pop("heads")
        sentences.append(
            Sentence(
                id=name,
                heads=frozen_ints(heads),
                mentions=tuple(mentions.get(number, ())),
                kind=kind,
                language=language,
                second=second,
                remarks=tuple(remarks.get(number, ())),
                **{key: tuple(column) for key, column in columns.items()},
            )
        )
        start += length
    return Document(row["id"], tuple(sentences))


def _store(divided: Iterable[Divided], path: Path) -> None:
    """Write texts to an Arrow file under a temporary name, then give it its name.

    What the borders in a document take away stands beside its first text, 0 beside the others.
    """
    from datasets import Features, List, Value
    from datasets.arrow_writer import ArrowWriter

    strings, numbers = List(Value("string")), List(Value("int32"))
    remark = {"sentence": Value("int32"), "remark": Value("string")}
    mention = {"sentence": Value("int32"), "words": numbers, "head": Value("int32"), "entity": Value("string")}
    features = Features(
        {"id": Value("string"), "sentences": strings, "lengths": numbers, "words": strings, "heads": numbers}
        | {
            "kinds": strings,
            "languages": strings,
            "seconds": numbers,
            "deprels": strings,
            "upos": strings,
            "feats": strings,
            "mentions": List(mention),
        }
        | {"space_after": List(Value("bool")), "remarks": List(remark)}
        | {f"lost_{field.name}": Value("int32") for field in fields(Cut)}
    )
    with (
        replacing(path) as unfinished,
        ArrowWriter(path=str(unfinished), features=features, writer_batch_size=1000) as writer,
    ):
        for texts, lost in divided:
            for number, text in enumerate(texts):
                writer.write(_row(text, lost if number == 0 else Cut()))
        writer.finalize()
