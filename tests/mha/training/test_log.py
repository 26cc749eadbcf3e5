import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from mha.training.log import TrainingLog, truncate_log


def steps(path: Path) -> list[int]:
    return [json.loads(line)["step"] for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    log = TrainingLog(tmp_path / "log.jsonl")
    for step in (0, 2, 4, 6):
        log.write("step", step, loss=step / 3)
    log.force()
    log.close()
    return tmp_path / "log.jsonl"


def test_lines_of_later_steps_go(path: Path) -> None:
    truncate_log(path, 4)
    assert steps(path) == [0, 2, 4]
    truncate_log(path, -1)
    assert steps(path) == []
    assert [file.name for file in path.parent.iterdir()] == ["log.jsonl"]


def test_a_half_written_line_goes_and_lines_can_follow(path: Path) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write('{"event": "step", "st')
    truncate_log(path, 100)
    log = TrainingLog(path)
    log.write("step", 8)
    log.close()
    assert steps(path) == [0, 2, 4, 6, 8]


def test_a_full_disk_is_an_error_that_names_the_file(
    path: Path, largest_file: Callable[[int], AbstractContextManager[None]]
) -> None:
    log = TrainingLog(path)
    with largest_file(path.stat().st_size + 10), pytest.raises(OSError, match="File too large") as caught:
        log.write("step", 8)
    assert caught.value.filename == str(path)
    with largest_file(path.stat().st_size):
        log.close()  # what could not be written is lost and said to be
