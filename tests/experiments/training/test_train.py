import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from tokenizers import Tokenizer

from experiments.config.config import ConfigError, TrainingConfig
from experiments.config.train_config import TrainSection
from experiments.run.config import load_config, load_training
from experiments.run.run import run
from experiments.training.texts import open_arcs, open_material, open_rows, open_vocabulary
from experiments.training.train import encoder_config, open_checkpoint, train_seeds, training_settings
from mha import load_model
from mha.training.arcs import ArcTerm
from mha.training.checkpoints import CheckpointError, Schedule, list_checkpoints
from mha.training.masking import Masking
from mha.training.packed_rows import StoredRows, StreamedRows
from probes import Corpus
from reports import Run

TRAIN: dict[str, Any] = {
    "data": {"name": "grammar", "documents": 30, "seed": 1},
    "held_out_share": 0.1,
    "tokenizer": {"size": 300},
    "encoder": {"layers": 1, "heads": 2, "model": 16},
    "length": 32,
    "steps": 6,
    "rows": 4,
    "warmup": 2,
    "log_every": 1,
    "checkpoints": {"per_doubling": 1},
}

TOML = """
name = "small"
[train]
data = {{ name = "grammar", documents = 30, seed = 1 }}
held_out_share = 0.1
tokenizer.size = 300
encoder = {{ layers = 1, heads = 2, model = 16 }}
length = 48
steps = 6
rows = 4
warmup = 2
seeds = {seeds}
checkpoints = {{ per_doubling = 1 }}
"""
RUN = """
[model]
source = "train"
[corpus]
select = { name = "grammar", documents = 6, seed = 11 }
report = { name = "grammar", documents = 6, seed = 12 }
[probes]
names = ["position"]
[scoring]
replicates = 20
[controls]
random = 2
permuted = 0
orders = 0
"""
FOLLOWED = """
[biographies]
probes = ["position", "agreement"]
replicates = 10
match_texts = 5
[behaviour]
corpora = ["grammar"]
first = 20
"""


def section(**changes: Any) -> TrainSection:
    return TrainSection.model_validate({**TRAIN, **changes})


def steps_of(folder: Path) -> list[int]:
    return [*list_checkpoints(folder)]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(text: str = "", seeds: str = "[0]") -> Path:
        path = tmp_path / "small.toml"
        path.write_text(TOML.format(seeds=seeds) + text, encoding="utf-8")
        return path

    return write


def test_every_setting_of_a_table_reaches_the_training() -> None:
    changed = {
        "accumulation": 2, "learning_rate": 1e-3, "warmup": 3, "decay": "cosine", "floor": 0.1, "weight_decay": 0.2,
        "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-7, "clip": 0.5, "precision": "fp32", "evaluate_every": 7,
        "evaluation_rows": 8, "log_every": 9, "trackers": ("tensorboard",), "rows": 10,
        "fixed": ("next",),
    }  # fmt: skip
    masking = {"rate": 0.3, "hidden": 0.6, "random": 0.3, "whole_word": True, "answers": ("is", "are")}
    checkpoints = {"per_doubling": 3, "every": 50, "safety": 60, "keep": 4, "states": 2}
    arcs = {"weight": -2.0, "first_step": 2, "last_step": 5}
    train = section(**changed, masking=masking, checkpoints=checkpoints, arcs={**arcs, "relations": ["nsubj"]})
    rows = StreamedRows([], open_vocabulary(section(), open_material(section())), 32, "x")
    settings = training_settings(train, rows, seed=5)
    assert (settings.steps, settings.seed, settings.keep, settings.states) == (6, 5, 4, 2)
    assert {name: getattr(settings, name) for name in changed} == changed
    assert settings.masking == Masking(**masking)
    assert settings.arcs == ArcTerm(-2.0, 2, 5)
    assert settings.schedule == Schedule(3, 50, 60)


def test_arcs_are_those_of_the_trees_of_every_sentence_that_is_trained_on() -> None:
    train = section(arcs={"weight": 1.0}, length=64)  # no sentence is cut
    vocabulary = open_vocabulary(train, material := open_material(train))
    gold, rows = open_arcs(train, vocabulary), open_rows(train, material, vocabulary)[0]
    assert gold is not None
    assert isinstance(rows, StoredRows)
    trees = {
        tuple(found.ids): (Counter(found.word_ids), sentence.heads.tolist())
        for document in Corpus.generated(30, 1).stream()
        for sentence in document.sentences
        for found in [vocabulary.tokenizer.encode([*sentence.words], is_pretokenized=True)]
    }
    cells = 0
    for row in rows.rows[:5].tolist():
        ends = [place + 1 for place, piece in enumerate(row) if piece == vocabulary.special["[SEP]"]]
        for start, end in pairwise([0, *ends]):
            of_word, heads = trees[tuple(row[start:end])]
            cells += sum(2 * of_word[word] * of_word[head] for word, head in enumerate(heads) if head >= 0)
    (batch,) = gold.batches(rows.rows[:5], vocabulary, [slice(None)])
    assert len(batch.cells) == cells > 0
    few = open_arcs(section(arcs={"weight": 1.0, "relations": ["nsubj"]}, length=64), vocabulary)
    assert few is not None
    assert 0 < len(few.batches(rows.rows[:5], vocabulary, [slice(None)])[0].cells) < cells / 2
    control = open_arcs(section(arcs={"weight": 1.0, "control": True}, length=64), vocabulary)
    assert control is not None
    (other,) = control.batches(rows.rows[:5], vocabulary, [slice(None)])
    assert 0 < len(other.cells) <= cells
    assert not {*other.cells.tolist()} & {*batch.cells.tolist()}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"arcs": {"weight": 1.0}, "data": {"name": "grammar", "unit": "document"}}, "unit sentence"),
    ({"arcs": {"weight": 1.0}, "data": {"name": "text_pretrain"}}, "needs the trees of sentences"),
    ({"fixed": ["middle"]}, "unknown pattern 'middle'"),
    ({"fixed": ["next", "previous", "start"]}, "3 patterns are too many for 2 heads"),
    ({"encoder": {"causal": True}, "masking": {"rate": 0.3}}, "'masking' is for encoders that attend to both sides"),
    ({"encoder": {"causal": True, "norm": "pre"}}, "a causal one has norm = 'post'"),
    ({"tokens": 5}, "a training has either steps or tokens"),
    ({"seeds": [1, 1]}, "seeds are different numbers"),
    ({"encoder": {"positions": 16}}, "rows of 32 pieces are too long for 16 positions"),
    ({"data": {"name": "grammar", "path": "x"}}, "texts have either a name, a path or a dataset"),
    ({"data": {"name": "text_pretrian"}}, "did you mean 'text_pretrain'"),
    ({"data": {"path": "x", "seed": 3}}, "'seed' is for the grammar"),
    ({"data": {"path": "x", "column": "y"}}, "'column' is for a dataset"),
    ({"data": {"path": "x", "unit": "sentence"}}, "unit 'sentence' is not for these texts; known are line, file"),
    ({"start": {"name": "x"}}, "'tokenizer' and 'encoder' are those of 'start'"),
]


def test_what_cannot_be_trained_is_refused(tmp_path: Path) -> None:
    for changes, message in WRONG:
        with pytest.raises(ValueError, match=message):
            section(**changes)
    train = section(arcs={"weight": 1.0, "relations": ["nosuch"]})
    with pytest.raises(ConfigError, match=r"train.arcs: grammar has no arc of \('nosuch',\)"):
        open_arcs(train, open_vocabulary(train, open_material(train)))
    path = tmp_path / "run.toml"
    path.write_text('name = "x"\ncorpus.select.name = "grammar"\n')
    with pytest.raises(ConfigError, match=r"there is no table \[train\]"):
        load_training(path)
    for changes, message in (
        (["model.source=train"], r'model.source is "train", but there is no table \[train\]'),
        (["model.step=3"], "'step' is for source"),
        (["model.source=checkpoint", "drift.texts=5", 'model.source="pretrained"'], r"\[drift\] needs the first ch"),
    ):
        with pytest.raises(ConfigError, match=message):
            load_config(path, changes)


def test_tokens_become_steps_by_how_full_the_rows_are() -> None:
    train = section(steps=None, tokens=10_000)
    material = open_material(train)
    vocabulary = open_vocabulary(train, material)
    rows, _ = open_rows(train, material, vocabulary)
    assert isinstance(rows, StoredRows)
    steps = training_settings(train, rows, 0).steps
    full = rows.pieces() / len(rows)
    assert 25 < full < 32
    assert (steps - 1) * 4 * full < 10_000 <= steps * 4 * full


def test_the_encoder_is_what_the_table_says() -> None:
    train = section()
    vocabulary = open_vocabulary(train, open_material(train))
    shape = encoder_config(train, vocabulary)
    assert (shape.vocab, shape.feed_forward, shape.positions, shape.norm) == (vocabulary.size, 64, 32, "post")
    other = {"layers": 3, "heads": 4, "model": 8, "feed_forward": 9, "positions": 40, "activation": "relu"}
    drops = {"dropout": 0.3, "attention_dropout": 0.2, "scale": False}
    shape = encoder_config(section(encoder={**other, **drops}), vocabulary)
    assert {name: getattr(shape, name) for name in other | drops} == other | drops
    assert encoder_config(section(encoder={"norm": "pre"}), vocabulary).family == "roberta-prelayernorm"
    with pytest.raises(ConfigError, match=r"train.encoder: 3 heads do not divide a model of size 256"):
        encoder_config(section(encoder={"heads": 3}), vocabulary)


def test_a_stream_is_trained_on_without_being_kept(tmp_path: Path) -> None:
    from datasets import Dataset

    saved = tmp_path / "saved"
    texts = [*open_material(section()).train]
    Dataset.from_dict({"text": texts, "text_pair": texts[::-1]}).save_to_disk(saved)
    data = {"dataset": str(saved), "streaming": True, "column": "text"}
    config = TrainingConfig(name="stream", train=section(data=data, held_out_texts=7))
    material = open_material(config.train)
    assert ([*material.held_out], [*material.train]) == (texts[:7], texts[7:])
    folder = train_seeds(config, tmp_path)[0]
    record = json.loads((folder / "checkpoints" / "step-00000006" / "training.json").read_text())
    assert record["loss"] > 0


def test_a_vocabulary_is_learnt_once_and_of_the_training_texts_alone(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path))
    train = section()
    first = open_vocabulary(train, open_material(train))
    monkeypatch.setattr("experiments.training.texts.train_tokenizer", lambda *_: pytest.fail("learnt again"))
    assert open_vocabulary(train, open_material(train)).fingerprint == first.fingerprint
    monkeypatch.undo()
    few = section(tokenizer={"size": 300, "first": 3})
    assert open_vocabulary(few, open_material(few)).size < first.size


def test_the_command_trains_goes_on_and_refuses(
    write: Callable[..., Path], tmp_path: Path, headscope: Callable[..., Any]
) -> None:
    path = write()
    said = headscope("train", path, "--out", tmp_path)
    assert (said.code, said.out) == (0, f"checkpoints: {tmp_path / 'small' / 'seed-0' / 'checkpoints'}\n")
    again = headscope("train", path, "--out", tmp_path)
    assert again.code == 2
    assert "seed-0 holds a training of 6 steps; --resume goes on" in again.err
    assert headscope("train", path, "--out", tmp_path, "--resume").code == 0
    changed = headscope("train", path, "--out", tmp_path, "--resume", "--set", "train.beta1=0.5")
    assert (changed.code, changed.err.count("\n")) == (2, 1)
    assert "the setting beta1 = 0.9, not 0.5" in changed.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "train.masking={hidden=0.9, random=0.5}",
            "train: hidden 0.9 and random 0.5 are shares and at most 1 together",
        ),
        ("train.trackers=['wandbb']", "tracker 'wandbb' is not known or not installed"),
        ("train.tokenizer={size=100, kind='bpe'}", "a bpe vocabulary of 100 is too small, expected 261 or more"),
        (
            "train.held_out_share=1e-9",
            "train.data has no text to hold out: raise held_out_share, or name texts as train.held_out",
        ),
    ],
)
def test_a_mistake_ends_the_command_with_one_line_and_no_training(
    change: str, said: str, write: Callable[..., Path], tmp_path: Path, headscope: Callable[..., Any]
) -> None:
    ended = headscope("train", write(), "--out", tmp_path / "out", "--set", change)
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended.err
    assert said in ended.err
    assert not (tmp_path / "out").exists()


def test_a_full_disk_ends_the_command_with_one_line_that_says_where(
    write: Callable[..., Path],
    tmp_path: Path,
    headscope: Callable[..., Any],
    largest_file: Callable[[int], AbstractContextManager[None]],
) -> None:
    path, out = write(), tmp_path / "out"
    with largest_file(60_000):  # more than weights, tokenizer and rows take, less than the optimiser's state
        ended = headscope("train", path, "--out", out)
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended.err
    first = out / "small" / "seed-0" / "checkpoints" / "step-00000000"
    assert f"{first.with_name('step-00000001')}: the checkpoint cannot be written: File too large; " in ended.err
    assert f"the last good checkpoint is {first}; --resume goes on from there" in ended.err
    assert headscope("train", path, "--out", out, "--resume").code == 0


def test_paths_of_texts_are_relative_to_the_config(write: Callable[..., Path], tmp_path: Path) -> None:
    changes = ["train.data={path=['a.txt', 'b']}", "train.held_out={path='c'}", "train.tokenizer.folder='t'"]
    train = load_training(write(), changes).train
    assert train.data.path == (tmp_path / "a.txt", tmp_path / "b")
    assert train.held_out is not None
    assert (train.held_out.path, train.tokenizer.folder) == ((tmp_path / "c",), tmp_path / "t")
    (tmp_path / "set").mkdir()
    assert load_training(write(), ["train.data={dataset='set'}"]).train.data.dataset == str(tmp_path / "set")
    assert load_training(write(), ["train.data={dataset='hub:on/hub'}"]).train.data.dataset == "hub:on/hub"
    text = re.sub("(tokenizer|encoder).*", "", write().read_text("utf-8")) + 'start = { name = "set" }\n'
    (tmp_path / "further.toml").write_text(text, "utf-8")
    assert load_training(tmp_path / "further.toml").train.start.name == str(tmp_path / "set")


@pytest.mark.slow
def test_a_run_trains_and_looks_at_the_last_checkpoint(write: Callable[..., Path], tmp_path: Path) -> None:
    config = load_config(write(RUN))
    folder = run(config, tmp_path)
    scores = pd.read_csv(folder / "scores.csv")
    assert (set(scores.model), set(scores.step)) == ({"small"}, {6})
    assert json.loads((folder / "run.json").read_text())["model"]["source"] == "train"
    assert steps_of(folder / "seed-0") == [0, 1, 2, 4, 6]
    before = (folder / "seed-0" / "log.jsonl").read_bytes()
    run(config, tmp_path)  # again: the training is there already, and stays
    assert (folder / "seed-0" / "log.jsonl").read_bytes() == before
    pd.testing.assert_frame_equal(pd.read_csv(folder / "scores.csv"), scores)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small", "small.toml"]


def test_corpora_are_looked_for_before_a_training_begins(write: Callable[..., Path], tmp_path: Path) -> None:
    config = load_config(write(RUN), ["corpus.report={path='gone.conllu'}"])
    with pytest.raises(OSError, match=r"gone\.conllu"):
        run(config, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_checkpoint_that_cannot_be_looked_at_is_said_to_be(write: Callable[..., Path], tmp_path: Path) -> None:
    folders = train_seeds(load_training(write(seeds="[0, 1]")), tmp_path)
    with pytest.raises(ConfigError, match="holds 2 trainings; name one"):
        open_checkpoint(tmp_path / "small")
    with pytest.raises(CheckpointError, match="no whole checkpoint of step 3; there are steps 0, 1, 2, 4, 6"):
        open_checkpoint(folders[0], 3)
    model, path, step = open_checkpoint(folders[1])
    assert (model.name, path, step) == ("small/seed-1", folders[1] / "checkpoints" / "step-00000006", 6)
    other = Tokenizer.from_file(str(path / "tokenizer.json"))
    other.add_tokens(["more"])
    size = (path / "tokenizer.json").stat().st_size
    text = (path / "tokenizer.json").read_text(encoding="utf-8").replace("[UNK]", "[UNC]")
    (path / "tokenizer.json").write_text(text, encoding="utf-8")
    assert (path / "tokenizer.json").stat().st_size == size
    with pytest.raises(ConfigError, match="not the tokenizer that the checkpoint was trained with"):
        open_checkpoint(folders[1])


def test_a_training_with_fixed_patterns_is_not_scored_without_them(write: Callable[..., Path], tmp_path: Path) -> None:
    """Its fixed heads have the queries and keys of the first step: a run would score patterns that nobody trained."""
    with pytest.raises(ConfigError, match=r"^train\.fixed: 1 heads of every layer have fixed patterns in training"):
        run(load_config(write(RUN), ["train.fixed=['next']"]), tmp_path / "out")
    assert not list((tmp_path / "out").glob("**/checkpoints"))
    train_seeds(load_training(write(), ["train.fixed=['next', 'end']"]), tmp_path)
    with pytest.raises(ConfigError, match=r"step-00000006: 2 heads of every layer have fixed patterns in training"):
        open_checkpoint(tmp_path / "small")


@pytest.mark.parametrize(
    ("change", "step", "stay"),
    [
        ("biographies.steps=[0, 3]", 3, "0, 1, 2, 4, 6"),
        ("train.checkpoints.keep=2", 0, "4, 6"),
    ],
)
def test_steps_at_which_no_checkpoint_will_stay_are_refused_before_training(
    tmp_path: Path, change: str, step: int, stay: str
) -> None:
    path = tmp_path / "small.toml"
    path.write_text(TOML.format(seeds=[0]) + RUN + "[biographies]\nsteps = [0, 6]\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"step {step} is asked for, .* they will at {stay}$"):
        run(load_config(path, [change]), tmp_path / "out")
    assert not list((tmp_path / "out").glob("**/checkpoints"))


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """Return the folder of a checkpoint that another training may begin with."""
    folders = train_seeds(TrainingConfig(name="begun", train=section()), tmp_path / "begun")
    return folders[0] / "checkpoints" / "step-00000006"


def further(begun: Path, **start: Any) -> TrainSection:
    given = {name: value for name, value in TRAIN.items() if name not in ("tokenizer", "encoder")}
    return TrainSection.model_validate({**given, "start": {"name": str(begun), **start}})


@pytest.mark.parametrize("fresh", [False, True])
def test_a_training_takes_shape_tokenizer_and_unless_fresh_weights_of_its_start(
    begun: Path, fresh: bool, tmp_path: Path
) -> None:
    folder = train_seeds(TrainingConfig(name="further", train=further(begun, fresh=fresh)), tmp_path)[0]
    first, _, step = open_checkpoint(folder, 0)
    start = load_model(str(begun))
    assert step == 0
    assert first.module.config == start.module.config
    assert first.tokenizer.get_vocab() == start.tokenizer.get_vocab()
    pairs = zip(first.module.parameters(), start.module.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs) is not fresh


@pytest.mark.slow
def test_a_run_tells_how_near_maps_stay_to_those_of_the_first_checkpoint(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    found = Run.open(run(load_config(write(RUN), ["drift.texts=5"]), tmp_path / "out")).tables["drift"]
    assert found.groupby("name").size().to_dict() == {"1-1": 5, "1-2": 5}
    assert found.cosine.between(0.5, 1 - 1e-9).all()


@pytest.mark.slow
def test_the_same_config_gives_the_same_weights_in_every_process(write: Callable[..., Path], tmp_path: Path) -> None:
    path, last = write("threads = 2\n"), []
    train_seeds(load_training(path), tmp_path / "here")
    surroundings = {**os.environ, "HEADSCOPE_CACHE": str(tmp_path / "cache")}
    words = ["-c", "from experiments.cli import main; main()", "train", path, "--out", tmp_path / "elsewhere"]
    subprocess.run([sys.executable, *words], env=surroundings, check=True)
    for name in ("here", "elsewhere"):
        step = tmp_path / name / "small" / "seed-0" / "checkpoints" / "step-00000006"
        last.append([(step / file).read_bytes() for file in ("model.safetensors", "state.safetensors")])
    assert last[0] == last[1]
