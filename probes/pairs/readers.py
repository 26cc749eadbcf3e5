"""Readers of files of minimal pairs: BLiMP, MultiBLiMP, Linzen, Gulordava, open-sesame, CLAMS, Marvin and Linzen."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from probes.corpora.line_reader import (
    CorpusError,
    UniqueIds,
    filled_lines,
    number_in,
    refuse_quoting,
    shortened,
    suffixes_of,
)
from probes.corpora.open_sesame import open_sesame_item
from probes.minimal_pairs import AGREEMENT, PLURAL, SINGULAR, Item, Kind, LeftOut, MinimalPair
from probes.plain.text_tables import parsed

BLIMP_KEYS = ("sentence_good", "sentence_bad", "field", "linguistics_term", "UID")
PAIR_KEYS = ("pairID", "pair_id")
"What the number of a pair is called in BLiMP's own files, and on the hub."

SENTENCES = ("sen", "wrong_sen")
FEATURES = ("grammatical_feature", "ungrammatical_feature")
MULTIBLIMP_KEYS = (*SENTENCES, "lang", "phenomenon", *FEATURES, "wo")
"Columns of MultiBLiMP that are read: its sentences, and what the pair is about."
_BLIMP = f"keys of BLiMP are {', '.join((*BLIMP_KEYS, PAIR_KEYS[0]))}"
_MULTIBLIMP = f"columns of MultiBLiMP are {', '.join(MULTIBLIMP_KEYS)}"


def read_pairs(path: Path) -> Iterator[Item]:
    """Stream the pairs of a file, whose suffix says how it is written (READERS).

    Raises CorpusError with file, line, what was expected and what was found.
    """
    return reader_of(path)(path)


def reader_of(path: Path) -> Callable[[Path], Iterator[Item]]:
    """Return the reader of a file; raises CorpusError for a suffix that none reads."""
    suffix = suffixes_of(path)[-1]
    if suffix not in READERS:
        known = ", ".join(f"{suffix} ({what})" for suffix, what in WRITTEN.items())
        raise CorpusError(f"{path}: no reader for files of minimal pairs ending in {suffix!r}; known are {known}")
    return READERS[suffix]


def read_json(path: Path) -> Iterator[Item]:
    """Read BLiMP, or MultiBLiMP where the first object has a key of SENTENCES: a JSON object a line."""
    rows = _json_rows(path)
    first = next(rows, None)
    if first is None:
        return iter(())
    multilingual = any(key in first[1] for key in SENTENCES)
    return (_multiblimp if multilingual else _blimp)(chain([first], rows), path)


def _json_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in filled_lines(path):
        row = parsed(line, f"{path}:{number}")
        if not isinstance(row, dict):
            raise CorpusError(f"{path}:{number}: expected a JSON object, got {line[:40]!r}")
        yield number, row


def _blimp(rows: Iterable[tuple[int, Mapping[str, Any]]], path: Path) -> Iterator[Item]:
    """Read a paradigm of BLiMP (Warstadt et al. 2020); words are divided at white space.

    A pair of sentences that is there a second time in its paradigm is left out.
    """
    ids, seen = UniqueIds("pair"), _Seen()
    for number, row in rows:
        where = f"{path}:{number}"
        good, bad, field, phenomenon, paradigm = (_text(row, key, where, _BLIMP) for key in BLIMP_KEYS)
        source = f"{paradigm}-{_pair_id(row, where)}"
        ids.add(source, where)
        kind = Kind(paradigm, phenomenon=phenomenon, field=field.replace("/", "_"))  # one field is written both ways
        yield seen.item(source, kind, good, bad)


def _multiblimp(rows: Iterable[tuple[int, Mapping[str, Any]]], path: Path) -> Iterator[Item]:
    """Read MultiBLiMP 1.0 (Jumelet, Weissweiler, Nivre and Bisazza 2025); words are divided at white space.

    The format is that of `deu/data.tsv` and its siblings on the hub (jumelet/multiblimp), read in copies of the Dutch,
    Greek and Turkish files, and in `downsample.py` of github.com/jumelet/multiblimp, which writes them. A paradigm is
    a language, a phenomenon as the authors write it ("SV-#": subject and verb agree in number; P is person, G gender),
    and the values of the feature in the right and in the wrong sentence; its condition is the order of subject and
    verb. Pairs with the same right sentence are one cluster. Attractors are not taken over: the authors count words of
    any kind between subject and verb, determiners too, and `Kind.attractors` nouns.
    """
    sources: dict[str, str] = {}
    seen = _Seen()
    for number, row in rows:
        persons = {key: str(row[key]) for key in FEATURES if type(row.get(key)) is int}
        texts = (_text({**row, **persons}, key, f"{path}:{number}", _MULTIBLIMP) for key in MULTIBLIMP_KEYS)
        good, bad, language, phenomenon, right, wrong, order = texts
        source = sources.setdefault(good, f"{language}:{number}")
        shown = {"SG": SINGULAR, "PL": PLURAL}.get(right, "")
        kind = Kind(f"{language} {phenomenon} {right} -> {wrong}", order, None, shown, phenomenon)
        yield seen.item(source, kind, good, bad)


class _Seen:
    """The pairs of a file so far: one that is there a second time in its paradigm is left out."""

    def __init__(self) -> None:
        self.pairs: set[tuple[str, tuple[str, ...], tuple[str, ...]]] = set()

    def item(self, source: str, kind: Kind, good: str, bad: str) -> Item:
        pair = tuple(good.split()), tuple(bad.split())
        if (kind.paradigm, *pair) in self.pairs:
            return LeftOut(source, kind, "the same two sentences are a pair before it")
        self.pairs.add((kind.paradigm, *pair))
        return MinimalPair(source, kind, *pair)


def _text(row: Mapping[str, Any], key: str, where: str, known: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        found = "is missing" if key not in row else f"is {value!r}"
        raise CorpusError(f"{where}: {key!r} {found}, expected text; {known}")
    if broken := re.search("[\0\ud800-\udfff]", value):
        what = "a NUL character" if broken[0] == "\0" else f"half of a character (the surrogate {broken[0]!a} alone)"
        raise CorpusError(f"{where}: {key!r} has {what}, which no text has")
    return value


def _pair_id(row: Mapping[str, Any], where: str) -> str:
    """Return the number of a pair, written as text or as a number under either of PAIR_KEYS."""
    key = next((key for key in PAIR_KEYS if key in row), PAIR_KEYS[0])
    value = row.get(key)
    return str(value) if type(value) is int else _text(row, key, where, _BLIMP)


def read_gold(path: Path) -> Iterator[Item]:
    """Read sentences and, beside them in .gold, the verb of each (Linzen et al. 2016; Gulordava et al. 2018).

    A line of .gold holds the verb's index from 0, its right and its wrong form, and the number of attractors. Pairs
    with the same right sentence are one cluster.
    """
    seen: dict[tuple[str, ...], str] = {}
    gold = path.with_suffix(".gold")
    if not gold.is_file():
        raise CorpusError(f"{gold}: no such file; it says which word of each line of {path.name} is the verb")
    answers = filled_lines(gold)
    for number, line in filled_lines(path):
        _, answer = next(answers, (0, None))
        if answer is None:
            raise CorpusError(f"{gold}: ends after {number - 1} lines, {path.name} has more; expected one line each")
        words = tuple(line.removesuffix("<eos>").split())
        place, right, wrong, attractors = _gold(answer, f"{gold}:{number}")
        if place >= len(words) or words[place].lower() != right.lower():
            found = repr(words[place]) if place < len(words) else f"only {len(words)} words"
            raise CorpusError(f"{path}:{number}: expected {right!r} as word {place} (from 0), got {found}")
        wrong = wrong.lower() if words[place].islower() else wrong  # texts were made lower-case, answers were not
        source = seen.setdefault(words, f"{path.stem}:{number}")
        kind = Kind(path.stem, "", attractors, _number(right, wrong), AGREEMENT)
        if "<unk>" in words:
            yield LeftOut(source, kind, "a word of the sentence was replaced by <unk>")
        else:
            yield MinimalPair(source, kind, words, (*words[:place], wrong, *words[place + 1 :]))
    if (more := next(answers, None)) is not None:
        raise CorpusError(f"{gold}:{more[0]}: no sentence for this line, {path.name} has only {more[0] - 1} lines")


def _gold(line: str, where: str) -> tuple[int, str, str, int]:
    columns = line.split("\t")
    place, attractors = (number_in(columns[at]) if len(columns) == 4 else None for at in (0, 3))
    if place is None or attractors is None:
        raise CorpusError(
            f"{where}: expected index, right form, wrong form, attractors parted by tabs, got {shortened(line)}"
        )
    return place, columns[1], columns[2], attractors


def _number(right: str, wrong: str) -> str:
    """Return the number of an English present verb (or was, were), of whose two forms the singular ends in s."""
    shown = [form.lower().endswith("s") for form in (right, wrong)]
    return "" if shown[0] == shown[1] else SINGULAR if shown[0] else PLURAL


def read_true_false(path: Path) -> Iterator[MinimalPair]:
    """Read `True<TAB>sentence` and `False<TAB>sentence` in turn (Marvin and Linzen 2018; CLAMS, Mueller et al. 2020).

    Pairs with the same right sentence are one cluster.
    """
    right: tuple[int, tuple[str, ...]] | None = None
    seen: dict[tuple[str, ...], int] = {}
    for number, line in filled_lines(path):
        said, _, sentence = line.partition("\t")
        expected = str(right is None)
        if said != expected or not sentence.strip():
            raise CorpusError(f"{path}:{number}: expected {expected!r}, a tab and a sentence, got {line[:60]!r}")
        refuse_quoting(sentence, f"{path}:{number}")
        words = tuple(sentence.split())
        if right is None:
            right = number, words
            continue
        source = f"{path.stem}:{seen.setdefault(right[1], right[0])}"
        yield MinimalPair(source, Kind(path.stem), right[1], words)
        right = None
    if right is not None:
        raise CorpusError(f"{path}:{right[0]}: the last True has no False after it")


def read_tsv(path: Path) -> Iterator[Item]:
    """Read MultiBLiMP where the first line names one of its columns of SENTENCES, else open-sesame."""
    lines = filled_lines(path)
    names = next(lines, (1, ""))[1].split("\t")
    if not any(name in names for name in SENTENCES):
        return _open_sesame(path)
    if lacks := [key for key in MULTIBLIMP_KEYS if key not in names]:
        raise CorpusError(f"{path}:1: no column {lacks[0]!r}, expected a header; {_MULTIBLIMP}")
    return _multiblimp(((number, _row(names, line, f"{path}:{number}")) for number, line in lines), path)


def _open_sesame(path: Path) -> Iterator[Item]:
    """Read sentences with the spans of subject and distractors, parted by tabs (Lin, Tan and Frank 2019).

    What their pairs are says `probes.corpora.open_sesame`. Items with the same right sentence are one cluster.
    """
    seen: dict[tuple[str, ...], str] = {}
    for number, line in filled_lines(path):
        item = open_sesame_item(line, path.stem, f"{path.stem}:{number}", f"{path}:{number}")
        if isinstance(item, MinimalPair):
            source = seen.setdefault(item.good, item.source)
            item = MinimalPair(source, item.kind, item.good, item.bad)
        yield item


TABLE_KEYS = ("pattern", "constr_id", "correct_number", "form", "class", "type", "n_attr", "len_prefix", "sent")

NUMBERS = {"sing": SINGULAR, "plur": PLURAL}


def read_table(path: Path) -> Iterator[Item]:
    """Read the table of Gulordava et al. (2018) with nonce sentences: a line the right form, the next the wrong one.

    The form takes the place of word `len_prefix`, from 0, where the sentence has another verb. The original sentence
    and those that were made from it are one cluster. Pairs of is and are are left out, as Goldberg (2019) does.
    """
    lines = filled_lines(path)
    names = next(lines, (1, ""))[1].split("\t")
    if lacks := [key for key in TABLE_KEYS if key not in names]:
        raise CorpusError(f"{path}:1: no column {lacks[0]!r}, expected a header with {', '.join(TABLE_KEYS)}")
    for number, line in lines:
        pair = (line, next(lines, (0, ""))[1])
        right, wrong = (_row(names, text, f"{path}:{number}", "two lines of ") for text in pair)
        yield _nonce(right, wrong, path.stem, f"{path}:{number}")


def _row(names: list[str], line: str, where: str, lines: str = "") -> dict[str, str]:
    try:
        columns = next(csv.reader([line], delimiter="\t", strict=True), [])
    except csv.Error:  # a carriage return within a line, a column without end, or a quote that none of csv is
        columns = []
    if len(columns) != len(names):
        quoted = "; a cell with a quote in it stands in quotes, its own doubled" * ('"' in line)
        raise CorpusError(f"{where}: expected {lines}{len(names)} columns, got {line[:40]!r}{quoted}")
    return dict(zip(names, columns, strict=True))


def _nonce(right: Mapping[str, str], wrong: Mapping[str, str], stem: str, where: str) -> Item:
    if (right["class"], wrong["class"]) != ("correct", "wrong") or right["sent"] != wrong["sent"]:
        raise CorpusError(f"{where}: expected one sentence in two lines, 'correct' and 'wrong' in column 'class'")
    words = tuple(right["sent"].removesuffix("<eos>").split())
    place, attractors = number_in(right["len_prefix"]), number_in(right["n_attr"])
    number = NUMBERS.get(right["correct_number"])
    if place is None or attractors is None or place >= len(words) or number is None:
        found = [shortened(right[key]) for key in ("len_prefix", "n_attr", "correct_number")]
        wanted = "the verb's place, a number of attractors, and sing or plur"
        raise CorpusError(f"{where}: expected {wanted}, got {found[0]}, {found[1]} and {found[2]}")
    kind = Kind(stem, right["type"], attractors, number, AGREEMENT)
    source = f"{stem}:{right['pattern']} {right['constr_id']}"
    good, bad = ((*words[:place], row["form"], *words[place + 1 :]) for row in (right, wrong))
    if {right["form"], wrong["form"]} == {"is", "are"}:
        return LeftOut(source, kind, "is and are are left out")
    return MinimalPair(source, kind, good, bad)


READERS: Mapping[str, Callable[[Path], Iterator[Item]]] = {
    ".jsonl": read_json,
    ".text": read_gold,
    ".tab": read_table,
    ".tsv": read_tsv,
    ".txt": read_true_false,
}
"Suffix of a file -> its reader."

WRITTEN = {
    ".jsonl": "BLiMP, MultiBLiMP",
    ".text": "with .gold beside it",
    ".tab": "nonce sentences of Gulordava et al.",
    ".tsv": "MultiBLiMP, open-sesame",
    ".txt": "True and False in turn",
}
"Suffix of a file -> how it is written, in words."
