"""A call that a worker does: its result, or in one line what became of it."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any, Final, Generic, TypeVar

from experiments.config.section import ConfigError
from mha.messages import OneLineError

Result = TypeVar("Result", covariant=True)

NO_WORKER_SECONDS: Final = 300
"How long a call may wait when all workers of a cluster are lost."

CHECK_SECONDS: Final = 5
"How often a call that waits looks whether there are workers."

_ONE_CALL: Final = Lock()
"Held by the call that a worker is at."

DASKS_THRESHOLD: Final = ("MALLOC_TRIM_THRESHOLD_", "65536")
"The variable by which Dask has its workers give freed memory back to the system, and its value."

MALLOPT: Final = {-3: 32 << 20, -1: 64 << 20}
"M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of glibc in bytes: where both are after large tensors, without such a variable."

DIED: Final = "its worker died each time that it was begun; it may need more memory than a worker has"


@contextmanager
def one_call() -> Iterator[None]:
    """Do one call at a time, for Dask gives a worker with several threads several, and keep memory that is freed."""
    with _ONE_CALL:
        if os.environ.get(DASKS_THRESHOLD[0]) == DASKS_THRESHOLD[1]:
            _keep_freed_memory()
        yield


def _keep_freed_memory() -> None:
    """Have the C library keep freed memory for the next tensors, as it does outside of Dask's workers.

    With Dask's threshold it maps the memory of each tensor anew, which slows scoring.
    """
    with suppress(OSError, AttributeError, TypeError):  # Windows, macOS, another C library than glibc
        library = ctypes.CDLL(None)
        for option, value in MALLOPT.items():
            library.mallopt(option, value)


class ClusterError(ConfigError):
    """A cluster that is not there, or workers that were lost or cannot do what they are asked for."""


class WorkerCall(Generic[Result]):
    """A call that was given to the workers of a cluster."""

    def __init__(self, what: str, future: Any, workers: Callable[[], int]) -> None:
        """Wait for a future of Dask; `what` it does begins errors, `workers` counts those that there are."""
        self._what, self._future, self._workers = what, future, workers

    def done(self) -> bool:
        """Return whether it has ended."""
        return bool(self._future.done())

    def result(self) -> Result:
        """Wait for the result.

        Raises ClusterError, which begins with what is done, where the worker refuses the call, cannot load it or is
        lost each time, or no worker is left; any other error that the call ended with as it is.
        """
        wait_for_any([self._future], self._workers, self._what)
        ended = outcome(self._future)
        if isinstance(ended, OneLineError) or _is_dasks(ended) or _is_unloadable(ended):
            raise ClusterError(f"{self._what}: {failure(ended)}") from ended
        if isinstance(ended, Exception):
            raise ended
        result: Result = ended
        return result


def wait_for_any(futures: Sequence[Any], workers: Callable[[], int], what: str) -> None:
    """Wait until one of the futures has ended; `what` they do begins the error.

    Raises ClusterError where all workers, which `workers` counts, are lost for `NO_WORKER_SECONDS`.
    """
    seen = time.monotonic()
    while not any(future.done() for future in futures):
        if workers():
            seen = time.monotonic()
        elif time.monotonic() - seen > NO_WORKER_SECONDS:
            raise ClusterError(f"{what}: all workers of the cluster were lost; start some and repeat the command")
        _wait(futures)


def _wait(futures: Sequence[Any]) -> None:
    from distributed import CancelledError, wait

    with suppress(TimeoutError, CancelledError):  # a future that was cancelled has ended
        wait(futures, timeout=CHECK_SECONDS, return_when="FIRST_COMPLETED")  # type: ignore[no-untyped-call]  # of Dask


def outcome(future: Any) -> Any:
    """Return the result of a future, or the error that it ended with."""
    try:
        return future.result()
    except Exception as error:
        return error


def failure(error: BaseException) -> str:
    """Say in one line what a call ended with."""
    told = " ".join(str(error).split())
    named = f"{type(error).__name__}: {told}"
    if type(error).__name__ == "KilledWorker":
        return DIED
    if _is_dasks(error):
        return f"the cluster is gone ({named}); start it again and repeat the command"
    if _is_unloadable(error):
        return f"a worker cannot load it ({named}); give it this version of headscope"
    return told if isinstance(error, OneLineError) else named


def _is_dasks(error: object) -> bool:
    return isinstance(error, Exception) and type(error).__module__.partition(".")[0] == "distributed"


def _is_unloadable(error: object) -> bool:
    """Say whether a scheduler or worker could not unpickle a call: it has another version of headscope, or none."""
    return isinstance(error, ImportError) or (
        isinstance(error, RuntimeError) and str(error).startswith("Error during deserialization")
    )
