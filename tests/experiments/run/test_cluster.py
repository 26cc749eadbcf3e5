"""Workers: errors do not stop other calls, what a dead worker had begun is done again, and what is not there."""

import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.core import Status
from distributed.nanny import WorkerProcess

from experiments.config.sections import ClusterSection
from experiments.run import cluster
from experiments.run.cluster import (
    ClusterError,
    DaskWorkers,
    ThisProcess,
    WorkerCall,
    failure,
    open_cluster,
    open_workers,
)

ANY_PORT = {"dashboard_address": ":0"}


def halved(number: int) -> float:
    if number < 0:
        raise ValueError(f"{number} is below 0")
    return number / 2


def test_an_error_does_not_stop_the_calls_after_it() -> None:
    found = dict(ThisProcess().each(halved, [(2,), (-1,), (6,)]))
    assert (found[0], found[2]) == (1, 3)
    assert str(found[1]) == "-1 is below 0"


@pytest.mark.slow
def test_what_a_dead_worker_had_begun_another_one_does(tmp_path: Path) -> None:
    def work(number: int, folder: str) -> tuple[int, int]:
        (Path(folder) / f"{number}.{os.getpid()}").touch()
        if number == 1 and len([*Path(folder).glob("1.*")]) == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return number * 2, os.getpid()

    with open_workers(ClusterSection(address="local:2")) as workers:
        found = dict(workers.each(work, [(number, str(tmp_path)) for number in range(4)]))
        assert workers.described == "2 local workers, 1 thread each"
    results = [result for _, result in sorted(found.items()) if not isinstance(result, BaseException)]
    assert [result[0] for result in results] == [0, 2, 4, 6]
    assert os.getpid() not in {result[1] for result in results}
    assert len([*tmp_path.glob("1.*")]) == 2


@pytest.mark.slow
def test_a_call_that_kills_every_worker_ends_in_an_error_and_the_others_do_not() -> None:
    def work(number: int) -> int:
        if number == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with open_workers(ClusterSection(address="local:1", retries=1)) as workers:
        found = dict(workers.each(work, [(0,), (1,), (2,)]))
    assert (found[0], found[2]) == (0, 2)
    assert type(found[1]).__name__ == "KilledWorker"


@pytest.mark.slow
def test_workers_of_a_scheduler_work_and_none_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr("experiments.run.cluster.WAIT_SECONDS", 2)
    with LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None, scheduler_kwargs=ANY_PORT) as cluster:
        address = cluster.scheduler_address
        with pytest.raises(ClusterError) as caught, open_workers(ClusterSection(address=address)):
            pass
        assert str(caught.value).startswith(f"{address}: the scheduler has no workers; start some with 'dask worker ")
        cluster.scale(1)
        monkeypatch.setattr("experiments.run.cluster.WAIT_SECONDS", 20)
        with open_workers(ClusterSection(address=address)) as workers:
            assert dict(workers.each(abs, [(-3,)])) == {0: 3}


@pytest.mark.slow
def test_slurm_is_asked_for_what_the_grid_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no SLURM here: a cluster of this machine stands in for dask-jobqueue's."""
    from distributed import LocalCluster

    asked: list[object] = []

    class Stand(LocalCluster):  # type: ignore[misc]
        def __init__(self, **words: object) -> None:
            asked.append(words)
            super().__init__(n_workers=0, dashboard_address=None, threads_per_worker=1, scheduler_kwargs=ANY_PORT)

        def scale(self, n: int = 0, jobs: int = 0) -> object:
            asked.extend([jobs] * bool(jobs))
            return super().scale(n or jobs)

    monkeypatch.setitem(sys.modules, "dask_jobqueue", SimpleNamespace(SLURMCluster=Stand))
    monkeypatch.setattr("experiments.run.cluster.which", lambda name: f"/usr/bin/{name}")
    section = ClusterSection(address="slurm", jobs=1, slurm={"cores": 1, "memory": "8 GiB"})
    with open_workers(section) as workers:
        assert dict(workers.each(abs, [(-3,)])) == {0: 3}
        assert workers.described == "1 SLURM worker, 1 thread each"
    assert asked[:2] == [{"cores": 1, "memory": "8 GiB"}, 1]


class Never:
    """A future that does not end."""

    def done(self) -> bool:
        return False


def test_a_call_ends_when_there_has_been_no_worker_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, workers = [0.0], [1, 0, 1, *[0] * 100]
    monkeypatch.setattr(cluster.time, "monotonic", lambda: clock[0])

    def passing(futures: object) -> None:
        clock[0] += 100

    monkeypatch.setattr(cluster, "_wait", passing)
    with pytest.raises(ClusterError, match=r"^control: x: all workers of the cluster were lost; start some"):
        WorkerCall("control: x", Never(), lambda: workers.pop(0)).result()
    assert len(workers) == 97 - 1, "one that came back gave it time again: three looks, then four without any"


def test_a_call_that_is_cancelled_while_it_is_waited_for_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    def wait(futures: object, **how: object) -> None:
        raise distributed.CancelledError

    monkeypatch.setattr(distributed, "wait", wait)
    cluster._wait([Never()])


def dasks(name: str, message: str) -> Exception:
    kind: type[Exception] = type(name, (Exception,), {"__module__": "distributed.client"})
    return kind(message)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (dasks("KilledWorker", "x"), "its worker died each time that it was begun; it may need more memory"),
        (dasks("FutureCancelledError", "lost"), "the cluster is gone (FutureCancelledError: lost)"),
        (ModuleNotFoundError("No module"), "a worker cannot load it (ModuleNotFoundError: No module); give it this"),
        (RuntimeError("Error during deserialization of the task graph"), "a worker cannot load it (RuntimeError: Err"),
        (ClusterError("a worker on x\nhas another y"), "a worker on x has another y"),
        (KeyError("z"), "KeyError: 'z'"),
    ],
)
def test_what_a_call_ended_with_is_one_line(error: Exception, said: str) -> None:
    class Ended:
        def done(self) -> bool:
            return True

        def result(self) -> object:
            raise error

    assert failure(error).startswith(said)
    expected = type(error) if isinstance(error, KeyError) else ClusterError
    with pytest.raises(expected) as caught:
        WorkerCall("choosing", Ended(), lambda: 1).result()
    assert isinstance(error, KeyError) or str(caught.value).startswith(f"choosing: {said}")


@pytest.mark.slow
def test_processes_that_are_started_after_a_cluster_have_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "7")
    before = dict(os.environ)
    with open_workers(ClusterSection(address="local:1")) as workers:
        assert dict(workers.each(abs, [(-1,)])) == {0: 1}
    assert dict(os.environ) == before


@pytest.mark.slow
def test_a_worker_that_cannot_be_ended_at_once_hides_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask fails to end a worker that it is just starting again; the rest of the cluster is ended nevertheless."""
    kill = WorkerProcess.kill

    async def once(self: WorkerProcess, *given: Any, **named: Any) -> None:
        monkeypatch.setattr(WorkerProcess, "kill", kill)
        raise AssertionError("can only join a started process")

    monkeypatch.setattr(WorkerProcess, "kill", once)
    clusters: list[Any] = []

    def fail(workers: DaskWorkers) -> None:
        clusters.append(workers._client.cluster)
        raise ValueError("ours")

    with pytest.raises(ValueError, match="ours"), open_cluster(ClusterSection(address="local:2")) as workers:
        fail(workers)
    (cluster,) = clusters
    assert cluster.status == Status.closed
    assert cluster.scheduler.status == Status.closed
