"""One process writes a folder; others are told who does."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from reports.run.lock import LockedError, lock_file, lockable, locked, may_be_held

HOLD = """
import sys
from pathlib import Path
from reports.run.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def hold(folder: Path) -> "subprocess.Popen[str]":
    """Return a process that holds the lock of `folder` until its input ends."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_is_refused_by_the_name_of_the_first(tmp_path: Path) -> None:
    with hold(tmp_path / "run") as first:
        with pytest.raises(LockedError, match=f"run is being written by process {first.pid} on .*--out or name"):
            locked(tmp_path / "run").__enter__()
        with locked(tmp_path / "other"):
            pass
        first.communicate("\n")
    with locked(tmp_path / "run"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_second_block_in_one_process_is_refused_and_no_folder_stays(tmp_path: Path) -> None:
    with locked(tmp_path / "new" / "run"):
        pass
    assert list(tmp_path.iterdir()) == []
    with locked(tmp_path / "run"), pytest.raises(LockedError, match=f"process {os.getpid()} "):
        locked(tmp_path / "run").__enter__()


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    with hold(tmp_path / "run") as first:
        first.kill()
    assert lock_file(tmp_path / "run").is_file()
    assert lockable(tmp_path) == [tmp_path / "run"]
    with locked(tmp_path / "run"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="there locks tell")
@pytest.mark.parametrize(
    ("process", "node", "held"),
    [("alive", "here", True), ("ended", "here", False), ("own", "here", False), ("ended", "elsewhere", True)],
)
def test_where_locks_do_not_tell_the_process_that_is_named_does(
    process: str, node: str, held: bool, tmp_path: Path
) -> None:
    """As on a file system without locks, or with locks of each machine alone."""
    with hold(tmp_path / "other") as living:
        number = {"alive": living.pid, "ended": 2**22 + 1, "own": os.getpid()}[process]
        at = platform.node() if node == "here" else "elsewhere"
        lock_file(tmp_path / "run").write_text(f"process {number} on {at}, since 2026-11-27 08:00:00", "utf-8")
        assert may_be_held(tmp_path / "run") == held
        living.communicate("\n")
