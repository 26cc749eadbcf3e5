"""Batches side by side in threads, small fits side by side in processes; and how one of several processes ends."""

from __future__ import annotations

import atexit
import ctypes
import platform
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import starmap
from typing import Any, TypeVar

import torch

Task = TypeVar("Task")
Result = TypeVar("Result")


M_ARENA_MAX = -8
"The option of mallopt for the number of arenas (malloc.h of glibc)."


def in_order(work: Callable[[Task], Result], tasks: Iterable[Task], workers: int = 0) -> Iterator[Result]:
    """Yield `work(task)` of every task in the order of the tasks, several being worked on at the same time.

    Each is worked on by one thread, so results do not depend on the number of workers (0 for torch's number of
    threads). Small products gain more from this than from being divided among threads. Few results wait at a time.
    """
    with threads(1) as before:
        workers = workers or before
        if workers == 1:
            yield from map(work, tasks)
            return
        _share_arena()
        with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            waiting: deque[Future[Result]] = deque()
            try:
                for task in tasks:
                    waiting.append(pool.submit(work, task))
                    if len(waiting) > workers:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()


def side_by_side(work: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
    """Return `work(task)` of every task; as many as torch has threads at a time, which have equal parts of its threads.

    For tasks that work on batches of their own by `in_order`: none waits for the last batch of another.
    """
    every = torch.get_num_threads()
    workers = max(min(every, len(tasks)), 1)
    _share_arena()
    with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(every // workers,)) as pool:
        return [*pool.map(work, tasks)]


@contextmanager
def prefetched(items: Iterator[Result], ahead: int = 4) -> Iterator[Iterator[Result]]:
    """Yield an iterator whose next items, `ahead` at the most, a thread has ready; it ends with the block.

    Their order is that of `items`. An error in `items` is raised where its item is due.
    """
    end: Any = object()
    with ThreadPoolExecutor(1) as pool:
        waiting = deque(pool.submit(next, items, end) for _ in range(ahead))

        def ready() -> Iterator[Result]:
            while (item := waiting.popleft().result()) is not end:
                waiting.append(pool.submit(next, items, end))
                yield item

        try:
            yield ready()
        finally:
            pool.shutdown(cancel_futures=True)


@cache
def _glibc() -> ctypes.CDLL | None:
    """Return the C library of this process where it is glibc."""
    return ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None


@cache
def _share_arena() -> None:
    """Have all threads of this process to come take memory where the first does: one uses what another has freed.

    glibc gives each an arena of its own otherwise, and keeps what is freed in it; another libc is left as it is.
    """
    if libc := _glibc():
        libc.mallopt(M_ARENA_MAX, 1)


def return_freed() -> None:
    """Return memory that was freed to the system: glibc keeps that of whole models otherwise."""
    if libc := _glibc():
        libc.malloc_trim(0)


@contextmanager
def threads(number: int) -> Iterator[int]:
    """Let torch use so many threads while the block runs; yield how many it used before."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield before
    finally:
        torch.set_num_threads(before)


def leave_group_at_exit() -> None:
    """Have this process leave the others while its interpreter is whole: later threads of gloo can abort it.

    See https://github.com/pytorch/pytorch/issues/190489.
    """
    atexit.unregister(leave_group)
    atexit.register(leave_group)


def leave_group() -> None:
    """Leave the group of processes, if this process is in one."""
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def in_processes(work: Callable[..., Result], calls: Iterable[tuple[object, ...]], workers: int) -> Iterator[Result]:
    """Yield `work(*call)` of every call in the order of the calls, `workers` at a time.

    `work` must be a function that a process can import. Each call runs with one thread of BLAS.
    """
    from joblib import Parallel, delayed
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        if workers == 1:
            yield from starmap(work, calls)
            return
        parallel = Parallel(n_jobs=workers, return_as="generator", max_nbytes=None)
        yield from parallel(delayed(_alone)(work, call) for call in calls)


def _alone(work: Callable[..., Result], call: tuple[object, ...]) -> Result:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return work(*call)
