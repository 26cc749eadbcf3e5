"""Many small fits side by side, in processes of one thread each, so that numbers do not depend on how many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import starmap
from typing import TypeVar

Result = TypeVar("Result")


def side_by_side(work: Callable[..., Result], calls: Iterable[tuple[object, ...]], workers: int) -> Iterator[Result]:
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
