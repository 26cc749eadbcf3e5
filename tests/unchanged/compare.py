"""Two records held against each other: one line a difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path

ABSENT = "(absent)"
PLACES = ("table: ", "h1: ", "h2: ", "h3: ", "h4: ", "$ ")
"How lines begin that say where the lines after them stand."

SAME_ANYWHERE = ("table: ", "columns: ", "column: ", "header: ", "key: ", "metadata: ")
"How lines begin that are the same on every machine."


def differences(before: Path, after: Path) -> Iterator[str]:
    """Yield "where: before -> after" for every line that differs, and for every file that only one record has."""
    files = {path.relative_to(folder).as_posix() for folder in (before, after) for path in folder.rglob("*.txt")}
    for name in sorted(files):
        one, other = before / name, after / name
        if one.is_file() and other.is_file():
            yield from _of_lines(name, _lines(one), _lines(other))
        else:
            there = ["a file" if path.is_file() else ABSENT for path in (one, other)]
            yield f"{name}: {there[0]} -> {there[1]}"


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _of_lines(name: str, one: Sequence[str], other: Sequence[str]) -> Iterator[str]:
    for kind, start, end, to, until in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind != "equal":
            where = f"{name}:{start + 1} {_place(one[:start])}".strip()
            for left, right in zip_longest(one[start:end], other[to:until], fillvalue=ABSENT):
                yield f"{where}: {left} -> {right}"


def _place(lines: Sequence[str]) -> str:
    return next((f"[{line.partition(' ')[2]}]" for line in reversed(lines) if line.startswith(PLACES)), "")


def patterns(path: Path | None) -> list[str]:
    """Return the lines of a file of exceptions, without comments: patterns, in which * stands for anything."""
    lines = [] if path is None else map(str.strip, _lines(path))
    return [line for line in lines if line and not line.startswith("#")]


def unexpected(found: Iterable[str], excepted: Sequence[str]) -> list[str]:
    """Return the differences that match no pattern."""
    return [line for line in found if not any(fnmatchcase(line, pattern) for pattern in excepted)]


def anywhere(lines: Iterable[str]) -> list[str]:
    """Return what is the same on any machine of the lines of a page or table."""
    return [line for line in lines if line.startswith(SAME_ANYWHERE)]


def golden(record: Path, out: Path) -> None:
    """Write the part of a record that is the same on any machine: helps and lists, titles, header rows, schemas."""
    for path in sorted(record.rglob("*.txt")):
        kind, *_ = path.relative_to(record).parts
        lines = _lines(path) if kind in ("commands", "lists") else anywhere(_lines(path))
        if lines and kind != "said":
            target = out / path.relative_to(record)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
