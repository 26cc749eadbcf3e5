from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import torch

from mha.training.checkpoints import (
    CheckpointError,
    Schedule,
    checkpoint_path,
    find_checkpoint,
    find_resumable,
    is_whole,
    list_checkpoints,
    prune,
    read_record,
    read_state,
    write_checkpoint,
)

LargestFile = Callable[[int], AbstractContextManager[None]]
STATE = {"model.x": torch.arange(6.0).view(2, 3), "optimizer.x.step": torch.tensor(3.0)}


def fill(folder: Path) -> None:
    (folder / "model.bin").write_bytes(b"weights")


def write(training: Path, *steps: int, **record: Any) -> None:
    for step in steps:
        write_checkpoint(training, step, fill, STATE, record)


def test_early_steps_are_dense_and_late_ones_sparse() -> None:
    assert sorted(Schedule(per_doubling=1, safety=0).steps(20)) == [0, 1, 2, 4, 8, 16, 20]
    assert sorted(Schedule(per_doubling=2, safety=0).steps(20)) == [0, 1, 2, 3, 4, 6, 8, 11, 16, 20]


def test_a_schedule_may_be_even_as_well() -> None:
    assert sorted(Schedule(per_doubling=0, every=6, safety=0).kept(20)) == [0, 6, 12, 18, 20]
    both = Schedule(per_doubling=1, every=0, safety=5)
    assert sorted(both.steps(17)) == [0, 1, 2, 4, 5, 8, 10, 15, 16, 17]
    assert sorted(both.kept(17)) == [0, 1, 2, 4, 8, 16, 17]


def test_a_full_disk_is_one_line_that_names_the_last_good_checkpoint(tmp_path: Path, largest_file: LargestFile) -> None:
    write(tmp_path, 1)
    large = {"model.x": torch.zeros(10_000)}
    with largest_file(20_000), pytest.raises(CheckpointError) as caught:
        write_checkpoint(tmp_path, 2, fill, large, {})
    message = str(caught.value)
    assert message.startswith(f"{checkpoint_path(tmp_path, 2)}: the checkpoint cannot be written: File too large; ")
    assert f"the last good checkpoint is {checkpoint_path(tmp_path, 1)}; --resume goes on from there" in message
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == ["step-00000001"]


def test_a_checkpoint_that_lost_bytes_is_not_whole(tmp_path: Path) -> None:
    write(tmp_path, 1, 2, 3, 4)
    (checkpoint_path(tmp_path, 2) / "model.bin").write_bytes(b"weig")
    (checkpoint_path(tmp_path, 3) / "training.json").write_text('{"step": 3, "fi')
    (checkpoint_path(tmp_path, 4) / "model.bin").unlink()
    assert [*list_checkpoints(tmp_path)] == [1]
    assert find_checkpoint(tmp_path) == checkpoint_path(tmp_path, 1)
    write(tmp_path, 2)  # and is replaced when its step comes again
    assert is_whole(checkpoint_path(tmp_path, 2))


def test_going_on_takes_the_last_checkpoint_with_its_state(tmp_path: Path) -> None:
    assert find_resumable(tmp_path) is None
    write(tmp_path, 1, 2, 3)
    (checkpoint_path(tmp_path, 3) / "state.safetensors").write_bytes(b"half")
    assert find_resumable(tmp_path) == checkpoint_path(tmp_path, 2)
    (checkpoint_path(tmp_path, 2) / "state.safetensors").unlink()
    assert find_resumable(tmp_path) == checkpoint_path(tmp_path, 1)
    with pytest.raises(CheckpointError, match="only the last checkpoints can be gone on from"):
        read_state(checkpoint_path(tmp_path, 2))


def resumable(training: Path) -> list[int]:
    return [step for step, path in list_checkpoints(training).items() if (path / "state.safetensors").is_file()]


@pytest.mark.parametrize(
    ("kept", "more", "whole", "states"),
    [
        ({0, 1, 2, 4}, {"states": 2}, [0, 1, 2, 4, 5], [4, 5]),
        ({0, 1, 2, 4, 5}, {}, [0, 1, 2, 4, 5], [5]),
        ({*range(9)}, {"keep": 2}, [4, 5], [5]),
    ],
)
def test_pruning_keeps_the_schedule_and_the_last_states(
    kept: set[int], more: dict[str, int], whole: list[int], states: list[int], tmp_path: Path
) -> None:
    write(tmp_path, *range(6))
    prune(tmp_path, frozenset(kept), **more)
    assert ([*list_checkpoints(tmp_path)], resumable(tmp_path)) == (whole, states)


@pytest.mark.parametrize(("lost", "whole", "states"), [("model.bin", [2], [2]), ("state.safetensors", [2, 3], [2])])
def test_pruning_never_removes_the_last_good_checkpoint_nor_what_is_not_whole(
    lost: str, whole: list[int], states: list[int], tmp_path: Path
) -> None:
    write(tmp_path, 1, 2, 3)
    (checkpoint_path(tmp_path, 3) / lost).unlink()
    prune(tmp_path, frozenset(), keep=1)
    assert ([*list_checkpoints(tmp_path)], resumable(tmp_path)) == (whole, states)
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == ["step-00000002", "step-00000003"]


def test_what_a_kill_left_half_written_or_half_removed_goes_with_the_next_pruning(tmp_path: Path) -> None:
    write(tmp_path, 0, 2)
    for left in (".step-00000001-removed", ".step-00000003-partial"):
        (tmp_path / "checkpoints" / left).mkdir()
        (tmp_path / "checkpoints" / left / "model.bin").write_bytes(b"half")
    prune(tmp_path, frozenset({0, 2}))
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == ["step-00000000", "step-00000002"]


def test_a_whole_checkpoint_is_never_written_over(tmp_path: Path) -> None:
    write(tmp_path, 1, loss=1.0)
    with pytest.raises(CheckpointError, match="it is there already"):
        write(tmp_path, 1, loss=2.0)
    assert read_record(checkpoint_path(tmp_path, 1))["loss"] == 1.0


def test_a_last_checkpoint_without_state_does_not_cost_the_one_that_has_it(tmp_path: Path) -> None:
    write(tmp_path, 1, 2)
    (checkpoint_path(tmp_path, 2) / "state.safetensors").unlink()
    prune(tmp_path, frozenset(), keep=1)
    assert [*list_checkpoints(tmp_path)] == [1, 2]
    assert resumable(tmp_path) == [1]
