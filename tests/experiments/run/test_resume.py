"""A run that was interrupted goes on from what it had measured, and gives what it gives in one piece."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import tomli_w
from safetensors.torch import load_file, save_file

from experiments.config.config import Config, resolved
from experiments.inputs.corpora import open_corpora
from experiments.record.job import Job, KeptError
from experiments.record.provenance import Start, machine_record, own_files
from experiments.run.config import load_config
from experiments.run.folder import is_done, made_for
from experiments.run.run import run
from experiments.run.scope import Part
from experiments.training.checkpoint_reader import CheckpointAnswers, CheckpointReader
from experiments.training.checkpoints import Checkpoint
from mha import load_model
from mha.training.train import train
from probes import registry
from reports.run.record import RunRecord
from tests.experiments.conftest import Said
from tests.experiments.training.test_train import FOLLOWED, RUN, TOML
from tests.small_training import SETTINGS, make_task

NAME = "resumed"
HINT = "The finished parts are kept: the same command with --resume continues the run."
BOTH = 'behaviours=["loss", "embedding"], items=6'
CONTROLS = (
    f"name='{NAME}'",
    'probes.names=["position", "coreference"]',
    "scoring.window_words=20",
    "controls={random=2, permuted=2, orders=2}",
)
EVERYTHING = (
    *CONTROLS,
    "probes.trained=true",
    "probes.trained_pairs=20",
    "heads={texts=6, relations=1}",
    "circuits={enabled=true, words=20, sentences=5}",
    "explanation={sentences=10, classifiers=2}",
    f'ablation={{{BOTH}, draws=1, labels=["position: all"]}}',
    f"importance={{{BOTH}, directions=2}}",
    f"slopes={{{BOTH}, directions=2}}",
    f"pruning={{{BOTH}, draws=1, step=0.5}}",
    f"gates={{{BOTH}, prices=[0.1], steps=4}}",
    "classifiers={tasks=['part of speech'], examples=40, sentences=12, parser=true}",
    "states={texts=12, contexts=2, sets=1}",
    "mixing.texts=3",
    "page.examples=2",
)


SCORE = "def score(logits, gold):\n    return logits[:, 1]\n"
PROBE = "import headscope as hs\n\n@hs.probe\ndef next_one(sentence):\n    return {0: 1}\n"


class Killed(BaseException):
    """What ends a run in these tests."""


def killed(*anything: Any) -> None:
    raise Killed


@pytest.fixture(autouse=True)
def _no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)


@pytest.fixture
def config(base: Path) -> Config:
    """Return a config with controls."""
    return load_config(base, CONTROLS)


def tables(folder: Path) -> dict[str, pd.DataFrame]:
    return {path.name: pd.read_parquet(path) for path in folder.glob("*.parquet")}


def record(folder: Path) -> dict[str, Any]:
    """Return run.json without what two runs need not share."""
    values = json.loads((folder / "run.json").read_text("utf-8"))
    mine = ("started", "wall_seconds", "peak_memory_mb", "stages", "resumed")
    return {key: value for key, value in values.items() if key not in mine}


def record_of(config: Config) -> RunRecord:
    """Return what a run of a config says of its model, texts and files."""
    return machine_record(config, load_model(config.model.reference), open_corpora(config), Start())


def same(one: Path, other: Path) -> None:
    """Assert that two run folders hold the same numbers, bit for bit."""
    found, expected = tables(one), tables(other)
    assert found.keys() == expected.keys()
    for name, frame in expected.items():
        pd.testing.assert_frame_equal(found[name], frame, check_exact=True, obj=name)
    assert record(one) == record(other)


def killed_after(monkeypatch: pytest.MonkeyPatch, parts: int) -> list[str]:
    """Have a run killed when it has kept so many parts; return the list to which their names are added."""
    real, kept = Job.part, list[str]()

    def part(self: Job, name: str, *how: Any) -> Any:
        if len(kept) == parts:
            raise Killed
        result = real(self, name, *how)
        kept.append(name)
        return result

    monkeypatch.setattr(Job, "part", part)
    return kept


@pytest.mark.slow
@pytest.mark.usefixtures("few_steps")
def test_a_run_killed_three_times_gives_the_same_numbers(
    base: Path, speaker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_config(base, [*EVERYTHING, f"model.name='{speaker}'"])
    whole = run(config, tmp_path / "whole")
    assert "resumed" not in json.loads((whole / "run.json").read_text("utf-8"))
    out = tmp_path / "killed"
    for parts in (3, 14, 1000):
        with monkeypatch.context() as patch:
            killed_after(patch, parts)
            patch.setattr("experiments.run.run.write_scores", killed)
            with pytest.raises(Killed):
                run(config, out, resume=True)
        assert not (out / NAME).exists()
    parts_kept = [path for path in (out / f".{NAME}-kept").iterdir() if path.is_dir()]
    run(config, out, resume=True)
    same(out / NAME, whole)
    resumed = json.loads((out / NAME / "run.json").read_text("utf-8"))["resumed"]
    assert {"random weights 2 (windows)", "shuffled word order (windows)", "ablation", "classifiers"} <= {*resumed}
    assert len({*resumed}) == len(resumed) == len(parts_kept)
    assert [path.name for path in out.iterdir()] == [NAME], "what was kept is gone"


@pytest.fixture(scope="module")
def measured(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where a run was killed when all was measured; not to be changed."""
    out = tmp_path_factory.mktemp("measured")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.run.run.write_scores", killed)
        with pytest.raises(Killed):
            run(load_config(base, CONTROLS), out)
    return out


@pytest.fixture
def interrupted(measured: Path, tmp_path: Path) -> Path:
    """Return a folder with what was kept of a run that was killed when all was measured."""
    shutil.copytree(measured, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_what_is_kept_is_not_measured_again_but_without_resume(
    config: Config, interrupted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    real = Part.control_heads

    def control_heads(self: Part, control: Any, *more: Any) -> Any:
        read.append(control.name)
        return real(self, control, *more)

    monkeypatch.setattr(Part, "control_heads", control_heads)
    kept = interrupted / f".{NAME}-kept"
    assert kept.is_dir()
    folder = run(config, interrupted, resume=True)
    assert read == []
    assert not kept.exists()
    run(config, interrupted, resume=True)
    assert len(read) == 10, "four of sentences and of windows, and of one scope alone two word orders"
    same(folder, run(config, interrupted))


def test_parts_of_another_config_are_refused_by_name(config: Config, interrupted: Path) -> None:
    other = config.model_validate(config.model_dump() | {"verdict": {"margin": 0.1}})
    message = r"what was interrupted differs in config\.verdict\.margin; leave out --resume to begin anew"
    with pytest.raises(KeptError, match=message):
        run(other, interrupted, resume=True)
    assert not (interrupted / NAME).exists()
    assert (interrupted / f".{NAME}-kept").is_dir(), "nothing is lost"


@pytest.mark.parametrize("left", [100, None])
def test_a_part_that_is_damaged_is_named(left: int | None, config: Config, interrupted: Path) -> None:
    """Cut to so many bytes, or one of its files is gone."""
    (part,) = (interrupted / f".{NAME}-kept").glob("random weights 2 *sentences*")
    path = part / "sums.npz"
    if left is None:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(KeptError, match=rf"{part}: cannot be read \(.+\); leave out --resume to begin anew"):
        run(config, interrupted, resume=True)


@pytest.mark.parametrize("damage", ["made_for", "half"])
def test_half_a_part_and_parts_of_which_nobody_knows_what_they_are_of_are_made_again(
    damage: str, config: Config, interrupted: Path
) -> None:
    kept = interrupted / f".{NAME}-kept"
    (part,) = kept.glob("random weights 2 *sentences*")
    if damage == "half":
        part.rename(part.with_name(f"{part.name}.unfinished"))
    else:
        (kept / "made_for.json").unlink()
    resumed = json.loads((run(config, interrupted, resume=True) / "run.json").read_text("utf-8")).get("resumed")
    assert "random weights 2 (sentences)" not in (resumed or ())
    assert (resumed is None) == (damage == "made_for")


def test_a_file_that_changed_since_is_refused(base: Path, tmp_path: Path) -> None:
    ratings = tmp_path / "made.txt"
    ratings.write_text("king queen 5\n", encoding="utf-8")
    config = load_config(base, [*CONTROLS, f'relatedness.ratings=["{ratings}"]'])
    Job.open(tmp_path / "run", made_for(config, record_of(config)), resume=False).part("permutations", lambda: [1])
    Job.open(tmp_path / "run", made_for(config, record_of(config)), resume=True)
    ratings.write_text("king queen 6\n", encoding="utf-8")
    with pytest.raises(KeptError, match=r"differs in record\.files\..*made\.txt; leave out --resume"):
        Job.open(tmp_path / "run", made_for(config, record_of(config)), resume=True)


def test_files_beside_a_file_and_those_of_a_name_are_hashed(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that --resume, an atlas and `reproduce` keep no run of other minimal pairs."""
    folder = tmp_path / "blimp"
    folder.mkdir()
    for name, line in (("sea.text", "it sinks"), ("sea.gold", "1\tsinks\tsink\t0")):
        (folder / name).write_text(f"{line}\n", encoding="utf-8")
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    names = [str(folder / "sea.text"), "blimp"]
    config = load_config(base, [f"behaviour.corpora={names}"])
    before = own_files(config)
    assert before is not None
    assert [*before] == names
    (folder / "sea.gold").write_text("1\tsinks\tsank\t0\n", encoding="utf-8")
    now = own_files(config)
    assert now is not None
    assert all(now[name] != before[name] for name in names)


def test_a_run_of_a_training_that_has_other_weights_is_not_taken_as_done(base: Path, tmp_path: Path) -> None:
    task, training, folder = make_task(tmp_path), tmp_path / "training", tmp_path / "run"
    first = train(training, task, replace(SETTINGS, steps=2, warmup=1))
    config = load_config(base, ["model.source='checkpoint'", f"model.name='{training}'"])
    folder.mkdir()
    (folder / "config.toml").write_text(tomli_w.dumps(resolved(config)), encoding="utf-8")
    (folder / "scores.parquet").touch()
    machine_record(config, load_model(str(first)), open_corpora(config), Start()).write(folder / "run.json")
    assert is_done(folder, config)
    shutil.rmtree(training)
    train(training, task, replace(SETTINGS, steps=3, warmup=1))
    assert not is_done(folder, config)


@pytest.mark.parametrize("key", ["behaviour.score", "probes.files"])
def test_a_run_with_other_code_in_its_files_is_neither_continued_nor_taken_as_done(
    key: str, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file keeps its size and its time, as a copy may; a file with a score stands beside rows that are scored."""
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    file, rows = tmp_path / "own.py", tmp_path / "rows.csv"
    code, value = (SCORE, f"'{file}'") if key == "behaviour.score" else (PROBE, f"['{file}']")
    file.write_text(code, encoding="utf-8")
    rows.write_text("text,label\nships sank,bad\n", encoding="utf-8")
    config = load_config(base, [*CONTROLS, f"ablation.behaviours=['{rows}']", f"{key}={value}"])
    record, folder = record_of(config), tmp_path / "run"
    Job.open(folder, made_for(config, record), resume=False).part("permutations", lambda: [1])
    folder.mkdir()
    (folder / "config.toml").write_text(tomli_w.dumps(resolved(config)), encoding="utf-8")
    (folder / "scores.parquet").touch()
    assert not is_done(folder, config), "nothing says what the files were"
    record.write(folder / "run.json")
    assert is_done(folder, config)
    Job.open(folder, made_for(config, record), resume=True)
    before = file.stat()
    rows.write_text("text,label\nships sank,good\n", encoding="utf-8")
    assert not is_done(folder, config)
    rows.write_text("text,label\nships sank,bad\n", encoding="utf-8")
    assert is_done(folder, config)
    file.write_text(code.replace("1", "2"), encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not is_done(folder, config)
    with pytest.raises(KeptError, match=rf"differs in record\.files\..*{file.name}; leave out --resume"):
        Job.open(folder, made_for(config, replace(record, files=own_files(config))), resume=True)


def test_a_run_of_other_weights_or_texts_is_not_taken_as_done(base: Path, tiny: Path, tmp_path: Path) -> None:
    """As an atlas and `reproduce` would, that keep runs."""
    model, texts, folder = shutil.copytree(tiny, tmp_path / "model"), tmp_path / "texts.conllu", tmp_path / "run"
    rows = "1\tdogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    texts.write_text("".join(f"# newdoc id = {document}\n{rows}" for document in range(4)), encoding="utf-8")
    config = load_config(base, [f"model.name='{model}'", f"corpus={{select={{path='{texts}'}}}}"])
    folder.mkdir()
    (folder / "config.toml").write_text(tomli_w.dumps(resolved(config)), encoding="utf-8")
    (folder / "scores.parquet").touch()
    record_of(config).write(folder / "run.json")
    assert is_done(folder, config)
    texts.write_text(texts.read_text("utf-8").replace("bark", "sang"), encoding="utf-8")
    assert not is_done(folder, config)
    texts.write_text(texts.read_text("utf-8").replace("sang", "bark"), encoding="utf-8")
    assert is_done(folder, config)
    tokenizer = (model / "tokenizer.json").read_text("utf-8")
    (model / "tokenizer.json").write_text(tokenizer.replace('"lowercase": true', '"lowercase": false'), "utf-8")
    assert not is_done(folder, config)
    (model / "tokenizer.json").write_text(tokenizer, "utf-8")
    settings = (model / "config.json").read_text("utf-8")
    (model / "config.json").write_text(settings.replace('"gelu"', '"relu"'), "utf-8")
    assert not is_done(folder, config)
    (model / "config.json").write_text(settings, "utf-8")
    texts.write_text("no tree", encoding="utf-8")
    assert not is_done(folder, config)
    texts.write_text("".join(f"# newdoc id = {document}\n{rows}" for document in range(4)), encoding="utf-8")
    assert is_done(folder, config)
    weights = load_file(model / "model.safetensors")
    save_file({name: weight * 2 for name, weight in weights.items()}, model / "model.safetensors")
    assert not is_done(folder, config)
    shutil.rmtree(model)
    assert not is_done(folder, config)


def test_the_command_says_how_to_go_on(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, headscope: Callable[..., Said]
) -> None:
    def fail(*anything: Any) -> None:
        raise OSError(28, "No space left on device", "somewhere")

    def interrupt(*anything: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("experiments.run.run.write_scores", fail)
        said = headscope("run", base, "--out", tmp_path)
    assert said.code == 2
    assert said.err == f"headscope: somewhere: No space left on device {HINT}\n"
    with monkeypatch.context() as patch:
        patch.setattr("experiments.run.run.write_scores", interrupt)
        said = headscope("run", base, "--out", tmp_path)
    assert said.code == 130
    assert said.err.startswith("An interrupted run is here; without --resume it begins anew.\n")
    assert HINT in said.err
    said = headscope("run", base, "--out", tmp_path, "--resume")
    assert (said.code, said.err) == (0, "")
    assert json.loads((tmp_path / "quick" / "run.json").read_text("utf-8"))["resumed"]


@pytest.mark.slow
def test_checkpoints_that_were_read_are_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "small.toml"
    path.write_text(TOML.format(seeds="[0, 1]") + RUN + FOLLOWED, encoding="utf-8")
    config = load_config(path)
    whole = run(config, tmp_path / "whole")
    for training in whole.glob("seed-*"):
        shutil.copytree(training, tmp_path / "killed" / whole.name / training.name)
    read, real = list[int](), CheckpointReader.read

    def counted(self: CheckpointReader, checkpoint: Checkpoint) -> CheckpointAnswers:
        if len(read) == 5:
            raise Killed
        read.append(checkpoint.step)
        return real(self, checkpoint)

    monkeypatch.setattr(CheckpointReader, "read", counted)
    with pytest.raises(Killed) as caught:
        run(config, tmp_path / "killed")
    assert caught.value.__notes__ == [HINT]
    steps = [*read]
    read.clear()
    resumed = run(config, tmp_path / "killed", resume=True)
    every = pd.read_parquet(whole / "biography_steps.parquet")
    assert [*steps, *read] == every.step.tolist()
    told = [f"biographies, seed {seed}, step {step}" for seed, step in zip(every.seed, every.step, strict=True)]
    taken = json.loads((resumed / "run.json").read_text("utf-8"))["resumed"]
    assert [one for one in taken if one.startswith("biographies")] == told[:5]
    same(resumed, whole)
