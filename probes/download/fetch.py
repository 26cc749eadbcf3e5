"""Bring a corpus by name: whole or not at all, checked, with a note of its source and licence beside it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pooch

from probes.corpora.line_reader import CorpusError
from probes.corpora.named import Named, ReleasedTreebank, data_folder
from probes.download.archive import extract
from probes.download.sources import Source, refuse_other, source_of
from probes.download.transfer import UNPINNED_LIMIT, fetch_file

Progress = Callable[[str, int, int], None]
"Is told what arrives, how much of it has, and how much there is (both in bytes)."

NOTE: Final = "FETCHED.json"
"Beside the files of a corpus: whence and when they came, their licence, size and sha256."

UNFINISHED: Final = ".fetching"
"The folder, among the named corpora, of what has arrived of corpora that are not whole yet."


def fetch(name: str, progress: Progress = lambda what, done, of: None) -> Path:
    """Bring a named corpus, or a treebank such as ud:German-PUD@r2.15; return its folder.

    Files that are there are left. Raises CorpusError where it cannot be had whole; then nothing of it lies among the
    corpora, and what has arrived is kept so that the next call goes on there.
    """
    source = source_of(name)
    try:
        if isinstance(source, ReleasedTreebank):
            return _fetch_treebank(source, progress)
        if source.by_hand:
            raise CorpusError(f"fetch: {name} has to be fetched by hand from {source.address}: {source.by_hand}")
        return _fetch_pinned(source, progress)
    finally:
        _tidy()


def _tidy() -> None:
    """Remove the folder of unfinished corpora where nothing is left in it."""
    unfinished = data_folder() / UNFINISHED
    if unfinished.is_dir() and not any(path.is_file() for path in unfinished.rglob("*")):
        shutil.rmtree(unfinished)


def _fetch_pinned(source: Source, progress: Progress) -> Path:
    target = data_folder() / source.folder
    lacking = source.missing(data_folder())
    staged, before = data_folder() / UNFINISHED / source.name, 0
    for file in lacking:
        path = staged / file.name
        path.parent.mkdir(parents=True, exist_ok=True)

        def step(done: int, before: int = before) -> None:
            progress(source.name, before + done, max(1, sum(one.bytes for one in lacking)))

        fetch_file(file.url, path, file.sha256, file.bytes, step)
        before += file.bytes
        step(0, before)
    if lacking:
        _place(staged, target, [file.name for file in lacking])
        _note(target, source.name, source.about, source.address, [target / file.name for file in lacking])
    return target


def _fetch_treebank(treebank: ReleasedTreebank, progress: Progress) -> Path:
    """Bring the files of a treebank's release; their hashes, written down at the first time, must be the same later."""
    target = data_folder() / treebank.folder
    known = read_note(target).get(treebank.name, {}).get("files", {})
    there = [name for name in known if (target / name).is_file()]
    for name in there:
        refuse_other(target / name, known[name]["sha256"], treebank.url)
    if known and len(there) == len(known):
        return target
    staged = data_folder() / UNFINISHED / treebank.folder
    staged.mkdir(parents=True, exist_ok=True)
    archive = staged / "release.tar.gz"
    fetch_file(treebank.url, archive, None, UNPINNED_LIMIT, lambda done: progress(treebank.name, done, 0))
    try:
        files = extract(archive, staged, treebank.takes)
        _check_treebank(treebank, files, known, target)
    except CorpusError:
        shutil.rmtree(staged)
        raise
    archive.unlink()
    _place(staged, target, [file.name for file in files])
    placed = [target / file.name for file in files]
    licence = _licence(target)
    _note(target, treebank.name, Named(treebank.folder, treebank.name, licence, treebank.url), treebank.url, placed)
    return target


def _check_treebank(
    treebank: ReleasedTreebank, files: Iterable[Path], known: dict[str, dict[str, Any]], target: Path
) -> None:
    hashes = {file.name: pooch.file_hash(str(file)) for file in files}
    if not any(name.endswith(".conllu") for name in hashes):
        raise CorpusError(f"{treebank.url}: no .conllu file in the release")
    for name, noted in known.items():
        if hashes.get(name) != noted["sha256"]:
            raise CorpusError(
                f"{treebank.url}: {name} is not what was fetched before, its sha256 is not {noted['sha256']}; remove "
                f"{NOTE} in {target} to take the new one"
            )
    for name, sha256 in hashes.items():
        if (target / name).exists():
            refuse_other(target / name, sha256, treebank.url)


def _licence(folder: Path) -> str:
    """Return the first line of a treebank's licence."""
    text = next((path for path in sorted(folder.glob("LICENSE*"))), None)
    lines = text.read_text(encoding="utf-8", errors="replace").split("\n") if text else []
    return next((line.strip(" =*-#\r") for line in lines if line.strip(" =*-#\r")), "not stated in the release")


def _place(staged: Path, target: Path, names: Collection[str]) -> None:
    """Move files that have all arrived to where corpora are looked for: as a whole folder where there is none yet.

    What else lies with them, of a process that was killed, goes.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        for name in names:
            os.replace(staged / name, target / name)
        shutil.rmtree(staged)
        return
    for path in staged.iterdir():
        if path.name not in names:
            path.unlink()
    os.rename(staged, target)


def read_note(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what is noted of the corpora in a folder, by name; nothing where nothing was fetched there."""
    path = folder / NOTE
    if not path.is_file():
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise CorpusError(f"{path}: not valid JSON; remove it, and fetch the corpus again") from error


def _note(folder: Path, name: str, about: Named, address: str, files: Iterable[Path]) -> None:
    noted = read_note(folder)
    hashes = {file.name: {"bytes": file.stat().st_size, "sha256": pooch.file_hash(str(file))} for file in files}
    noted[name] = {
        **{"title": about.title, "licence": about.licence, "source": about.source, "address": address},
        **{"fetched": datetime.now(UTC).isoformat(timespec="seconds")},
        "files": {**noted.get(name, {}).get("files", {}), **hashes},
    }
    unfinished = folder / f".{NOTE}"
    unfinished.write_text(json.dumps(noted, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(unfinished, folder / NOTE)
