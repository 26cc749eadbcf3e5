"""Bring a corpus by name: whole or not at all, checked, with a note of its source and licence beside it."""

from __future__ import annotations

import gzip
import json
import os
import platform
import shutil
import tarfile
import zlib
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final

import pooch

from probes.corpora.line_reader import CorpusError
from probes.corpora.named import Named, ReleasedTreebank, data_folder
from probes.download.sources import Source, refuse_other, source_of
from probes.download.transfer import UNPINNED_LIMIT, fetch_file

UNPACKED_LIMIT: Final = 4 << 30
"Bytes that may come out of an archive."

CHUNK: Final = 1 << 20


def extract(archive: Path, folder: Path, wanted: Callable[[str], bool]) -> list[Path]:
    """Write the files at the top of a .tar.gz archive's one folder whose names are `wanted` into `folder`; return them.

    Raises CorpusError, before anything is written, for an archive that cannot be read, that has a member with a path
    outside of it (absolute, or by ..) or a link that leads out, a device, or a link under a wanted name, or that would
    fill more than UNPACKED_LIMIT bytes; and where this Python cannot check that.
    """
    if not hasattr(tarfile, "data_filter"):  # of Python 3.11.4
        raise CorpusError(
            f"{archive.name}: Python {platform.python_version()} cannot check whether an archive is safe: take 3.11.4 "
            "or newer, or unpack it by hand and name the files by their paths"
        )
    try:
        _check_whole(archive)
        with tarfile.open(archive, "r:gz") as opened:
            members = _checked(opened, archive, folder)
            taken = [one for one in members if len(_parts(one)) == 2 and wanted(_parts(one)[1])]
            if links := [one.name for one in taken if not one.isfile()]:
                raise CorpusError(f"{archive.name}: {links[0]!r} in the archive is not a plain file")
            return [_write(opened, one, folder / _parts(one)[1]) for one in taken]
    except (tarfile.ReadError, tarfile.StreamError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CorpusError(f"{archive.name}: not a whole tar.gz archive ({error})") from error


def _check_whole(archive: Path) -> None:
    """Unpack to nowhere, up to the checksum at the end, which tarfile does not read."""
    total = 0
    with gzip.open(archive) as stream:
        while chunk := stream.read(CHUNK):
            if (total := total + len(chunk)) > UNPACKED_LIMIT:
                raise CorpusError(f"{archive.name}: more than {UNPACKED_LIMIT:,} bytes would come out of it")


def _parts(member: tarfile.TarInfo) -> tuple[str, ...]:
    return PurePosixPath(member.name).parts


def _checked(opened: tarfile.TarFile, archive: Path, folder: Path) -> list[tarfile.TarInfo]:
    members = opened.getmembers()
    for member in members:
        try:
            safe = tarfile.data_filter(member, str(folder.resolve()))
        except tarfile.FilterError as error:
            raise CorpusError(f"{archive.name}: unsafe archive: {error}") from error
        if safe.name != member.name:  # the filter takes a leading slash away
            raise CorpusError(f"{archive.name}: unsafe archive: {member.name!r} has an absolute path")
    return members


def _write(opened: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> Path:
    content = opened.extractfile(member)
    assert content is not None
    with path.open("wb") as file:
        shutil.copyfileobj(content, file)
    return path


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
