"""How what is finished takes the place of what is older, so that a kill at any moment loses neither."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reports.run.lock import LockedError, lockable, locked, may_be_held
from reports.tables.files import replaced

LAST = "config.toml"
"A file that says that a folder is whole: the last to come, the first to go."

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"Errors of a file that finds no room to grow, which do not say what file it is."


@contextmanager
def replacing(
    folder: Path, stays: Callable[[Path], bool] = lambda path: False, then: Callable[[], None] = lambda: None
) -> Iterator[Path]:
    """Yield a new hidden folder beside `folder`, which takes its place when the block ends without an error.

    What `stays` holds of, of the paths in an older folder, stays where it is. `then` is called once the new folder is
    in its place. Only one process may be in such a block for one folder: LockedError names the other. What killed
    processes left in the folder above is put right first; and interrupted at any moment, there is either the old folder
    or the new one when such a block is next entered there.
    """
    _settle_others(folder)
    with locked(folder):
        settle(folder)
        new = _new(folder)
        try:
            with _naming(folder):
                new.mkdir()
                yield new
                _put(new, folder, stays)
                then()
        finally:
            settle(folder)


def settle(folder: Path) -> None:
    """Put right what an interrupted replacement of `folder` left: the old folder comes back, or the new one goes in.

    Nothing of the new one was in its place before the old one was wholly out of it.
    """
    leaving, old, new = _leaving(folder), _old(folder), _new(folder)
    if leaving.exists():
        _move(leaving, folder)
        _remove(leaving)
    if old.exists():
        if new.exists():
            _move(new, folder)
        _remove(old)
    _remove(new)


def replace_text(path: Path, text: str) -> Path:
    """Write `text` beside `path` and rename it, so that no reader ever sees half a file; return `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as unfinished, _naming(path):
        unfinished.write_text(text, encoding="utf-8")
    return path


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say in the error of a full disk where there is no room."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in FULL:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise


def _put(new: Path, folder: Path, stays: Callable[[Path], bool]) -> None:
    """Give the new folder its name; the old one comes back where that cannot be done."""
    old = _old(folder)
    if not folder.exists():
        new.rename(folder)
    elif any(map(stays, folder.iterdir())):
        leaving = _leaving(folder)
        leaving.mkdir()
        for path in sorted((path for path in folder.iterdir() if not stays(path)), key=lambda path: path.name != LAST):
            path.rename(leaving / path.name)
        leaving.rename(old)
        _move(new, folder)
    else:
        folder.rename(old)
        try:
            new.rename(folder)
        except OSError:
            old.rename(folder)
            raise


def _move(source: Path, folder: Path) -> None:
    """Move what is in `source` into `folder`, the whole of it where there is no such folder."""
    if not folder.exists():
        source.rename(folder)
        return
    for path in sorted(source.iterdir(), key=lambda path: path.name == LAST):
        path.rename(folder / path.name)


def _remove(folder: Path) -> None:
    """Remove a folder; of a link to one the link alone."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def _settle_others(folder: Path) -> None:
    """Put right what killed processes left of folders beside this one."""
    for other in lockable(folder.parent):
        if not may_be_held(other):
            with suppress(LockedError, OSError), locked(other):
                settle(other)


def _new(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}-unfinished")


def _leaving(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}-leaving")


def _old(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}-replaced")
