import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.record import provenance
from experiments.record.provenance import (
    STATUS,
    Start,
    git_commit,
    machine,
    peak_memory_mb,
    uncommitted_changes,
)


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    done = subprocess.run(["git", "-C", str(folder), *identity, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with one commit, in which a file passes for the module."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    module = tmp_path / "experiments" / "provenance.py"
    module.parent.mkdir()
    module.write_text("first\n")
    monkeypatch.setattr(provenance, "__file__", str(module))
    git(tmp_path, "init", "--quiet")
    (tmp_path / "README").touch()
    git(tmp_path, "add", "README")
    git(tmp_path, "commit", "--quiet", "--message", "one")
    return module


def test_the_commit_is_that_of_our_checkout_and_a_plus_marks_changes(repository: Path) -> None:
    git(repository.parent, "add", repository.name)
    git(repository.parent, "commit", "--quiet", "--message", "two")
    assert git_commit() == git(repository.parent, "rev-parse", "HEAD")
    repository.write_text("second\n")
    assert git_commit() == git(repository.parent, "rev-parse", "HEAD") + "+"


def test_code_that_git_does_not_track_is_a_change(repository: Path) -> None:
    git(repository.parent, "add", repository.name)
    git(repository.parent, "commit", "--quiet", "--message", "two")
    (repository.parent.parent / "notes.py").touch()
    assert uncommitted_changes() is None, "it is none of our packages"
    study = repository.parent / "studies" / "new.py"
    study.parent.mkdir()
    study.write_text("first")
    assert git_commit() == git(repository.parent, "rev-parse", "HEAD") + "+"
    first = uncommitted_changes()
    study.write_text("second")
    assert None is not first != uncommitted_changes() is not None


def test_without_a_repository_or_without_git_there_is_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "provenance.py"))
    assert git_commit() is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_commit() is None


def test_the_name_of_a_process_may_be_cut_in_a_letter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel keeps 15 bytes of it."""
    monkeypatch.setattr(provenance, "STATUS", tmp_path / "status")
    (tmp_path / "status").write_bytes(b"Name:\t\xd0\xb8\xd1\nVmHWM:\t  1000 kB\n")
    assert peak_memory_mb() == 1


PEAK = "from experiments.record.provenance import peak_memory_mb; print(peak_memory_mb())"


@pytest.mark.skipif(not STATUS.is_file(), reason="only Linux says it")
def test_the_peak_of_a_process_is_its_own_and_not_that_of_the_one_that_started_it() -> None:
    held = bytearray(1_500_000_000)
    held[::1000] = b"x" * len(held[::1000])
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)
    assert peak_memory_mb() > 1500 > int(done.stdout)


def test_a_clock_that_is_set_back_moves_no_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    started = Start()
    monkeypatch.setattr(time, "time", lambda: started.at - 7200)
    assert 0 <= started.seconds() < 60
    assert machine(started)["started"] == machine(Start(started.at))["started"]
