"""Doing the runs, and writing what they left: a folder of small text files."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tests.unchanged import commands
from tests.unchanged.masks import mask
from tests.unchanged.pages import html_lines, markdown_lines
from tests.unchanged.parts import PARTS, ROOT, Part, configs_into
from tests.unchanged.tables import csv_lines, parquet_lines, record_lines

START = "from experiments.cli import main; main()"

READERS: Mapping[str, tuple[str, Callable[[Path], Iterable[str]]]] = {
    ".html": ("pages", lambda path: html_lines(path.read_text(encoding="utf-8"))),
    ".md": ("pages", lambda path: markdown_lines(path.read_text(encoding="utf-8"))),
    ".tex": ("pages", lambda path: path.read_text(encoding="utf-8").splitlines()),
    ".parquet": ("tables", parquet_lines),
    ".csv": ("tables", csv_lines),
    ".json": ("tables", record_lines),
}
"Ending of a file -> the folder of the record in which it is told, and how."

UNTOLD = ("configs", "checkpoints", "cache", "packed")
"Folders whose files are no results."

RUNS = "runs"
"The folder of runs, which git ignores wherever it lies: it is left out of the record's paths."

GIVEN = {"commands": commands.helps, "lists": commands.lists}
"Parts for which nothing is run."


def names() -> tuple[str, ...]:
    """Return the parts of a record."""
    return (*GIVEN, *(part.name for part in PARTS))


Typed = Callable[[tuple[str, ...], Path], list[str]]
"Types a command in a folder, and returns what it printed."


def surroundings(work: Path) -> dict[str, str]:
    """Return the variables under which commands are typed in a folder."""
    found = {**commands.PLAIN, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    return found | {"HEADSCOPE_CACHE": str(work / "cache"), "HEADSCOPE_DATA": str(work / "none")}


def _said(words: tuple[str, ...], work: Path) -> list[str]:
    """Type a command in a process of its own; RuntimeError tells of one that failed."""
    called = [sys.executable, "-c", START, *words]
    around = os.environ | surroundings(work)
    done = subprocess.run(called, cwd=work, env=around, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"headscope {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.splitlines()


def write(out: Path, only: Iterable[str] = (), typed: Typed = _said) -> None:
    """Write the record, or parts of it, into a folder; how long each took is printed."""
    asked = tuple(only) or tuple(name for name in names() if name not in {part.name for part in PARTS if part.named})
    for name in asked:
        started = time.monotonic()
        if name in GIVEN:
            for title, lines in GIVEN[name]().items():
                _write(out / name / f"{title}.txt", lines)
        else:
            (part,) = (one for one in PARTS if one.name == name)
            _write_part(part, out, typed)
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)


def _write_part(part: Part, out: Path, typed: Typed) -> None:
    """Do the commands of a part in a temporary folder, and write what they said and left."""
    with tempfile.TemporaryDirectory(prefix="unchanged-") as temporary:
        work = Path(temporary)
        configs_into(work / "configs")
        part.prepare(work)
        said = [line for words in part.commands for line in (f"$ headscope {' '.join(words)}", *typed(words, work))]
        _write(out / "said" / f"{part.name}.txt", [mask(line, work) for line in said])
        for path in sorted(path for path in work.rglob("*") if path.suffix in READERS):
            inside = path.relative_to(work)
            if not set(inside.parts) & {*UNTOLD}:
                kind, read = READERS[path.suffix]
                lines = [mask(line, work) for line in read(path)]
                place = Path(*(folder for folder in inside.parts if folder != RUNS))
                _write(out / kind / part.name / f"{place}.txt", lines)


def _write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
