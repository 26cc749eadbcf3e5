"""One sentence of a CoNLL-U file: its comments, words, multiword ranges and Entity brackets, checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conllu.exceptions import ParseException
from conllu.parser import DEFAULT_FIELDS, parse_comment_line, parse_id_value

from probes.corpora.annotation.entity_brackets import (
    BracketCell,
    id_place,
    mention_remarks,
    read_mentions,
)
from probes.corpora.annotation.ud_trees import NO_TREE, check_tree, label_remarks, outermost
from probes.corpora.annotation.written_words import (
    PlacedError,
    TokenLine,
    escape_remarks,
    has_letters,
    unescaped,
    withheld,
)
from probes.corpora.line_reader import CorpusError, number_in, refuse_quoting, shortened
from probes.corpora.spans import head_of
from probes.records import Mention, Sentence, frozen_ints

PARTS = "multiword token, read as its words"
"The remark on a range whose form is not that of its words in a row, such as du of de and le."

COMMENT = "comment after the words of a sentence"
NO_SENTENCE = "document without a sentence: another newdoc stands right after its own"
OTHER_TEXT = "words of a sentence that are not those of its comment # text"
ENTITY_OF_RANGE = "Entity of a multiword token, read as that of its words"
UNDERSCORE = "word that is nothing but _"

_NOTHING = ("_", "")
NEWDOC = re.compile(r"#\s*newdoc(_id)?\b")

_OF_SENTENCE = re.compile(rf"{NEWDOC.pattern}|#\s*(sent_id|text|newpar)\b")
"Comments that belong before the words."


@dataclass(frozen=True)
class ConlluLayout:
    """What a file declares of its columns."""

    columns: tuple[str, ...] = DEFAULT_FIELDS
    "In lower case (`# global.columns`)."
    group: int | None = None
    "Place of the entity id among the fields of an opening bracket (`# global.Entity`); None where nothing is said."
    language: str = ""
    'Code of the language: that of `# global.language`, else of the file\'s name; "" where neither says it.'

    @classmethod
    def of(cls, path: Path) -> ConlluLayout:
        """Return what the name of a file says, by which treebanks begin with a language: de_pud-ud-test.conllu."""
        named = re.match(r"([a-z]{2,3})_[a-z0-9]+-(ud|sud|corefud)\b", path.name)
        return cls(language=named[1] if named else "")


@dataclass
class ConlluBlock:
    """The lines of one sentence."""

    path: Path
    lines: Sequence[tuple[int, str]]
    "Number and text of those that are not blank."
    metadata: dict[str, str] = field(init=False)
    "Comment lines as key and value; `# newdoc id = x`, `# newdoc_id = x` and `# newdoc` all under newdoc."
    remarks: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Read the comment lines."""
        self.metadata, self.remarks, words = {}, [], False
        for number, line in self.lines:
            if not line.startswith("#"):
                words = True
                continue
            if words and _OF_SENTENCE.match(line):
                raise self.error(number, f"comment {shortened(line)} after words; a blank line should end a sentence")
            self.remarks += [COMMENT] * words
            comment = {key: value or "" for key, value in parse_comment_line(line)}
            if "sent_id" in comment and "sent_id" in self.metadata:
                raise self.error(number, "a second sent_id in one sentence; a blank line should end a sentence")
            begun = "newdoc" in self.metadata
            self.metadata |= comment
            if NEWDOC.match(line):
                self.remarks += [NO_SENTENCE] * begun
                self.metadata["newdoc"] = comment.get("newdoc id", comment.get("newdoc_id", ""))

    @property
    def start(self) -> int:
        """Number of the first line, counted from 1."""
        return self.lines[0][0]

    def place(self, line: int) -> str:
        """Return the file's name and a line number, for ids of what has none."""
        return f"{self.path.name}:{line}"

    def error(self, line: int, problem: str) -> CorpusError:
        """Return the error for a problem in a line."""
        return CorpusError(f"{self.path}:{line}: {problem}")

    def declared(self) -> dict[str, Any]:
        """Return what this block declares of the file's `ConlluLayout`; GUM calls the entity's id GRP, CorefUD eid."""
        found: dict[str, Any] = {}
        if "global.columns" in self.metadata:
            found["columns"] = tuple(self.metadata["global.columns"].lower().split())
            if lacks := [name for name in ("id", "form") if name not in found["columns"]]:
                raise self.error(self.start, f"global.columns declares no column {lacks[0].upper()}")
            if twice := [name for name in found["columns"] if found["columns"].count(name) > 1]:
                raise self.error(self.start, f"global.columns declares the column {twice[0].upper()} twice")
        if "global.Entity" in self.metadata:
            order = self.metadata["global.Entity"].split("-")
            if not (group := {"GRP", "eid"} & set(order)):
                raise self.error(self.start, f"global.Entity declares {order}, expected a field GRP or eid")
            found["group"] = order.index(group.pop())
        if "global.language" in self.metadata:
            found["language"] = self.metadata["global.language"]
        return found

    def rows(self, names: Sequence[str]) -> Iterator[TokenLine]:
        """Yield the lines that are no comments; `names` are those of the columns."""
        for number, line in self.lines:
            if line.startswith("#"):
                continue
            columns = line.split("\t")
            if len(columns) != len(names):
                plain = " (plain text is read from files ending in .txt)" * (len(columns) == 1)
                raise self.error(number, f"{len(columns)} columns, expected {len(names)} separated by tabs{plain}")
            row = dict.fromkeys(DEFAULT_FIELDS, "_") | dict(zip(names, columns, strict=True))
            try:
                identity = parse_id_value(row["id"])
                if identity is None:
                    raise ParseException("no id")
            except (ParseException, ValueError):  # the latter for numbers without end
                raise self.error(number, f"{shortened(row['id'])} is not a word id") from None
            yield TokenLine(number, identity, row)

    def sentence(self, layout: ConlluLayout) -> Sentence:
        """Check and return the sentence."""
        words, ranges, cells = self._divided(layout)
        forms = self._forms(words)
        heads, deprels = self._tree(words)
        upos = self._values(words, "upos")
        mentions = self._mentions(cells, layout.group, forms, heads) if cells else ()
        space_after = self._spaces(words, ranges)
        if (text := self.metadata.get("text")) is not None and not has_letters(text, words, ranges):
            self.remarks.append(OTHER_TEXT)
        return Sentence(
            id=self.metadata.get("sent_id") or self.place(self.start),
            words=unescaped(forms),
            heads=frozen_ints(heads),
            deprels=deprels,
            upos=upos,
            feats=self._values(words, "feats"),
            mentions=mentions,
            language=layout.language,
            space_after=space_after,
            remarks=tuple(self.remarks),
        )

    def _divided(self, layout: ConlluLayout) -> tuple[list[TokenLine], list[TokenLine], list[BracketCell]]:
        """Return words, multiword ranges and cells with Entity brackets; raises CorpusError where ids do not fit."""
        words: list[TokenLine] = []
        ranges: list[TokenLine] = []
        cells: list[BracketCell] = []
        for row in self.rows(layout.columns):
            before = len(words)
            if row.range:
                self._check_range(row, before, ranges)
                ranges.append(row)
            elif not isinstance(row.id, tuple):
                if row.id != before + 1:
                    raise self.error(row.line, f"word id {row.id}, expected {before + 1}")
                words.append(row)
            if "Entity=" in row.columns["misc"]:
                self.remarks += [ENTITY_OF_RANGE] * (row.range is not None)
                end = row.range[1] if row.range else len(words)
                cells.append(BracketCell(row.line, before, end, row.columns["misc"]))
        if not words:
            raise self.error(self.start, "no word in these lines")
        if ranges and ranges[-1].range and ranges[-1].range[1] > len(words):
            raise self.error(
                ranges[-1].line,
                f"multiword range {ranges[-1].columns['id']} is outside the sentence ({len(words)} words)",
            )
        return words, ranges, cells

    def _check_range(self, row: TokenLine, before: int, ranges: Sequence[TokenLine]) -> None:
        """Raise CorpusError where a range does not stand right before its words, of which no other range has one."""
        assert row.range is not None
        begin = row.range[0]
        name = f"multiword range {row.columns['id']}"
        if ranges and ranges[-1].range and begin <= ranges[-1].range[1]:
            raise self.error(row.line, f"{name} overlaps with {ranges[-1].columns['id']}")
        if begin != before + 1:
            raise self.error(row.line, f"{name} stands before word {before + 1}, expected before its own words")

    def _forms(self, words: Sequence[TokenLine]) -> tuple[str, ...]:
        """Return the forms as they are written, blanks in a row as one and without those around a form."""
        forms = tuple(re.sub(" +", " ", word.columns["form"]).strip(" ") for word in words)
        for word, form in zip(words, forms, strict=True):
            if not form.strip():
                white = " (its form is white space alone, as spaCy's tokens may be: leave it out)"
                of_blanks = white if word.columns["form"] else ""
                raise self.error(word.line, f"word {word.id} has no form{of_blanks}")
            refuse_quoting(form, f"{self.path}:{word.line}")
        if lost := withheld(forms):
            raise self.error(
                words[0].line,
                f"the text of this sentence is withheld: {lost} of {len(forms)} forms are _; restore it as the "
                "treebank's README says, or leave the sentence out",
            )
        self.remarks += [UNDERSCORE] * forms.count("_")
        self.remarks += escape_remarks(forms, unescaped(forms))
        return forms

    def _tree(self, words: Sequence[TokenLine]) -> tuple[list[int], tuple[str, ...]]:
        """Return heads and relations; without heads those of no tree."""
        if all(word.columns["head"] in _NOTHING for word in words):
            self.remarks.append(NO_TREE)
            return [-1] * len(words), ("",) * len(words)
        heads = []
        for word in words:
            if (head := number_in(word.columns["head"])) is None:
                raise self.error(word.line, f"head {shortened(word.columns['head'])} is not a number")
            heads.append(head - 1)
        try:
            check_tree(heads)
        except PlacedError as error:
            raise self.error(words[error.place].line, str(error)) from None
        deprels = self._values(words, "deprel")
        self.remarks += label_remarks(heads, deprels, self._values(words, "upos"))
        return heads, deprels

    def _values(self, words: Sequence[TokenLine], name: str) -> tuple[str, ...]:
        """Return a column without blanks around what it says, "" for the underscore of nothing."""
        values = (word.columns[name].strip() for word in words)
        return tuple("" if value in _NOTHING else value for value in values)

    def _mentions(
        self, cells: Sequence[BracketCell], group: int | None, forms: Sequence[str], heads: Sequence[int]
    ) -> tuple[Mention, ...]:
        """Return the mentions of the sentence; those that cover empty nodes only are left out."""
        try:
            found = [one for one in read_mentions(cells, id_place(cells, group)) if one[1]]
        except PlacedError as error:
            raise self.error(error.place, str(error)) from None
        self.remarks += mention_remarks(found)
        tree = NO_TREE not in self.remarks
        return tuple(
            Mention(inside, outermost(inside, heads) if tree else inside[head_of([forms[i] for i in inside])], entity)
            for entity, inside in dict.fromkeys(found)
        )

    def _spaces(self, words: Sequence[TokenLine], ranges: Sequence[TokenLine]) -> tuple[bool, ...]:
        """Return whether a blank follows each word.

        What follows a range says its own MISC. Its words stand without blanks where they make its form in a row (do and
        n't make don't); the others cannot be placed in it, and are parted by blanks.
        """
        after = [word.space_after for word in words]
        for one in ranges:
            assert one.range is not None
            begin, end = one.range
            whole = one.columns["form"] == "".join(word.columns["form"] for word in words[begin - 1 : end])
            after[begin - 1 : end] = [not whole] * (end - begin) + [one.space_after]
            self.remarks += [] if whole else [PARTS]
        return tuple(after)
