import io
import os
import pickle
import sys
from functools import partial
from pathlib import Path

import pytest

from reports.drawing.beside import draw_for_parent, drawn_beside
from reports.progress import silent


def save_process(path: Path) -> None:
    path.write_text(str(os.getpid()), "utf-8")


def fail() -> None:
    raise OSError("no room")


def test_figures_are_drawn_by_other_processes_and_are_there_when_the_block_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "2")
    paths, told = [tmp_path / name for name in "abc"], []
    with drawn_beside([partial(save_process, path) for path in paths], lambda *step: told.append(step)):
        pass
    processes = {path.read_text("utf-8") for path in paths}
    assert len(processes - {str(os.getpid())}) == 2
    assert [(done, of) for _, done, of in told] == [(0, 2), (1, 2), (2, 2)]


def test_with_one_core_this_process_draws_them_after_the_block(tmp_path: Path):
    with drawn_beside([partial(save_process, tmp_path / "a")], silent):
        assert not (tmp_path / "a").exists()
    assert (tmp_path / "a").read_text("utf-8") == str(os.getpid())


def test_without_figures_nothing_is_drawn():
    with drawn_beside([], silent):
        pass


@pytest.mark.parametrize("processes", ["1", "2"])
def test_what_a_figure_raises_is_raised(processes: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", processes)
    with pytest.raises(OSError, match="no room"), drawn_beside([fail, fail], silent):
        pass


def test_an_error_of_the_block_is_raised_before_one_of_a_figure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "2")
    with pytest.raises(ValueError, match="of the block"), drawn_beside([fail, fail], silent):
        raise ValueError("of the block")


def test_a_process_that_dies_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "2")
    with (
        pytest.raises(RuntimeError, match="draws figures ended with 3"),
        drawn_beside([partial(os._exit, 3)] * 2, silent),
    ):
        pass


def test_figures_of_a_parent_that_is_gone_are_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    given, told = io.BytesIO(pickle.dumps((os.getpid(), [partial(save_process, tmp_path / "a")]))), io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(told))
    draw_for_parent()
    assert pickle.loads(told.getvalue()) is None
    assert not (tmp_path / "a").exists()
