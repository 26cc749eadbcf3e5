"""Who does the work: this process, or the workers of a Dask cluster, with what became of the calls that they did."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from shutil import which
from typing import Any, Final, Generic, TypeVar

from experiments.config.section import ConfigError
from experiments.config.sections import ClusterSection
from mha.messages import OneLineError

Result = TypeVar("Result", covariant=True)

WAIT_SECONDS = 20
"How long a scheduler may take to answer, and its first worker to come."

KINDS: Final = {"local": "local worker", "slurm": "SLURM worker"}
"Beginning of an address -> what its workers are called; others are those of a Dask scheduler."

NO_WORKER_SECONDS: Final = 300
"How long a call may wait when all workers of a cluster are lost."

CHECK_SECONDS: Final = 5
"How often a call that waits looks whether there are workers."

_ONE_CALL: Final = threading.Lock()
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


class ThisProcess:
    """One call after the other, here."""

    described = "one process"
    "In a few words, for the page."

    def each(
        self, work: Callable[..., Result], calls: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Result | BaseException]]:
        """Yield number and result of each call in their order."""
        for number, call in enumerate(calls):
            try:
                yield number, work(*call)
            except Exception as error:  # the others go on
                yield number, error


class DaskWorkers:
    """The workers of a Dask cluster; what a worker has not finished when it dies, another one begins again."""

    def __init__(self, client: Any, section: ClusterSection) -> None:
        self._client, self._retries, self._address = client, section.retries, section.address
        self._at_first = self.count
        self._kind, self.threads = KINDS.get(section.address.partition(":")[0], "Dask worker"), section.each_threads

    @property
    def count(self) -> int:
        """How many there are now."""
        return len(self._client.scheduler_info(n_workers=-1)["workers"])

    @property
    def described(self) -> str:
        """How many they are, or were at first if those were more, where, and with how many threads, for a page."""
        count = max(self.count, self._at_first)
        threads = f"{self.threads} thread{'s' * (self.threads > 1)} each"
        return f"{count} {self._kind}{'s' * (count > 1)}, {threads}"

    def each(
        self, work: Callable[..., Result], calls: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Result | BaseException]]:
        """Yield number and result of each call as they come; KilledWorker for one that no worker survives.

        Raises ClusterError where all workers are lost for `NO_WORKER_SECONDS`.
        """
        waiting = {
            self._client.submit(work, *call, pure=False, retries=self._retries): number
            for number, call in enumerate(calls)
        }
        while waiting:
            wait_for_any([*waiting], lambda: self.count, self._address)
            for future in [future for future in waiting if future.done()]:
                yield waiting.pop(future), outcome(future)

    def begin(self, what: str, work: Callable[..., Result], *call: Any) -> WorkerCall[Result]:
        """Have one call done; `what` it does begins its errors. A call that ends with an error is not done again."""
        return WorkerCall(what, self._client.submit(work, *call, pure=False), lambda: self.count)


@contextmanager
def open_workers(section: ClusterSection) -> Iterator[ThisProcess | DaskWorkers]:
    """Yield those who do the work, for the length of the block; raises ClusterError, see `open_cluster`."""
    if not section.address:
        yield ThisProcess()
        return
    with open_cluster(section) as workers:
        yield workers


@contextmanager
def open_cluster(section: ClusterSection) -> Iterator[DaskWorkers]:
    """Yield the workers of a cluster, for the length of the block.

    Raises ClusterError in one line where the extra `cluster` is not installed, no scheduler answers, or it has no
    worker.
    """
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise ClusterError(f"{section.address}: Dask is not installed; pip install 'headscope[cluster]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # a worker that dies is told by us
    settings = {
        "distributed.worker.daemon": False,  # so that a run may have processes of its own
        "distributed.scheduler.allowed-failures": section.retries,
        "distributed.scheduler.worker-saturation": 1.0,  # a run that waits does not die with one that kills its worker
        "distributed.scheduler.no-workers-timeout": f"{NO_WORKER_SECONDS}s",
    }
    with dask.config.set(settings), _environment_kept(), _cluster(section) as cluster:
        try:
            client = Client(cluster, timeout=WAIT_SECONDS)  # type: ignore[no-untyped-call]  # of Dask
        except TypeError as error:  # a tls:// address
            told = " ".join(str(error).split())
            raise ClusterError(f"{section.address}: {told}; set distributed.comm.tls in Dask's settings") from None
        except (OSError, TimeoutError, ValueError):
            start = "start one with 'dask scheduler', or leave out the address"
            raise ClusterError(f"{section.address}: no Dask scheduler answers there; {start}") from None
        with client:
            try:
                client.wait_for_workers(1, timeout=WAIT_SECONDS if isinstance(cluster, str) else None)
            except TimeoutError:
                start = f"start some with 'dask worker {section.address}'"
                raise ClusterError(f"{section.address}: the scheduler has no workers; {start}") from None
            yield DaskWorkers(client, section)


@contextmanager
def _environment_kept() -> Iterator[None]:
    """Take back what the block writes into the environment: Dask has every process to come use one thread."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let what is started in the block ignore Ctrl-C, which a terminal sends to it too: this process ends it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _cluster(section: ClusterSection) -> Iterator[Any]:
    """Yield a cluster that ends with the block, or the address of one that goes on."""
    kind, _, workers = section.address.partition(":")
    if kind == "local":
        from distributed import LocalCluster

        one_each = {
            "n_workers": int(workers),
            "threads_per_worker": 1,
            "dashboard_address": None,
            "scheduler_kwargs": {"dashboard_address": ":0"},  # any free port, else two clusters want the same
            "silence_logs": logging.CRITICAL,
        }
        with _interrupts_ignored():
            cluster = LocalCluster(**one_each)  # type: ignore[no-untyped-call]  # of Dask
        with _closed(cluster):
            yield cluster
    elif kind == "slurm":
        try:
            from dask_jobqueue import SLURMCluster
        except ImportError:
            raise ClusterError("slurm: dask-jobqueue is not installed; pip install 'headscope[cluster]'") from None
        if which("sbatch") is None:
            raise ClusterError("slurm: there is no sbatch on this machine; start headscope where jobs are submitted")
        try:
            cluster = SLURMCluster(**section.slurm)
        except (ValueError, RuntimeError, TypeError, OSError) as error:  # no cores or memory, or an unknown key
            raise ClusterError(f"slurm: {' '.join(str(error).split())}") from None
        with _closed(cluster):
            cluster.scale(jobs=section.jobs)
            yield cluster
    else:
        yield section.address


@contextmanager
def _closed(cluster: Any) -> Iterator[None]:
    """Close a cluster at the end of the block, also where a worker that died is just being started again."""
    from distributed.core import Status

    with cluster:
        try:
            yield
        finally:
            try:
                cluster.close()
            except AssertionError:  # of Dask, of that worker: it has ended by now, and the rest of the cluster has not
                cluster.status = Status.running
                cluster.close()
