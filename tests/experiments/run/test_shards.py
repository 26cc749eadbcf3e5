"""Controls that workers read give the numbers of controls that the run's own process reads, bit for bit."""

import json
import os
import pickle
import shutil
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from experiments.config.config import Config
from experiments.config.sections import ClusterSection, ProbesSection
from experiments.record.job import kept_folder
from experiments.run import shards
from experiments.run.cluster import ClusterError, DaskWorkers
from experiments.run.config import load_config
from experiments.run.folder import reopened
from experiments.run.run import run
from experiments.run.scope import Part
from mha.models.folders import weights_sha256
from mha.parallel import threads
from probes import registry
from probes.pairs.corpora import PairCorpus
from probes.words.own import own_probe
from reports import Run
from tests.experiments.conftest import Said
from tests.experiments.run.test_resume import CONTROLS, NAME, same
from tests.experiments.training.test_train import FOLLOWED, RUN, TOML

CHOSEN = (*CONTROLS, "controls={random=2, permuted=2, orders=2}")


def with_workers(config: Config, address: str = "local:2") -> Config:
    """Return the config with the address of a cluster."""
    return config.model_copy(update={"cluster": ClusterSection(address=address)})


class Here:
    """Workers that are this process: what is asked is done when it is waited for."""

    count, threads, described = 2, 1, "2 workers that are none"

    def __init__(self) -> None:
        self.begun: list[tuple[Any, ...]] = []
        self.waited: list[str] = []

    def begin(self, what: str, work: Callable[..., Any], *call: Any) -> "Asked":
        self.begun.append((what, *call[1:]))

        def do() -> Any:
            self.waited.append(what)
            return pickle.loads(pickle.dumps(work(*pickle.loads(pickle.dumps(call)))))

        return Asked(do)


class Asked:
    """A call that is done when it is waited for."""

    def __init__(self, do: Callable[[], Any]) -> None:
        self._do, self.ended = do, False

    def done(self) -> bool:
        return self.ended

    def result(self) -> Any:
        self.ended = True
        return self._do()


@pytest.fixture
def config(base: Path) -> Config:
    """Return a config with controls."""
    return load_config(base, CHOSEN)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    """Have this process do what workers do, without Dask."""
    workers = Here()

    @contextmanager
    def opened(section: ClusterSection) -> Iterator[Here]:
        assert section.address == "local:2"
        yield workers

    monkeypatch.setattr(shards, "open_cluster", opened)
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
    forget()
    yield workers
    forget()


def forget() -> None:
    shards._open.clear()
    shards._loaded.cache_clear()


def same_but_for_workers(one: Path, other: Path) -> None:
    """Assert that two runs are the same but for who read the controls, with how many threads."""
    for folder in (one, other):
        path = folder / "run.json"
        values = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps({key: values[key] for key in values if key not in ("workers", "threads")}), "utf-8")
    same(one, other)


def workers_of(folder: Path) -> object:
    return json.loads((folder / "run.json").read_text("utf-8")).get("workers")


@pytest.mark.parametrize(
    "changes",
    [
        ("controls.sample_words=60", "controls.precision='bf16'", "scoring.maps='norms'", "controls.permuted=3"),
        ("model.source='permuted'", "seed=3"),
    ],
)
def test_no_number_differs_whatever_the_number_of_threads(
    changes: tuple[str, ...], base: Path, here: Here, tmp_path: Path
) -> None:
    config = load_config(base, [*CHOSEN, *changes])
    with threads(2):
        alone = run(config, tmp_path / "alone")
    assert (here.begun, workers_of(alone)) == ([], None)
    together = run(with_workers(config), tmp_path / "together")
    assert workers_of(together) == here.described
    same_but_for_workers(together, alone)


def test_workers_read_every_control_and_begin_before_the_model_of_the_run_reads_the_same_texts(
    config: Config, here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[tuple[int, int]] = []
    real = Part._splits

    def splits(self: Part, *how: Any) -> Any:
        begun.append((len(here.begun), len(here.waited)))
        return real(self, *how)

    monkeypatch.setattr(Part, "_splits", splits)
    run(with_workers(config), tmp_path)
    assert begun == [(4, 0), (10, 4)], "four controls of sentences, which ask for places alone, then six of windows"
    kinds = ("random weights", "permuted weights", "shuffled word order")
    names = [f"{kind}{number}" for kind in kinds for number in ("", " 2")]
    read = [call[1:3] for call in here.begun if call[0].startswith("control")]
    assert read == [*(("sentence", name) for name in names[:4]), *(("window", name) for name in names)]


def test_a_model_that_the_run_trains_is_found_by_workers_from_any_folder(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "small.toml"
    path.write_text(TOML.format(seeds="[0]") + RUN, encoding="utf-8")
    taught = load_config(path)
    monkeypatch.chdir(tmp_path)
    real = shards.open_model

    def elsewhere(config: Config, *how: Any) -> Any:
        monkeypatch.chdir("/")
        return real(config, *how)

    monkeypatch.setattr(shards, "open_model", elsewhere)
    real_begin = here.begin

    def begin(what: str, *how: Any) -> Asked:
        def do() -> Any:
            found = real_begin(what, *how).result()
            monkeypatch.chdir(tmp_path)
            return found

        return Asked(do)

    monkeypatch.setattr(here, "begin", begin)
    run(with_workers(taught), Path("runs"))
    assert here.waited == ["control: random weights", "control: random weights 2"]


@pytest.mark.slow
def test_processes_of_a_cluster_read_checkpoints(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(TOML.format(seeds="[0]") + RUN + FOLLOWED, encoding="utf-8")
    config = load_config(path)
    alone = run(config, tmp_path / "alone", page=False)
    shutil.copytree(alone / "seed-0", tmp_path / "together" / alone.name / "seed-0")
    together = run(with_workers(config), tmp_path / "together", page=False)
    assert workers_of(together) == "2 local workers, 1 thread each"
    same_but_for_workers(together, alone)


OWN = (
    "import headscope\n\n@headscope.probe\ndef mine(sentence):\n    return {1: 0} if len(sentence.words) > 1 else {}\n"
)


@pytest.fixture
def own(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """Return the config of a run with the probe of a file, `OWN`, alone."""
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    return load_config(base, ["controls={random=2}", f"probes={{names=[], files=['{tmp_path / 'own.py'}']}}"])


@pytest.mark.slow
def test_processes_of_a_cluster_find_a_probe_by_its_file(own: Config, tmp_path: Path) -> None:
    alone = run(own, tmp_path / "alone", page=False)
    together = run(with_workers(own), tmp_path / "together", page=False)
    assert workers_of(together) == "2 local workers, 1 thread each"
    same_but_for_workers(together, alone)


def test_a_probe_without_a_file_is_refused_by_a_cluster_and_one_with_another_file_by_its_worker(
    own: Config, here: Here, tmp_path: Path
) -> None:
    alone = own.model_copy(update={"probes": ProbesSection(names=("mine",))})
    with pytest.raises(ClusterError, match=r"workers cannot know the probe 'mine': put it into a file of \[probes\]"):
        run(with_workers(alone), tmp_path / "out")
    own_probe("defined here", lambda sentence: {}, "__main__")
    beside = own.probes.model_copy(update={"names": (*own.probes.names, "defined here")})
    with pytest.raises(ClusterError, match="workers cannot know the probe 'defined here'"):
        run(with_workers(own.model_copy(update={"probes": beside})), tmp_path / "out")
    begin = here.begin

    def changed(what: str, *how: Any) -> Asked:
        (tmp_path / "own.py").write_text(f"{OWN}# another", encoding="utf-8")
        return begin(what, *how)

    here.begin = changed  # type: ignore[method-assign]
    with pytest.raises(ClusterError, match=r"has another files\..*own\.py \("):
        run(with_workers(own), tmp_path / "out")


def test_the_model_of_a_run_is_opened_without_its_file_of_probes(own: Config, here: Here, tmp_path: Path) -> None:
    folder = run(own, tmp_path)
    (tmp_path / "own.py").write_text("raise SystemExit", encoding="utf-8")
    assert reopened(Run.open(folder)).model.layers == 2


def test_a_worker_with_another_checkpoint_or_other_pairs_is_refused(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "small.toml"
    path.write_text(TOML.format(seeds="[0]") + RUN.replace("random = 2", "random = 0") + FOLLOWED, encoding="utf-8")
    asked = list[Path]()

    def other_at_last(folder: Path) -> str:
        asked.append(folder)
        return f"{weights_sha256(folder)}{' changed' * (asked.count(folder) > 1)}"

    with monkeypatch.context() as patch:
        patch.setattr(shards, "weights_sha256", other_at_last)
        with pytest.raises(ClusterError, match=r"has another .*step-0+ \(.* changed, not "):
            run(with_workers(load_config(path)), tmp_path)
    forget()
    prints = iter(("0c", "0d"))  # of the job, of the worker
    monkeypatch.setattr(PairCorpus, "count", lambda self: (20, next(prints)))
    with pytest.raises(ClusterError, match=r"has another pairs.grammar \(0d, not 0c\)"):
        run(with_workers(load_config(path)), tmp_path)


def test_a_worker_with_several_threads_opens_a_run_once_and_does_one_shard_at_a_time(
    config: Config, here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[tuple[Any, ...]] = []
    monkeypatch.setattr(here, "begin", lambda what, work, *call: jobs.append((work, call)) or here_waits(work, call))
    run(with_workers(config), tmp_path)
    forget()
    at_once, most, opened = [0], [0], [0]
    real, real_open = Part.control_heads, shards.open_model

    def control_heads(self: Part, *how: Any) -> Any:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        found = real(self, *how)
        at_once[0] -= 1
        return found

    def open_model(*how: Any) -> Any:
        opened[0] += 1
        return real_open(*how)

    monkeypatch.setattr(Part, "control_heads", control_heads)
    monkeypatch.setattr(shards, "open_model", open_model)
    controls = [(work, call) for work, call in jobs if work is shards.read_control][:3]
    with ThreadPoolExecutor(3) as pool:
        assert len([*pool.map(lambda one: one[0](*one[1]), controls)]) == 3
    assert (most, opened) == ([1], [1])


def here_waits(work: Callable[..., Any], call: tuple[Any, ...]) -> Asked:
    return Asked(lambda: work(*call))


def test_what_workers_have_read_is_kept_and_not_read_again(config: Config, here: Here, tmp_path: Path) -> None:
    def die(*anything: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.run.run.write_scores", die)
        with pytest.raises(KeyboardInterrupt):
            run(with_workers(config), tmp_path)
    assert kept_folder(tmp_path / NAME).is_dir()
    here.begun.clear()
    folder = run(with_workers(config), tmp_path, resume=True)
    assert here.begun == []
    record = json.loads((folder / "run.json").read_text("utf-8"))
    assert "shuffled word order (windows)" in record["resumed"]
    assert "workers" not in record, "they read nothing of this run"


@pytest.mark.parametrize(
    ("place", "change", "differs"),
    [
        ("_code", {"versions": {"torch": "1"}}, "versions.torch (1, not "),
        ("_code", {"changes": "0a"}, "changes (0a, not "),
        ("_inputs", {"corpora": {"report": "0b"}}, "corpora.report (0b, not "),
    ],
)
def test_a_worker_with_something_else_is_refused_by_what_it_is(
    place: str, change: dict[str, Any], differs: str, config: Config, here: Here, tmp_path: Path
) -> None:
    real, mine = getattr(shards, place), []

    def other(*how: Any) -> dict[str, Any]:
        """Return what is right for the process of the run, which asks first."""
        found = real(*how)
        mine.append(found)
        if len(mine) == 1:
            return dict(found)
        nested = {key: {**found[key], **value} if isinstance(value, dict) else value for key, value in change.items()}
        return {**found, **nested}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, place, other)
        with pytest.raises(ClusterError) as caught:
            run(with_workers(config), tmp_path)
    assert str(caught.value).startswith("a worker on ")
    assert f" has another {differs}" in str(caught.value)
    assert not (tmp_path / NAME).exists()


def test_the_command_asks_the_cluster_that_it_has_results(
    base: Path, here: Here, tmp_path: Path, headscope: Callable[..., Said]
) -> None:
    words = ("run", base, "--out", tmp_path, "--set", "controls.random=2", "--cluster")
    said = headscope(*words, "local:2")
    assert (said.code, said.err) == (0, f"first page, without verdicts: {tmp_path / 'quick-first.html'}\n")
    assert "control: random weights" in {call[0] for call in here.begun}


def test_a_config_names_the_cluster_of_its_run_and_a_run_with_another_is_the_same_run(
    base: Path, here: Here, tmp_path: Path
) -> None:
    own, text = tmp_path / "own.toml", base.read_text(encoding="utf-8")
    own.write_text(f'{text}\n[cluster]\naddress = "local:2"\nthreads = 1\n', encoding="utf-8")
    config = load_config(own, CONTROLS)
    assert config.cluster == ClusterSection(address="local:2", threads=1)
    folder = run(config, tmp_path)
    assert here.begun
    assert "cluster" not in (folder / "config.toml").read_text(encoding="utf-8")
    run(load_config(own, [*CONTROLS, "cluster.address=''"]), tmp_path)


@pytest.mark.slow
def test_workers_of_which_one_is_killed_give_the_same_numbers(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = run(config, tmp_path / "alone", page=False)
    died, real = tmp_path / "died", DaskWorkers.begin

    def begin(self: DaskWorkers, what: str, work: Any, *call: Any) -> Any:
        return real(self, what, killed_once(work, str(died)) if what == "control: random weights 2" else work, *call)

    monkeypatch.setattr(DaskWorkers, "begin", begin)
    together = run(with_workers(config), tmp_path / "together", page=False)
    assert died.exists()
    assert workers_of(together) == "2 local workers, 1 thread each"
    same_but_for_workers(together, alone)


def killed_once(work: Callable[..., Any], died: str) -> Callable[..., Any]:
    """Return work that kills its worker the first time."""

    def killed(*call: Any) -> Any:
        if not Path(died).exists():
            Path(died).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return work(*call)

    return killed
