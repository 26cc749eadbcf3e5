"""Controls that workers read give the numbers of controls that the run's own process reads, bit for bit."""

import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.cluster.workers import ClusterError, ClusterSection, DaskWorkers
from experiments.config.config import Config, ConfigError
from experiments.record.kept import kept_folder
from experiments.run import shards
from experiments.run.config import load_config
from experiments.run.run import run
from experiments.run.shards import Shards
from experiments.studies.scope import Part
from tests.experiments.conftest import Said
from tests.experiments.run.test_resume import CONTROLS, NAME, same


class Here:
    """Workers of a cluster that are this process: every call is done when its result is waited for."""

    count, threads, described = 2, 1, "2 workers of nowhere, 1 thread each"

    def __init__(self) -> None:
        self.begun: list[tuple[str, tuple[Any, ...]]] = []

    def begin(self, what: str, work: Callable[..., Any], *call: Any) -> Callable[[], Any]:
        self.begun.append((what, call))
        return lambda: work(*call)


@pytest.fixture
def config(base: Path) -> Config:
    """Return a config with controls, of which shuffles are chosen."""
    return load_config(base, [*CONTROLS, "controls={random=2, shuffled=2, shuffles_tried=5, words=true, arcs=true}"])


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    """Have this process do what workers do, without Dask."""
    workers = Here()

    @contextmanager
    def opened(section: ClusterSection) -> Iterator[Here]:
        assert section.address == "local:2"
        yield workers

    monkeypatch.setattr("experiments.run.run.open_cluster", opened)
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
    shards._opened.cache_clear()
    yield workers
    shards._opened.cache_clear()


def alike(one: Path, other: Path) -> None:
    """Assert that runs are the same but for who read the controls."""
    for folder in (one, other):
        path = folder / "run.json"
        values = json.loads(path.read_text("utf-8"))
        values.pop("workers", None)
        path.write_text(json.dumps(values), "utf-8")
    same(one, other)


def test_all_controls_are_read_by_workers_and_no_number_differs(config: Config, here: Here, tmp_path: Path) -> None:
    alone = run(config, tmp_path / "alone")
    assert here.begun == []
    together = run(config, tmp_path / "together", cluster="local:2")
    assert json.loads((together / "run.json").read_text("utf-8"))["workers"] == here.described
    alike(together, alone)
    of_both = ["random weights", "random weights 2", "shuffled weights", "shuffled weights 2"]
    read = [(call[1], call[2]) for what, call in here.begun if what.startswith("control")]
    assert read == [(scope, name) for scope in ("sentence", "window") for name in of_both] + [
        ("window", "shuffled words")
    ]
    tried = [call[2] for what, call in here.begun if what == "choosing shuffles"]
    assert sorted(seed for part in tried for seed in part) == [*range(config.seed, config.seed + 5)]
    assert len(tried) == here.count


def test_a_worker_opens_the_model_once_and_is_at_one_shard_at_a_time(
    config: Config, here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []
    at_once: list[Part] = []
    real, real_open = Part.control_heads, shards.open_model

    def control_heads(self: Part, *how: Any) -> Any:
        assert type(self) is Part, "read by a worker, not by the run"
        at_once.append(self)
        assert len(at_once) == 1
        found = real(self, *how)
        at_once.clear()
        return found

    def open_model(*how: Any) -> Any:
        opened.append(how)
        return real_open(*how)

    monkeypatch.setattr(Part, "control_heads", control_heads)
    monkeypatch.setattr(shards, "open_model", open_model)
    run(config, tmp_path, cluster="local:2")
    assert len(opened) == 1


def test_what_workers_have_read_is_kept_and_not_read_again(config: Config, here: Here, tmp_path: Path) -> None:
    def die(*anything: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.run.run.write_scores", die)
        with pytest.raises(KeyboardInterrupt):
            run(config, tmp_path, cluster="local:2")
    assert kept_folder(tmp_path / NAME).is_dir()
    here.begun.clear()
    folder = run(config, tmp_path, cluster="local:2", resume=True)
    assert here.begun == []
    assert "shuffled words (windows)" in json.loads((folder / "run.json").read_text("utf-8"))["resumed"]


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"headscope": "0.1"}, "headscope"),
        ({"versions": {"torch": "1"}}, "versions.torch"),
        ({"corpora": {}}, ""),
        ({"model": "another", "corpora": "another"}, "model.sha256, corpora.report"),
    ],
)
def test_a_worker_with_something_else_is_refused(
    change: dict[str, Any], differs: str, config: Config, here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Shards.of

    def of(workers: DaskWorkers, config: Config, record: Any) -> Shards:
        if change.get("model") == "another":
            report = replace(record.corpora["report"], fingerprint="0")
            corpora = {**record.corpora, "report": report}
            return real(workers, config, replace(record, model=replace(record.model, sha256="0"), corpora=corpora))
        return real(workers, config, replace(record, **change))

    monkeypatch.setattr(Shards, "of", of)
    if not differs:
        assert run(config, tmp_path, cluster="local:2").is_dir()
        return
    with pytest.raises(ClusterError) as caught:
        run(config, tmp_path, cluster="local:2")
    told = f"a worker differs from this process in {differs}; give it the same packages, models and data"
    assert str(caught.value) == told


def test_an_address_that_is_none_is_named(config: Config, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        run(config, tmp_path, cluster="local:0")
    expected = "expected local:N for N processes, tcp://HOST:PORT, tls://HOST:PORT or slurm; got 'local:0'"
    assert str(caught.value) == f"--cluster: address: {expected}"
    assert not any(tmp_path.iterdir())


def test_the_command_asks_the_cluster_that_it_is_told(
    base: Path, here: Here, tmp_path: Path, headscope: Callable[..., Said]
) -> None:
    said = headscope("run", base, "--out", tmp_path, "--cluster", "local:2", "--set", "controls.random=1")
    assert (said.code, said.err) == (0, "")
    assert "control: random weights" in {what for what, _ in here.begun}


@pytest.mark.slow
def test_workers_of_which_one_is_killed_give_the_same_numbers(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
    alone = run(config, tmp_path / "alone")
    died = tmp_path / "died"

    def killed(job: bytes, scope: str, name: str, shuffles: Sequence[int], *, read: Any, died: str) -> Any:
        if name == "random weights 2" and not Path(died).exists():
            Path(died).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return read(job, scope, name, shuffles)

    real = DaskWorkers.begin

    def begin(self: DaskWorkers, what: str, work: Any, *call: Any) -> Any:
        if work is shards.read_control:
            return real(self, what, killed_once(killed, work, str(died)), *call)
        return real(self, what, work, *call)

    monkeypatch.setattr(DaskWorkers, "begin", begin)
    together = run(config, tmp_path / "together", cluster="local:2")
    assert died.exists()
    assert json.loads((together / "run.json").read_text("utf-8"))["workers"] == "2 workers of local, 1 thread each"
    alike(together, alone)


def killed_once(killed: Callable[..., Any], read: Any, died: str) -> Callable[..., Any]:
    return lambda *call: killed(*call, read=read, died=died)


@pytest.mark.slow
def test_a_control_that_no_worker_survives_is_named(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*call: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    real = DaskWorkers.begin
    monkeypatch.setattr(DaskWorkers, "begin", lambda self, what, work, *call: real(self, what, lambda *c: dies(*c)))
    with pytest.raises(
        ClusterError, match=r"^choosing shuffles: its worker died each time that it was begun; .*memory"
    ):
        run(config, tmp_path, cluster="local:1")
    assert not (tmp_path / NAME).exists()
