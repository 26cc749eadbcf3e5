"""A lock on a folder: one process writes it, others are refused; the system frees the lock of a process that died."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

SUFFIX = ".headscope-lock"

TRIES, PAUSE = 5, 0.05
"How often a lock is tried for, and the seconds between."

_BYTE = 2**30
"Windows locks bytes, which nobody else can then read: one far behind what the file says."


class LockedError(ValueError):
    """A folder that another process is writing."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of `folder`, which need not exist, while the block runs.

    The lock is a hidden file beside the folder that names the process. Raises LockedError where another process, or
    another thread of this one, holds it. Folders that were made for it go again where nothing came into them. A file
    system that knows no locks locks nothing.
    """
    path = lock_file(folder)
    made = [above for above in path.parents if not above.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    file = _taken(path, folder)
    try:
        yield
    finally:
        with file, suppress(OSError):
            if os.name == "nt":  # which removes no open file
                file.close()
            path.unlink()
        with suppress(OSError):  # that one is not empty: something was written
            for above in made:
                above.rmdir()


def lock_file(folder: Path) -> Path:
    """Return the file that stands for the lock of a folder."""
    return folder.with_name(f".{folder.name}{SUFFIX}")


def lockable(parent: Path) -> list[Path]:
    """Return the folders in `parent` that have a lock, be it held or left by a process that was killed."""
    return [parent / path.name[1 : -len(SUFFIX)] for path in sorted(parent.glob(f".*{SUFFIX}"))]


def may_be_held(folder: Path) -> bool:
    """Return whether the lock of a folder names a process that may be at it, although the lock can be taken.

    That is so where a file system has no locks, or each machine its own: a process of another machine, or one that is
    there.
    """
    with suppress(OSError):
        named = re.match(r"process (\d+) on (.*), since", lock_file(folder).read_text(encoding="utf-8"))
        return named is not None and (named[2] != platform.node() or _is_there(int(named[1])))
    return False


def _is_there(process: int) -> bool:
    if os.name == "nt":  # whose locks tell
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it is somebody else's
        return True
    return process != os.getpid()


def _taken(path: Path, folder: Path) -> IO[str]:
    """Return the file, open and locked; tried again where its holder has just removed it, or only looks at it."""
    for left in reversed(range(TRIES)):
        file = path.open("a+", encoding="utf-8")
        try:
            _lock(file)
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                break
        except BlockingIOError:
            if not left:
                raise LockedError(_refusal(file, folder)) from None
        except FileNotFoundError:
            pass
        file.close()
        time.sleep(PAUSE)
    else:
        raise LockedError(f"{folder}: another process has just begun to write it; try again")
    file.truncate(0)
    file.write(f"process {os.getpid()} on {platform.node()}, since {time.strftime('%Y-%m-%d %H:%M:%S')}")
    file.flush()
    return file


def _refusal(file: IO[str], folder: Path) -> str:
    with file:
        file.seek(0)
        holder = file.read() or "another process"
    return f"{folder} is being written by {holder}; wait until that is done, or choose another --out or name"


def _lock(file: IO[str]) -> None:
    """Lock an open file; raises BlockingIOError where it is locked already."""
    if os.name == "nt":
        _lock_windows(file)
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return  # a file system without locks


def _lock_windows(file: IO[str]) -> None:
    import msvcrt

    position = file.tell()
    file.seek(_BYTE)
    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]  # Windows alone has it
    except OSError as error:
        raise BlockingIOError(*error.args) from None
    finally:
        file.seek(position)
