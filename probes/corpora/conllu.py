"""CoNLL-U files as documents: trees, morphology and the coreference of `Entity=` (Universal Dependencies, CorefUD)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from conllu.exceptions import ParseException
from conllu.parser import DEFAULT_FIELDS, parse_comment_line, parse_id_value, parse_line

from probes.corpora.entity_brackets import BracketCell, BracketError, read_mentions
from probes.corpora.line_reader import CorpusError as CorpusError
from probes.corpora.line_reader import UniqueIds, number_in, shortened
from probes.records import Document, Mention, Sentence, frozen_ints

SHOWN = 10
"How many words of a circle an error names."

_FIELD_PARSERS = {"id": lambda columns, i: parse_id_value(columns[i])}
"Only ids are interpreted by the library; every other column is kept as written."


def read_conllu(path: Path, *, first: int | None = None) -> Iterator[Document]:
    """Read the documents of a CoNLL-U file one after the other.

    A `# newdoc` line opens a document, unless it repeats the id of the open one; sentences before the first such line
    are documents of their own. Multi-word ranges (1-2) and empty nodes (8.1) are not words. A mention's head is its
    first word whose head lies outside the mention. `Bridge=` and `SplitAnte=` are ignored. `first` stops after that
    many sentences, which may cut the last document. Raises `CorpusError` for a broken file, when iteration reaches the
    place, and `FileNotFoundError` at once.
    """
    if first is not None and first < 1:
        raise ValueError(f"first is {first}, expected at least 1 sentence")
    if path.is_dir():
        inside = ", ".join(sorted(file.name for file in path.glob("*.conllu"))) or "none"
        raise CorpusError(f"{path}: is a folder, expected a CoNLL-U file (.conllu files in it: {inside})")
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file; check the path, or where HEADSCOPE_DATA points")
    return _documents(path, first)


def _documents(path: Path, first: int | None) -> Iterator[Document]:
    """Gather the sentences of a file into documents."""
    document: str | None = None
    gathered: list[Sentence] = []
    group = 0
    empty = True
    sentences, documents = UniqueIds("sentence"), UniqueIds("document")
    for block in islice(_blocks(path), first):
        empty = False
        declared = block.entity_group()
        group = group if declared is None else declared
        sentence = block.sentence(group)
        sentences.add(sentence.id, f"{path}:{block.start}")
        opens = "newdoc" in block.metadata and not (gathered and block.metadata["newdoc"] == document)
        if opens or document is None:
            if gathered:
                yield Document(document or "", tuple(gathered))
                gathered = []
            if opens:
                document = block.metadata["newdoc"] or block.place(block.start)
                documents.add(document, f"{path}:{block.start}")
        if document is None:
            documents.add(sentence.id, f"{path}:{block.start}")
            yield Document(sentence.id, (sentence,))
        else:
            gathered.append(sentence)
    if empty:
        raise CorpusError(f"{path}: no sentence in the file ({path.stat().st_size} bytes)")
    if gathered:
        yield Document(document or "", tuple(gathered))


def _blocks(path: Path) -> Iterator[_Block]:
    """Cut a file at its blank lines; blocks of nothing but comments are skipped."""
    lines: list[bytes] = []
    start, offset = 1, 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                lines.append(line)
                continue
            if block := _block(path, start, offset, lines):
                yield block
            offset += sum(map(len, lines)) + len(line)
            start, lines = number + 1, []
    if block := _block(path, start, offset, lines):
        yield block


def _block(path: Path, start: int, offset: int, lines: list[bytes]) -> _Block | None:
    """Decode one block that begins at line `start` and byte `offset`; None if it has no line for a word."""
    raw = b"".join(lines)
    mark = 3 if offset == 0 and raw.startswith(b"\xef\xbb\xbf") else 0
    try:
        text = raw[mark:].decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start + mark
        line = start + raw.count(b"\n", 0, at)
        raise CorpusError(f"{path}:{line}: not UTF-8 (byte 0x{raw[at]:02x} at offset {offset + at})") from None
    if (at := text.find("\0")) >= 0:
        raise CorpusError(f"{path}:{start + text.count(chr(10), 0, at)}: a NUL byte, which no text has")
    if all(line.startswith(b"#") for line in lines):
        return None
    return _Block(path, start, text.split("\n"))


@dataclass
class _Block:
    """The lines of one sentence and where they begin."""

    path: Path
    start: int
    "Line number of the first line, counted from 1."
    lines: list[str]
    metadata: dict[str, str] = field(init=False)
    "Comment lines as key and value; `# newdoc id = x` and `# newdoc` both under newdoc."

    def __post_init__(self) -> None:
        """Read the comment lines."""
        self.metadata = {}
        for line in self.lines:
            if line.startswith("#"):
                self.metadata |= {key: value or "" for key, value in parse_comment_line(line)}
                if re.match(r"#\s*newdoc\b", line):
                    self.metadata["newdoc"] = self.metadata.get("newdoc id", "")

    def place(self, line: int) -> str:
        """Return the file's name and a line number, for ids of what has none."""
        return f"{self.path.name}:{line}"

    def error(self, line: int, problem: str) -> CorpusError:
        """Return the error for a problem in a line."""
        return CorpusError(f"{self.path}:{line}: {problem}")

    def entity_group(self) -> int | None:
        """Return the place of the entity id in an opening bracket where this block declares it.

        GUM calls it GRP, CorefUD eid.
        """
        if "global.Entity" not in self.metadata:
            return None
        order = self.metadata["global.Entity"].split("-")
        if group := {"GRP", "eid"} & set(order):
            return order.index(group.pop())
        raise self.error(self.start, f"global.Entity declares {order}, expected a field GRP or eid")

    def tokens(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the line number and the columns of words, multi-word ranges and empty nodes."""
        for number, line in enumerate(self.lines, start=self.start):
            if not line.strip() or line.startswith("#"):
                continue
            line = line.rstrip("\r")
            columns = line.split("\t")
            if len(columns) != 10:
                raise self.error(number, f"{len(columns)} columns, expected 10 separated by tabs")
            try:
                # The library also splits at two spaces, which a form or MISC value may hold.
                token = parse_line(re.sub(" {2,}", " ", line), DEFAULT_FIELDS, _FIELD_PARSERS)
                if token["id"] is None:
                    raise ParseException("no id")
            except (ParseException, ValueError):  # the latter for numbers without end
                raise self.error(number, f"{shortened(columns[0])} is not a word id") from None
            yield number, token

    def sentence(self, group: int) -> Sentence:
        """Check and return the sentence; `group` is the place of the entity id in an opening bracket."""
        words: list[dict[str, Any]] = []
        ranges: list[dict[str, Any]] = []
        lines: list[int] = []
        cells: list[BracketCell] = []
        for number, token in self.tokens():
            before = len(words)
            if isinstance(token["id"], tuple) and token["id"][1] == "-":
                ranges.append(token)
                continue
            if not isinstance(token["id"], tuple):
                if token["id"] != before + 1:
                    raise self.error(number, f"word id {token['id']}, expected {before + 1}")
                if not token["form"].strip():
                    raise self.error(number, f"word {token['id']} has no form")
                words.append(token)
                lines.append(number)
            if "Entity=" in token["misc"]:
                cells.append(BracketCell(number, before, len(words), token["misc"]))
        if not words:
            raise self.error(self.start, "no word in these lines")
        heads = self.heads([word["head"] for word in words], lines)
        forms = tuple(word["form"] for word in words)
        space_after, remarks = _spaces(forms, [word["misc"] for word in words], ranges)
        return Sentence(
            id=self.metadata.get("sent_id") or self.place(self.start),
            words=forms,
            heads=frozen_ints(heads),
            deprels=tuple(_value(word["deprel"]) for word in words),
            upos=tuple(_value(word["upos"]) for word in words),
            feats=tuple(_value(word["feats"]) for word in words),
            mentions=tuple(self.mentions(cells, group, heads)) if cells else (),
            space_after=space_after,
            remarks=remarks,
        )

    def heads(self, columns: list[str], lines: list[int]) -> list[int]:
        """Return 0-based heads, -1 for the root, after checking that they make one tree."""
        n = len(columns)
        heads: list[int] = []
        for column, line in zip(columns, lines, strict=True):
            head = number_in(column)
            if head is None:
                raise self.error(line, f"head {shortened(column)} is not a number")
            if head > n:
                raise self.error(line, f"head {column} is outside the sentence ({n} words)")
            heads.append(head - 1)
        roots = [word for word, head in enumerate(heads) if head < 0]
        if not roots:
            raise self.error(lines[0], f"no root: none of the {n} words of this sentence has head 0")
        if len(roots) > 1:
            raise self.error(lines[roots[1]], f"a second root: word {roots[1] + 1}, after word {roots[0] + 1}")
        if cycle := _cycle(heads):
            shown = [str(word + 1) for word in cycle]
            path = " -> ".join(shown if len(shown) <= SHOWN else [*shown[: SHOWN - 1], "…", shown[-1]])
            raise self.error(lines[cycle[0]], f"the heads go in a circle: {path}")
        return heads

    def mentions(self, cells: list[BracketCell], group: int, heads: list[int]) -> Iterator[Mention]:
        """Yield the mentions of the sentence; those that cover empty nodes only are left out."""
        try:
            for entity, words in read_mentions(cells, group):
                if words:
                    yield Mention(words, _outermost(words, heads), entity)
        except BracketError as error:
            raise self.error(error.line, str(error)) from None


PARTS = "multiword token, read as its words"
"The remark on a range whose form is not that of its words in a row, such as du of de and le."


def _spaces(
    forms: tuple[str, ...], miscs: list[str], ranges: list[dict[str, Any]]
) -> tuple[tuple[bool, ...], tuple[str, ...]]:
    """Return whether a blank follows each word, and the remarks on ranges.

    What follows a range says its own MISC. Its words stand without blanks where they make its form in a row (do and n't
    make don't); the others cannot be placed in it, and are parted by blanks.
    """
    after = ["SpaceAfter=No" not in misc.split("|") for misc in miscs]
    remarks = []
    for token in ranges:
        begin, _, end = token["id"]
        whole = token["form"] == "".join(forms[begin - 1 : end])
        after[begin - 1 : end] = [not whole] * (end - begin) + ["SpaceAfter=No" not in token["misc"].split("|")]
        remarks += [] if whole else [PARTS]
    return tuple(after), tuple(remarks)


def _value(column: str) -> str:
    """Return a column's value, "" for the underscore of nothing."""
    return "" if column == "_" else column


def _cycle(heads: list[int]) -> list[int]:
    """Return the words of a cycle, the first repeated at the end; empty if every word reaches the root."""
    safe = {-1}
    for word in range(len(heads)):
        path: dict[int, None] = {}  # in the order in which they were come by
        while word not in safe:
            if word in path:
                behind = [*path]
                return [*behind[behind.index(word) :], word]
            path[word] = None
            word = heads[word]
        safe.update(path)
    return []


def _outermost(words: tuple[int, ...], heads: list[int]) -> int:
    """Return the first of `words` whose head is none of them."""
    inside = set(words)
    return next(word for word in words if heads[word] not in inside)
