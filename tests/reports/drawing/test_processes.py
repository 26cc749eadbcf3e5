import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from reports.drawing.processes import CHILD, DrawingError, drawn_beside
from reports.progress import silent


def save_process(path: Path) -> None:
    path.write_text(str(os.getpid()), "utf-8")


def fail() -> None:
    raise OSError("no room")


class OddError(Exception):
    """As many classes of libraries, it cannot be loaded from what pickle writes."""

    def __init__(self, what: str, where: str):
        super().__init__(f"{what} at {where}")


def fail_oddly() -> None:
    raise OddError("no room", "the margin")


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("joblib.cpu_count", lambda: 2)


@pytest.mark.usefixtures("two_cores")
def test_figures_are_drawn_by_other_processes_and_are_there_when_the_block_has_ended(tmp_path: Path):
    paths, told = [tmp_path / name for name in "abcde"], []
    with drawn_beside([partial(save_process, path) for path in paths], lambda *step: told.append(step)):
        pass
    processes = [path.read_text("utf-8") for path in paths]
    assert len({*processes} - {str(os.getpid())}) == 2
    assert [(done, of) for _, done, of in told] == [(0, 5), (2, 5), (5, 5)]


@pytest.mark.parametrize(("cores", "figures"), [(1, 4), (2, 3)])
def test_with_one_core_or_few_figures_this_process_draws_them_after_the_block(
    cores: int, figures: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("joblib.cpu_count", lambda: cores)
    paths, told = [tmp_path / str(number) for number in range(figures)], []
    with drawn_beside([partial(save_process, path) for path in paths], lambda *step: told.append(step)):
        assert not any(path.exists() for path in paths)
    assert {path.read_text("utf-8") for path in paths} == {str(os.getpid())}
    assert [(done, of) for _, done, of in told] == [(done, figures) for done in range(figures + 1)]


def test_without_figures_nothing_is_drawn():
    with drawn_beside([], silent):
        pass


@pytest.mark.parametrize("cores", [1, 2])
def test_what_a_figure_raises_is_raised(cores: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: cores)
    with pytest.raises(OSError, match="no room"), drawn_beside([fail] * 4, silent):
        pass


@pytest.mark.usefixtures("two_cores")
def test_an_error_of_the_block_is_raised_before_one_of_a_figure():
    with pytest.raises(ValueError, match="of the block"), drawn_beside([fail] * 4, silent):
        raise ValueError("of the block")


@pytest.mark.usefixtures("two_cores")
def test_an_error_that_cannot_be_passed_on_is_told():
    with (
        pytest.raises(DrawingError, match=r"^OddError: no room at the margin\n") as caught,
        drawn_beside([fail_oddly] * 4, silent),
    ):
        pass
    assert "fail_oddly" in caught.value.__notes__[0]


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize(
    ("dies", "said"),
    [
        (partial(os._exit, 3), "figures ended with exit code 3; what it said stands above. With LOKY"),
        (partial(signal.raise_signal, signal.SIGKILL), "figures was ended by signal 9, perhaps for want of memory. W"),
    ],
)
def test_a_process_that_dies_is_an_error(dies: Callable[[], None], said: str):
    with pytest.raises(DrawingError, match=said), drawn_beside([dies] * 4, silent):
        pass


def test_a_process_ends_with_its_parent(tmp_path: Path):
    waits = tmp_path / "given"
    waits.write_bytes(pickle.dumps([partial(time.sleep, 600)]))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-P", "-c", CHILD, str(waits)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        process.stdin.close()  # as the system does where the parent is killed
        assert process.wait(60) != 0
