"""Neither the old folder nor the new one is lost, wherever a replacement is cut off."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from reports.run.lock import LockedError, lock_file
from reports.run.replacing import LAST, replacing

FILES = ("scores", "numbers", LAST)
CALLS = [(Path, "rename"), (Path, "mkdir"), (shutil, "rmtree"), (Path, "unlink")]
"Everything that moves, makes or removes in a replacement."


class KilledError(BaseException):
    """Stands for a kill: nothing that would clean up runs after it."""


def fill(folder: Path, said: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in (*FILES, f"only-{said}"):
        (folder / name).write_text(said)


def read(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def whole(said: str) -> dict[str, str]:
    return dict.fromkeys((*FILES, f"only-{said}"), said)


def replace(folder: Path, said: str, error: BaseException | None = None) -> None:
    with replacing(folder, stays=lambda path: path.name.startswith("seed-")) as unfinished:
        fill(unfinished, said)
        if error is not None:
            raise error


@contextmanager
def cut_off(monkeypatch: pytest.MonkeyPatch, after: int, *, stays_dead: bool) -> Iterator[None]:
    """Kill at call number `after` of `CALLS`; `stays_dead`: at each later one too."""
    calls = 0

    def counted(real: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object, **more: object) -> object:
            nonlocal calls
            calls += 1
            if calls == after or (stays_dead and calls > after):
                raise KilledError
            return real(*given, **more)

        return call

    with monkeypatch.context() as patch, suppress(KilledError):
        for owner, name in CALLS:
            patch.setattr(owner, name, counted(getattr(owner, name)))
        yield


@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("stays_dead", [False, True], ids=["interrupted", "killed"])
@pytest.mark.parametrize("after", range(1, 16))
def test_cut_off_at_any_step_the_old_or_the_new_is_there_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int, stays_dead: bool, trained: bool
) -> None:
    folder = tmp_path / "run"
    fill(folder, "old")
    if trained:
        (folder / "seed-1").mkdir()
        (folder / "seed-1" / "state").write_text("hours")
    with cut_off(monkeypatch, after, stays_dead=stays_dead):
        replace(folder, "new")
    lock_file(folder).touch()
    replace(tmp_path / "another", "start")
    assert read(folder) in (whole("old"), whole("new"))
    assert not trained or (folder / "seed-1" / "state").read_text() == "hours"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["another", "run"]


def test_the_new_replaces_the_old_unless_there_is_an_error_and_nothing_else_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "below" / "run"
    for said in ("old", "new"):
        replace(folder, said)
        assert read(folder) == whole(said)
    with pytest.raises(KeyboardInterrupt):
        replace(folder, "third", KeyboardInterrupt())
    assert read(folder) == whole("new")
    assert [path.name for path in folder.parent.iterdir()] == ["run"]


def test_a_rename_that_fails_brings_the_old_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "run", "old")
    real = Path.rename

    def refused(path: Path, target: Path) -> Path:
        if path.name == ".run-unfinished":
            raise PermissionError(13, "refused", str(target))
        return real(path, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(PermissionError, match="refused"):
        replace(tmp_path / "run", "new")
    assert read(tmp_path / "run") == whole("old")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_link_to_a_folder_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    fill(tmp_path / "elsewhere", "old")
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    replace(tmp_path / "run", "new")
    assert (read(tmp_path / "elsewhere"), read(tmp_path / "run")) == (whole("old"), whole("new"))


def test_what_another_writes_is_left_alone_on_this_machine_and_on_others(tmp_path: Path) -> None:
    with replacing(tmp_path / "run"), pytest.raises(LockedError):
        replace(tmp_path / "run", "second")
    fill(tmp_path / ".other-unfinished", "other")
    lock_file(tmp_path / "other").write_text("process 1 on elsewhere, since 2026-11-27 08:00:00", "utf-8")
    replace(tmp_path / "third", "new")
    assert read(tmp_path / ".other-unfinished") == whole("other")
