"""Trainings whose truth is known: weights on the way from random to planted, with a jump at a known step."""

import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from experiments.biographies import add_biographies, biographies
from experiments.checkpoints import read_checkpoints
from experiments.config import Config, ConfigError
from experiments.corpora import open_corpora
from mha import Model, export_encoder
from mha.planted import plant_weights, word_model
from probes.grammar import generate
from probes.scoring import Settings, learn_baselines, score_corpus
from probes import get_probe
from probes.results import pooled_sums
from mha import load_model
from reports.biography_tables import read_biographies

STEPS = (0, 10, 20, 40, 80)
SHAPE = {"layers": 2, "heads": 2, "head_dim": 48, "positions": 48}
PLANTED = {(0, 1): "previous", (1, 0): "next"}
COMES = {"previous": 20, "next": 80}
"The first checkpoint at which each planted head is there."

HEADS_OF_SEED = {0: PLANTED, 1: {(1, 1): "previous", (0, 0): "next"}}


def write_training(folder: Path, planted: Mapping[tuple[int, int], str], seed: int, steps: tuple[int, ...]) -> Path:
    """Write checkpoints in which each head is planted from the step on at which its role comes."""
    words = [word for document in generate(60, 1) for word in document.words]
    words += [word for document in generate(60, 2) for word in document.words]
    for step in steps:
        model = word_model(words, **SHAPE, seed=seed)
        plant_weights(model, {head: role for head, role in planted.items() if step >= COMES[role]})
        checkpoint = folder / "checkpoints" / f"step-{step:08d}"
        export_encoder(model.module, checkpoint)
        model.tokenizer.save(str(checkpoint / "tokenizer.json"))
        (checkpoint / "training.json").write_text(json.dumps({"step": step, "tokens": 100 * step}))
    events = [{"event": "step", "step": step, "loss": 5 - step / 40, "tokens": 100 * step} for step in range(1, 81)]
    events += [{"event": "evaluation", "step": step, "loss": 4.5} for step in steps]
    (folder / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events) + '{"event": "ste')
    return folder


@pytest.fixture(scope="module")
def trainings(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("training")
    return {
        seed: write_training(folder / f"seed-{seed}", planted, seed, STEPS) for seed, planted in HEADS_OF_SEED.items()
    }


def config(**section: object) -> Config:
    grammar = {"name": "grammar", "documents": 25}
    return Config.model_validate(
        {
            "name": "lives",
            "corpus": {"select": grammar | {"seed": 1}, "report": grammar | {"seed": 2}},
            "biographies": {"probes": ["position", "dependency"], "replicates": 40, "match_texts": 20} | section,
        }
    )


@pytest.fixture(scope="module")
def tables(trainings: dict[int, Path]) -> dict[str, pd.DataFrame]:
    asked = config()
    return dict(biographies(asked, trainings, open_corpora(asked), behaviour=lambda model: 0.25).tables)


def test_smoke(tables):
    pd.set_option("display.width", 250, "display.max_columns", 40)
    for name, t in tables.items():
        print(name, len(t))
        print(t.head(12))
    o = tables["biography_onsets"]
    print(o[np.isfinite(o.onset)])
