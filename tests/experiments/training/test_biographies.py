"""Trainings whose truth is known: random weights, in which planted heads appear at known checkpoints."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.config.config import ConfigError
from experiments.inputs.corpora import open_corpora
from experiments.run.config import load_config
from experiments.run.run import run
from experiments.training.biographies import biographies
from experiments.training.checkpoints import read_checkpoints
from mha import export_encoder, load_model
from mha.planted.heads import plant_weights, word_model
from mha.training.vocabulary import save_tokenizer, tokenizer_fingerprint
from probes import get_probe
from probes.grammar import generate
from probes.scoring.baselines import BASELINES
from probes.scoring.score import Settings, learn_baselines, score_corpus
from reports import Run
from reports.tables.biographies import TABLES

STEPS = (0, 10, 20, 40)
SHAPE = {"layers": 2, "heads": 2, "head_dim": 48, "positions": 48}
COMES = {"previous": 20, "next": 40}
"The first checkpoint at which each planted head is there."
PLANTED = {0: {(0, 1): "previous", (1, 0): "next"}, 1: {(1, 1): "previous", (0, 0): "next"}}
"Seed -> head -> role."


def write_training(folder: Path, planted: Mapping[tuple[int, int], str], seed: int) -> Path:
    """Write checkpoints in which each head is planted from the step on at which its role comes, and a log."""
    words = sorted({word for number in (1, 2) for document in generate(40, number) for word in document.words})
    for step in STEPS:
        model = word_model(words, **SHAPE, seed=seed)
        plant_weights(model, {head: role for head, role in planted.items() if step >= COMES[role]})
        checkpoint = folder / "checkpoints" / f"step-{step:08d}"
        export_encoder(model.module, checkpoint)
        save_tokenizer(model.tokenizer, checkpoint, 512)
        tokenizer = tokenizer_fingerprint(model.tokenizer)
        record = {"step": step, "tokens": 100 * step, "files": {}, "tokenizer": tokenizer}
        (checkpoint / "training.json").write_text(json.dumps(record))
    events = [{"event": "step", "step": step, "loss": float(step), "tokens": 100 * step} for step in range(1, 41)]
    events += [{"event": "evaluation", "step": 20, "loss": 4.5}]
    (folder / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events) + '{"event": "ste')
    return folder


@pytest.fixture(scope="module")
def trainings(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("training")
    return {seed: write_training(folder / f"seed-{seed}", planted, seed) for seed, planted in PLANTED.items()}


CONFIG = """
name = "lives"
model = { name = "training", source = "checkpoint" }
corpus.select = { name = "grammar", documents = 6, seed = 1 }
corpus.report = { name = "grammar", documents = 6, seed = 2 }
probes.names = ["position"]
scoring.replicates = 10
controls = { random = 0, permuted = 0, orders = 0 }
page.examples = 0
[biographies]
probes = ["position", "dependency"]
replicates = 20
match_texts = 12
labels = ["previous", "next", "first", "det", "nsubj"]
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("config") / "lives.toml"
    path.write_text(CONFIG)
    return path


@pytest.fixture(scope="module")
def tables(trainings: dict[int, Path], path: Path) -> Mapping[str, pd.DataFrame]:
    config = load_config(path)
    return biographies(config, trainings, open_corpora(config), behaviour=lambda model: model.heads / 8).tables


def test_planted_heads_come_at_their_steps(tables: Mapping[str, pd.DataFrame]) -> None:
    onsets = tables["biography_head_onsets"]
    found = {(row.seed, row.name, row.label): (row.after, row.by) for row in onsets.itertuples(index=False)}
    for seed, planted in PLANTED.items():
        for (layer, head), role in planted.items():
            after = {"previous": 10, "next": 20}[role]
            assert found[seed, f"{layer + 1}-{head + 1}", role] == (after, COMES[role])
    assert {key for key in found if key[2] in COMES} == {
        (seed, f"{a + 1}-{b + 1}", role) for seed, planted in PLANTED.items() for (a, b), role in planted.items()
    }
    together = tables["biography_onsets"].query("seed == -1 and label == 'previous'").iloc[0]
    assert (together.with_onset, together.seeds, together.low, together.high) == (2, 2, 10, 20)


def test_order_lives_and_partners_are_those_planted(tables: Mapping[str, pd.DataFrame]) -> None:
    order = tables["biography_order"].query("one == 'previous (other words)' and other == 'next (other words)'")
    assert order.share.tolist() == [1.0]
    lives = tables["biography_lives"].set_index(["seed", "name"])
    assert lives.life[0, "1-2"] in ("commits", "changes")
    assert (lives.last_role[0, "1-2"], lives.since[0, "1-2"]) == ("position: previous", 20)
    assert lives.life[1, "1-1"] == "wavers", "next came with the last checkpoint"
    partners = tables["biography_partners"].set_index("name")
    assert (partners.partner["1-2"], partners.partner["2-1"]) == ("2-2", "1-1")
    assert partners.distance[["1-2", "2-1"]].max() < 1e-3
    (seeds,) = tables["biography_matches"].query("what == 'seeds'").to_dict("records")
    assert seeds["distance"] < seeds["chance"]
    (start,) = tables["biography_matches"].query("what == 'start'").to_dict("records")
    assert (start["step"], start["other_step"]) == (0, 0)
    steps = tables["biography_matches"].query("what == 'steps' and step == 0")
    assert (steps.itself == 1).all()
    assert steps.distance.max() < 1e-6, "nothing is planted between steps 0 and 10"


def test_loss_and_behaviour_stand_beside_the_steps(tables: Mapping[str, pd.DataFrame]) -> None:
    rows = tables["biography_steps"].query("seed == 0").set_index("step")
    assert rows.loss.tolist()[1:] == [5.5, 15.5, 30.5], "means since the checkpoint before"
    assert np.isnan(rows.loss[0])
    assert rows.evaluation_loss[20] == 4.5
    assert rows.evaluation_loss.isna().sum() == 3
    assert rows.tokens.tolist() == [0, 1000, 2000, 4000]
    assert (rows.behaviour == 0.25).all()


def test_the_loss_of_a_checkpoint_is_the_mean_of_its_steps_however_they_were_logged(
    trainings: dict[int, Path], tmp_path: Path
) -> None:
    (tmp_path / "checkpoints").symlink_to(trainings[0] / "checkpoints")
    lines = ((8, 3.0), (10, 1.0), (18, 4.0), (20, 2.0))  # means of 8, 2, 8 and 2 steps
    events = [{"event": "step", "step": step, "loss": loss} for step, loss in lines]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    found = {one.step: one.loss for one in read_checkpoints(tmp_path)}
    assert (found[10], found[20]) == (pytest.approx(2.6), pytest.approx(3.6))


def test_scores_are_those_of_scoring_each_checkpoint_by_itself(
    tables: Mapping[str, pd.DataFrame], trainings: dict[int, Path], path: Path
) -> None:
    select, report = (corpus.sentences() for corpus in open_corpora(load_config(path)))
    probe = get_probe("position")
    model = load_model(str(trainings[1] / "checkpoints" / "step-00000040"))
    outcome = score_corpus(model, report, [probe], learn_baselines(select, [probe], BASELINES), Settings())
    sums = dict(outcome.heads.pooled(lambda question: (question[2],)))["position", "other words", "next"]
    rows = tables["biographies"].query("seed == 1 and step == 40 and label == 'next'")
    np.testing.assert_allclose(rows.accuracy, sums.hits.sum(0) / sums.n.sum(), rtol=1e-6)
    np.testing.assert_allclose(rows.mass, sums.mass.sum(0) / sums.n.sum())
    assert (rows.n == sums.n.sum()).all()


def test_settings_choose_probes_labels_steps_texts_and_matching(trainings: dict[int, Path], path: Path) -> None:
    seen: list[tuple[str, int, int]] = []

    def asked(*changes: str) -> Mapping[str, pd.DataFrame]:
        config = load_config(path, changes)
        one = {0: trainings[0]}
        return biographies(config, one, open_corpora(config), progress=lambda *told: seen.append(told)).tables

    few = asked(
        'biographies.probes=["position"]',
        'biographies.labels=["previous", "next"]',
        "biographies.steps=[0, 20]",
        "biographies.first=7",
        "biographies.match_texts=0",
    )
    scores = few["biographies"]
    assert set(scores.label) == {"previous", "next"}
    assert set(scores.step) == {0, 20}
    assert (scores.n < 7 * 40).all()
    assert not {"biography_matches", "biography_partners"} & set(few)
    assert few["biography_steps"].behaviour.isna().all()
    assert seen == [("biographies, seed 0", 1, 2), ("biographies, seed 0", 2, 2)]
    bound = asked(
        "biographies.within_layers=true",
        "biographies.labels='all'",
        'biographies.probes=["position"]',
        "biographies.steps=[0, 40]",
    )
    assert len(bound["biography_matches"]) == 1
    assert {"[CLS]", "same"} < set(bound["biographies"].label)
    windows = asked(
        'biographies.probes=["position", "coreference"]', "scoring.window_words=30", "biographies.labels='all'"
    )
    assert {"position", "coreference"} == set(windows["biographies"].probe)


@pytest.mark.slow
def test_a_run_has_the_tables_of_biographies_and_the_same_ones_again(
    trainings: dict[int, Path], path: Path, tmp_path: Path
) -> None:
    config = load_config(
        path, [f"model.name='{trainings[1]}'", "biographies.match_texts=0", "biographies.first=20", "page.examples=0"]
    )
    folder = run(config, tmp_path, page=False)
    opened = Run.open(folder)
    assert opened.record.stages["biographies"] > 0
    assert sum(opened.record.stages.values()) <= opened.record.wall_seconds
    assert (folder / "biographies.csv").is_file()
    assert set(opened.tables["biographies"].seed) == {1}
    assert set(opened.scores.step) == {40}
    again = run(config, tmp_path / "again", page=False)
    for name in TABLES.keys() & opened.tables.keys():
        assert (again / f"{name}.parquet").read_bytes() == (folder / f"{name}.parquet").read_bytes()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('biographies.probes=["position", "position"]', "probe 'position' is named twice"),
        ("biographies.steps=[10]", 'steps: expected "all" or two steps or more'),
        ("model.source='pretrained'", "[biographies] needs the checkpoints of a training"),
    ],
)
def test_what_cannot_be_followed_is_refused(path: Path, change: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load_config(path, [change])
    assert said in str(raised.value)


def test_labels_and_checkpoints_that_are_not_there_are_named(
    trainings: dict[int, Path], path: Path, tmp_path: Path
) -> None:
    config = load_config(path, ['biographies.labels=["nsubjj"]', "biographies.steps=[0, 10]"])
    with pytest.raises(ConfigError, match=r"grammar-2 has no items with the labels \('nsubjj',\)"):
        biographies(config, {0: trainings[0]}, open_corpora(config))
    with pytest.raises(ConfigError, match=r"seed-0: no checkpoint at step 15; there are 0, 10, 20, 40"):
        read_checkpoints(trainings[0], [0, 15])
    for step in (0, 1):
        checkpoint = tmp_path / "other" / "checkpoints" / f"step-{step:08d}"
        checkpoint.mkdir(parents=True)
        (checkpoint / "training.json").write_text("[]")
    with pytest.raises(ConfigError, match="needs two checkpoints or more, found 0"):
        read_checkpoints(tmp_path / "other")
