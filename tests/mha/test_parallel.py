"""Batches side by side."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from mha.parallel import in_order, leave_group, prefetched, side_by_side


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(workers: int) -> None:
    def slow_when_early(task: int) -> int:
        time.sleep(0.002 * (8 - task))
        return task * task

    assert list(in_order(slow_when_early, range(8), workers)) == [task * task for task in range(8)]


def test_few_tasks_wait_for_whoever_takes_the_results() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for task in range(50):
            taken.append(task)
            yield task

    results = in_order(lambda task: task, tasks(), 2)
    assert next(results) == 0
    assert len(taken) <= 3
    assert list(results) == list(range(1, 50))


@pytest.mark.parametrize("workers", [1, 3])
def test_a_failure_is_raised_and_the_threads_are_given_back(workers: int) -> None:
    before = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda task: 1 // (task - 3), range(10), workers))
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(("threads", "tasks", "each"), [(4, 2, 2), (2, 5, 1), (1, 3, 1)])
def test_tasks_side_by_side_share_the_threads(threads: int, tasks: int, each: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        meet = threading.Barrier(2, timeout=10)

        def work(task: int) -> tuple[int, int]:
            if task < 2 and threads > 1:
                meet.wait()  # breaks where the other task does not run as well
            return task, torch.get_num_threads()

        assert side_by_side(work, range(tasks)) == [(task, each) for task in range(tasks)]
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_a_process_leaves_its_group_and_only_then(tmp_path: Path) -> None:
    leave_group()  # of none
    torch.distributed.init_process_group("gloo", init_method=(tmp_path / "met").as_uri(), rank=0, world_size=1)
    leave_group()
    assert not torch.distributed.is_initialized()


def test_items_are_made_in_another_thread_and_not_too_far_ahead() -> None:
    made: list[tuple[int, int]] = []

    def work() -> Iterator[int]:
        for number in range(50):
            made.append((number, threading.get_ident()))
            yield number

    with prefetched(work(), ahead=3) as items:
        stream = iter(items)
        for number in range(10):
            assert next(stream) == number
            assert len(made) <= number + 1 + 3 + 1
    assert {thread for _, thread in made} != {threading.get_ident()}


def test_an_error_is_raised_where_its_item_is_due() -> None:
    def work() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    with prefetched(work()) as items:
        stream = iter(items)
        assert next(stream) == 1
        with pytest.raises(OSError, match="the disk is gone"):
            next(stream)


def test_leaving_early_ends_the_thread() -> None:
    before = threading.active_count()
    with prefetched(iter(int, 1)) as items:
        next(iter(items))
    assert threading.active_count() == before
