"""Probes of one's own: a function of a sentence, or a table of answers."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast

import pandas as pd

from mha.messages import OneLineError
from probes.corpora.line_reader import CorpusError, refuse_near, shortened
from probes.plain.text_tables import SECOND, Text, second_of, table_rows
from probes.records import Document
from probes.registry import CONTROLS, Probe, register
from probes.targets import Targets
from probes.words.across import across

Function = Callable[[Document], Mapping[int, int | Sequence[int]]]
"Takes a sentence and returns {index of the query word: index or indices of its right words}."

Key = tuple[Text, ...]
"A text, or a pair, as answers to it are looked up: its letters without blanks, or its words."


class AnswerError(OneLineError):
    """A probe of one's own that cannot be defined, or an answer of it that cannot be scored."""


class Answer(NamedTuple):
    """What is right for one word of a text."""

    query: Any
    gold: Any
    label: str = "all"
    place: str = ""
    "Of a table, the row that says so."
    aligns: bool = False
    "Whether query is a word of the first text of a pair, and gold one of the second, each counted from its beginning."
    between: tuple[tuple[str, ...], ...] = ()
    "Where its texts are strings, what stands between their blanks."


@dataclass(frozen=True, eq=False)
class OwnProbe:
    """A probe of one's own: which words are right, beside all baselines and controls that need no tree."""

    name: str
    function: Function | None
    rows: Mapping[Key, Sequence[Answer]]
    "In the place of a function, the answers of a table to each of its texts."
    module: str
    "Where it is defined, and may be defined again."
    scope: ClassVar[str] = "sentence"
    baselines: ClassVar[tuple[str, ...]] = (
        *("offset", "likeliest distance", "previous word", "first candidate"),
        *("same word, nearest", "same word, same rank", "uniform"),
    )
    rules: ClassVar[tuple[str, ...]] = ("nearest word of a tag set",)
    controls: ClassVar[tuple[str, ...]] = CONTROLS
    needs: ClassVar[str] = "answers"
    source: ClassVar[str] = "a probe of one's own"

    @property
    def aligns(self) -> bool:
        """Whether its table aligns the words of pairs of texts, which are asked both ways."""
        return any(answer.aligns for answers in self.rows.values() for answer in answers)

    @property
    def variants(self) -> tuple[str, ...]:
        """The ways in which it asks: the one of its answers, or both ways between the texts of a pair."""
        words = [f"word of the {which} text" for which in ("first", "second")] if self.aligns else ["word"]
        return tuple(f"{word}->answer of {self.name}" for word in words)

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a query and label; raises AnswerError for an answer that the text cannot have."""
        pairs = {pair for answer in self._answers(document) for pair in self._pairs(answer, document)}
        if self.aligns:
            return across(document, sorted(pairs), self.variants)
        return {self.variants[0]: Targets.grouped(sorted(pairs))}

    def pool(self, label: str) -> Sequence[str]:
        """An item counts by its label, and among all."""
        return (label,) if label == "all" else (label, "all")

    def define(self) -> Probe:
        """Make it the probe of its name; ValueError where one of another module has that name."""

        def make() -> Probe:
            return cast(Probe, self)

        make.__module__ = self.module
        return register(make)()

    def notes(self, texts: Iterable[Document]) -> Iterator[str]:
        """Say which texts of its table are no sentence among `texts`, or several."""
        found, other = Counter[Key](), dict[Key, str]()
        for text in texts:
            for key in _keys(text):
                if key in self.rows:
                    found[key] += 1
                    answer = self.rows[key][0]
                    if answer.between not in ((), text.texts):
                        other[key] = answer.place
        if other:
            first, *_ = other.values()
            yield (
                f"{self.name}: {len(other)} texts of its table are strings with other words than stand between blanks "
                f"(first: {first}): an index counts the words of the corpus; give lists of words to be sure"
            )
        for places, what in (
            ([rows[0].place for key, rows in self.rows.items() if not found[key]], "no sentence of the corpora"),
            ([rows[0].place for key, rows in self.rows.items() if found[key] > 1], "several sentences, all asked"),
        ):
            if places:
                share = f"{len(places)} of the {len(self.rows)} texts of its table"
                yield f"{self.name}: {share} stand in {what} (first: {places[0]})"
        yield from self._repeated()

    def fingerprint(self, texts: Iterable[Document]) -> str:
        """Return the sha256 of what is asked about texts, and what is right."""
        digest = hashlib.sha256()
        for text in texts:
            for variant, asked in self.targets(text).items():
                parts = (asked.query, *asked.gold)
                digest.update(repr((text.id, variant, *(part.tolist() for part in parts), [*asked.label])).encode())
        return digest.hexdigest()

    def _repeated(self) -> Iterator[str]:
        """Say how many rows of its table ask what another asks, with the same answer or another."""
        golds: dict[tuple[Key, str, str], dict[str, str]] = defaultdict(dict)
        again = list[str]()
        for key, answers in self.rows.items():
            for answer in (one for one in answers if not one.aligns):
                of_query = golds[key, str(answer.query), answer.label]
                if str(answer.gold) in of_query:
                    again.append(answer.place)
                of_query.setdefault(str(answer.gold), answer.place)
        several = [[*found.values()][1] for found in golds.values() if len(found) > 1]
        for places, what in (
            (again, "rows of its table that say what another says count once"),
            (several, "queries with rows of other gold: any of these words is right, not the one of most rows"),
        ):
            if places:
                yield f"{self.name}: {len(places)} × {what} (first: {places[0]})"

    def _answers(self, document: Document) -> Iterable[Answer]:
        if self.function is None or not document.words:  # controls ask for the variants alone, of no text
            return [answer for key in _keys(document) for answer in self.rows.get(key, ())]
        try:
            found = self.function(document)
        except Exception as error:  # whatever the function does
            raise AnswerError(f"{self._where(document)}: {type(error).__name__}: {error}") from error
        if not isinstance(found, Mapping):
            raise AnswerError(f"{self._where(document)}: expected {{query: [right words]}}, got {found!r}")
        return [Answer(query, gold) for query, gold in found.items()]

    def _pairs(self, answer: Answer, document: Document) -> Iterator[tuple[int, int, str]]:
        if answer.aligns:
            return iter([self._aligned(answer, document)])
        words = document.words
        where = f"{self._where(document, answer.place)}, query {answer.query!r}, gold {answer.gold!r}"
        try:
            (query,), gold = _indices(answer.query), _indices(answer.gold)
        except (TypeError, ValueError):
            raise AnswerError(f"{where}: expected the index of a word, and the indices of its right words") from None
        for word in (query, *gold):
            if not 0 <= word < len(words):
                raise AnswerError(f"{where}: there is no word {word}; the words are 0 to {len(words) - 1}")
        if len(gold) == len(words) > 2 and {*gold} <= {0, 1}:
            raise AnswerError(f"{where}: expected the indices of right words, not a 0 or 1 for each word")
        if not gold or query in gold:
            wrong = "cannot be its own gold" if gold else "has no right word"
            raise AnswerError(f"{where}: {words[query]!r} {wrong}; leave it out, or give another word")
        return ((query, word, answer.label) for word in gold)

    def _aligned(self, answer: Answer, document: Document) -> tuple[int, int, str]:
        first, second = map(len, document.texts)
        if not (0 <= answer.query < first and 0 <= answer.gold < second):
            where, wanted = self._where(document, answer.place), f"0 to {first - 1} and 0 to {second - 1}"
            raise AnswerError(f"{where}: no words {answer.query} and {answer.gold}; those of the texts are {wanted}")
        return answer.query, first + answer.gold, answer.label

    def _where(self, document: Document, place: str = "") -> str:
        text = shortened(" ".join(document.words))
        return f"probe {self.name!r}, {place or document.sentences[0].id} ({text})"


def own_probe(name: str, answers: Any, module: str) -> Probe:
    """Define a probe by a function of a sentence, or a table of answers: a data frame or a .jsonl, .csv or .tsv file.

    A table has a row for each query: text (one sentence, as a string or as a list of words), query (index of the word),
    gold (index, or list of them) and, if there is one, label. Asked are sentences of the corpora that have the words of
    a list, or the letters of a string. Of a pair text_pair has the second text, whose words are counted on from those
    of the first; or in place of query and gold, alignment has pairs of a word of each, [[0, 1], [2, 2]] or "0-1 2-2",
    counted from the beginning of its text. `module` may define it again. Raises AnswerError for what is neither,
    CorpusError for a row that is none, ValueError for a name that a probe of another module has.
    """
    if not name:
        raise AnswerError('a probe needs a name: hs.probe("name", answers)')
    if isinstance(answers, pd.DataFrame | str | Path):
        rows: dict[Key, list[Answer]] = {}
        for key, of_row in _rows(answers):
            rows.setdefault(key, []).extend(of_row)
        if len({answer.aligns for of_text in rows.values() for answer in of_text}) > 1:
            raise AnswerError(f"probe {name!r}: some rows have an alignment and others a query; make it two probes")
        if not rows:
            raise AnswerError(f"probe {name!r}: no row in its table, a DataFrame, or a .jsonl, .csv or .tsv file")
        return OwnProbe(name, None, rows, module).define()
    if not callable(answers) or isinstance(answers, type):
        expected = "expected a function of a sentence, a DataFrame, or a .jsonl, .csv or .tsv file"
        raise AnswerError(f"probe {name!r}: {expected}; got {answers!r}")
    return OwnProbe(name, answers, {}, module).define()


def _indices(value: Any) -> list[int]:
    """Return an index, or several, as a list; a string is read as JSON. Raises TypeError for True and False."""
    value = json.loads(value) if isinstance(value, str) else value
    given = [*value] if isinstance(value, Iterable) else [value]
    if any(isinstance(one, bool) for one in given) or str(getattr(value, "dtype", "")).endswith("bool"):
        raise TypeError("a mask is no list of indices")
    return [index(one) for one in given]


def _keys(document: Document) -> tuple[Key, ...]:
    """Return under what a table may have answers to a sentence."""
    return document.texts, tuple("".join("".join(words).split()) for words in document.texts)


def _rows(table: pd.DataFrame | str | Path) -> Iterator[tuple[Key, list[Answer]]]:
    """Yield the texts and the answers of every row of a table; raises CorpusError where a row lacks them."""
    for place, row in table_rows(table if isinstance(table, pd.DataFrame) else Path(table)):
        columns = dict(row) if isinstance(row, Mapping) else {}
        refuse_near(columns, ("text", SECOND, "query", "gold", "alignment", "label"), place)
        text, label, pair = columns.get("text"), columns.get("label"), second_of(columns)
        texts: list[Any] = [text] if pair is None else [text, pair]
        if not isinstance(label, str | float | int | None):
            raise CorpusError(f"{place}: expected one label; got {label!r}")
        named = "all" if pd.isna(label) or label == "" else str(label)
        ends = _ends(columns, len(texts) == 2, place)
        between = tuple(tuple(one.split()) for one in texts if isinstance(one, str))
        found = [Answer(query, gold, named, place, aligns, between) for query, gold, aligns in ends]
        if not all(map(_is_text, texts)) or not found:
            expected = "text (a string or a list of words), query and gold, or text, text_pair and alignment"
            raise CorpusError(f"{place}: expected {expected}; got {row}")
        yield tuple("".join(one.split()) if isinstance(one, str) else tuple(one) for one in texts), found


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, Iterable) and all(isinstance(word, str) for word in value))


def _ends(columns: Mapping[str, Any], paired: bool, place: str) -> Iterator[tuple[Any, Any, bool]]:
    """Yield the query and gold of a row, or those of its alignment, which are marked."""
    alignment, query, gold = map(columns.get, ("alignment", "query", "gold"))
    if query is not None and gold is not None:
        yield query, gold, False
    if paired and query is None and isinstance(alignment, str | Iterable):
        try:
            if isinstance(alignment, str) and not alignment.lstrip().startswith("["):
                pairs: Any = [map(int, one.split("-", 1)) for one in alignment.split()]
            else:
                pairs = json.loads(alignment) if isinstance(alignment, str) else alignment
            yield from ((index(word), index(other), True) for word, other in pairs)
        except (TypeError, ValueError):
            wanted = "pairs of words, [[0, 1], [2, 2]] or 0-1 2-2"
            raise CorpusError(f"{place}: expected an alignment as {wanted}; got {shortened(str(alignment))}") from None
