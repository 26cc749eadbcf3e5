"""An atlas of a tiny model: the same numbers wherever its runs are done, what is there is kept, failures are told."""

import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
import torch

from experiments.compare import atlas
from experiments.compare.atlas import AtlasError, _differences, do_run, make_atlas
from experiments.compare.grid import GridRun, load_atlas
from experiments.config.config import ConfigError, resolved
from experiments.run import cluster
from experiments.run.run import run
from reports.compare.atlas import ATLAS_PAGE
from reports.compare.atlas_record import ACROSS, ATLAS
from reports.run.record import CorpusFacts, ModelFacts, RunRecord

pytestmark = pytest.mark.slow

KEYS = ["probe", "label", "variant", "name"]


@pytest.fixture(scope="module")
def grid(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a grid of two models and two corpora."""
    path = tmp_path_factory.mktemp("grid") / "grid.toml"
    path.write_text(
        f"""
name = "tiny"
controls = {{ random = 2, permuted = 0, orders = 0 }}
[models.trained]
name = "{tiny.as_posix()}"
[models.drawn]
name = "{tiny.as_posix()}"
source = "random"
[corpora.grammar]
select = {{ name = "grammar", documents = 8, seed = 1 }}
report = {{ name = "grammar", documents = 8, seed = 2 }}
[corpora.wide]
select = {{ name = "grammar", documents = 8, seed = 1, wide = true }}
report = {{ name = "grammar", documents = 8, seed = 2, wide = true }}
[probes]
names = ["position", "dependency"]
[scoring]
replicates = 10
[heads]
texts = 0
relations = 0
[page]
examples = 0
[cluster]
threads = 1
""",
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def alone(grid: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the atlas that one process made; not to be changed."""
    return make_atlas(load_atlas(grid), tmp_path_factory.mktemp("alone")).parent


def scores_of(folder: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in folder.glob("runs/*/scores.parquet")}


def test_each_run_is_that_of_its_config_alone(grid: Path, alone: Path, tmp_path: Path) -> None:
    last = load_atlas(grid).cells[-1]
    expected = (run(last.config, tmp_path, page=False) / "scores.parquet").read_bytes()
    assert scores_of(alone)["drawn-wide-0"] == expected


def test_tables_have_the_selected_head_of_every_question_there_and_on_the_other_corpus(alone: Path) -> None:
    names = ("trained-grammar-0", "trained-wide-0", "drawn-grammar-0", "drawn-wide-0")
    table, scores = ATLAS.read(alone / "atlas.parquet"), {}
    assert tuple(table["run"].drop_duplicates()) == names
    for name in names:
        found = pd.read_parquet(alone / "runs" / name / "scores.parquet")
        scores[name] = found[(found["split"] == "report") & (found["n"] > 0)].set_index(KEYS)
        chosen = scores[name].index[scores[name]["selected"]]
        assert {*chosen} == {*table[table["run"] == name].set_index(KEYS).index}
    across = ACROSS.read(alone / "across.parquet")
    assert len(across) > 50
    assert {*zip(across["selected_on"], across["evaluated_on"], strict=True)} == {
        ("grammar", "wide"),
        ("wide", "grammar"),
    }
    for (model, away), rows in across.groupby(["model", "evaluated_on"]):
        there = scores[f"{model}-{away}-0"].loc[[*rows.set_index(KEYS).index]]
        for column in ("accuracy", "n", "grade"):
            assert rows[column].tolist() == there[column].tolist()


def test_what_is_there_is_kept_and_told(grid: Path, alone: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(alone, tmp_path / "tiny")
    shutil.rmtree(folder / "runs" / "drawn-grammar-0")
    (folder / "runs" / "older").mkdir()
    before = {path: path.stat().st_mtime_ns for path in folder.glob("runs/*/scores.parquet")}
    make_atlas(load_atlas(grid), tmp_path)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert scores_of(folder) == scores_of(alone)
    assert ATLAS_PAGE.read(folder).notes == (
        "3 of 4 runs were there already and were kept.",
        "Not part of the grid, and left as they are: older.",
    )


def test_runs_of_other_code_weights_or_texts_are_told(grid: Path) -> None:
    def runs(**second: object) -> list[tuple[GridRun, RunRecord]]:
        cells = load_atlas(grid, ["seeds=[0, 1]"]).cells[:2]
        first: dict[str, Any] = {"headscope": "0.1.0", "git_commit": "1", "versions": {"torch": "2"}}
        facts = {"model": ModelFacts(sha256="a"), "corpora": {"report": CorpusFacts("grammar", "f")}}
        return [(cells[0], RunRecord(**first, **facts)), (cells[1], RunRecord(**first | facts | second))]

    assert _differences(runs()) == []
    other_code, other_torch = _differences(runs(git_commit="2")), _differences(runs(versions={"torch": "3"}))
    assert other_code == other_torch
    assert "different versions of headscope or its packages" in other_code[0]
    (changed,) = _differences(runs(corpora={"report": CorpusFacts("grammar", "g")}))
    assert changed.startswith("Changed between runs: corpus grammar; delete the folders")
    (place, one), (_, other) = runs(model=ModelFacts(sha256="b"))
    assert _differences([(place, one), (place, other)])[0].startswith("Changed between runs: model trained, seed 0; ")


def test_runs_of_another_config_are_replaced_only_when_asked(grid: Path, alone: Path, tmp_path: Path) -> None:
    shutil.copytree(alone, tmp_path / "tiny")
    changed = load_atlas(grid, ['probes.names=["position"]'])
    with pytest.raises(ConfigError, match="holds a run of another config"):
        make_atlas(changed, tmp_path)
    make_atlas(changed, tmp_path, overwrite=True)
    assert set(ATLAS.read(tmp_path / "tiny" / "atlas.parquet")["probe"]) == {"position"}


def test_a_run_that_fails_has_results_when_the_others_are_done(grid: Path, tmp_path: Path) -> None:
    changes = ['corpora.wide={ select = { path = "nowhere.conllu" } }']
    message = r"2 of 4 runs failed: trained-wide-0: .*nowhere\.conllu.*and 1 more"
    with pytest.raises(AtlasError, match=message) as caught:
        make_atlas(load_atlas(grid, changes), tmp_path)
    assert "\n" not in str(caught.value)
    record = ATLAS_PAGE.read(tmp_path / "tiny")
    assert [bool(one.failed) for one in record.runs] == [False, True, False, True]
    assert (tmp_path / "tiny" / "index.html").is_file()


def test_the_model_of_several_runs_is_loaded_once(grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[tuple[object, ...]] = []
    load = atlas.load_model
    monkeypatch.setattr(atlas, "load_model", lambda *of, **more: loaded.append(of) or load(*of, **more))
    monkeypatch.setattr(atlas, "resume_or_run", lambda *of, **more: None)
    atlas._loaded.cache_clear()
    for one in load_atlas(grid, ["seeds=[0, 1]"]).cells:
        assert not do_run(resolved(one.config), str(tmp_path), 1).failed
    assert [(source, seed) for _, source, seed in loaded][:3] == [("pretrained", 0), ("random", 0), ("random", 1)]


@pytest.mark.parametrize("number", [3, 0])
def test_a_run_has_the_threads_of_its_cluster(
    number: int, grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[int] = []

    def run(*of: object, **more: object) -> None:
        assert cluster._ONE_CALL.locked(), "a worker with several threads does one run at a time"
        used.append(torch.get_num_threads())

    monkeypatch.setattr("experiments.compare.atlas.resume_or_run", run)
    before = torch.get_num_threads()
    do_run(resolved(load_atlas(grid).cells[0].config), str(tmp_path), number)
    assert used == [number or before]


def test_two_workers_one_of_which_is_killed_give_the_same_bits(grid: Path, alone: Path, tmp_path: Path) -> None:
    killed: list[int] = []
    over = threading.Event()

    def kill_the_first_that_works() -> None:
        while not over.is_set() and not killed:
            if [*(tmp_path / "tiny" / "runs").glob(".*")]:  # a run has begun
                workers = [one for one in psutil.Process().children(recursive=True) if _works(one)]
                if workers:
                    killed.append(workers[0].pid)
                    os.kill(workers[0].pid, signal.SIGKILL)
            time.sleep(0.01)

    killer = threading.Thread(target=kill_the_first_that_works)
    killer.start()
    try:
        page = make_atlas(load_atlas(grid, ["cluster.address=local:2"]), tmp_path)
    finally:
        over.set()
        killer.join()
    assert killed
    assert scores_of(page.parent) == scores_of(alone)
    assert ATLAS_PAGE.read(page.parent).made == "2 local workers, 1 thread each"
    assert not [*(page.parent / "runs").glob(".*-*")], "nothing unfinished, and no part that was kept"


def _works(process: psutil.Process) -> bool:
    """Whether a process is one in which runs are done: it has loaded torch."""
    try:
        return any("libtorch" in mapped.path for mapped in process.memory_maps())
    except psutil.Error:
        return False
