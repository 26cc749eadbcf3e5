"""A model, a run and a training so small that each takes a second, made by seed from the embedded grammar alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from mha import Encoder, export_encoder
from mha.planted.heads import word_model
from mha.training.vocabulary import save_tokenizer
from probes.grammar import generate

RUN = """
name = "run"
model.name = "{model}"
corpus.select = {{ name = "grammar", documents = 6, seed = 1 }}
corpus.report = {{ name = "grammar", documents = 6, seed = 2 }}
probes.names = ["position", "dependency"]
scoring.replicates = 10
controls = {{ random = 0, permuted = 0, orders = 0 }}
heads = {{ texts = 0, relations = 0 }}
page.examples = 0
"""

TRAINING = """
name = "training"
[train]
data = { name = "grammar", documents = 60 }
held_out = { name = "grammar", documents = 20, seed = 1 }
tokenizer.size = 300
encoder = { layers = 1, heads = 2, model = 16 }
length = 32
rows = 4
steps = 24
warmup = 4
evaluate_every = 8
precision = "fp32"
threads = 1
seeds = [0]
checkpoints = { per_doubling = 1, safety = 4 }
"""


def small_model(folder: Path) -> Path:
    """Write the folder of a BERT of two layers and two heads whose pieces are the words of the grammar."""
    words = sorted({word for document in generate(40, 1) for word in document.words})
    model = word_model(words, layers=2, heads=2, head_dim=8, positions=64, seed=0)
    assert isinstance(model.module, Encoder)
    export_encoder(model.module, folder)
    save_tokenizer(model.tokenizer, folder, 512)
    return folder


def small_configs(folder: Path) -> tuple[Path, Path]:
    """Write the configs of a run and of a training, and the model of the former."""
    run, training = folder / "run.toml", folder / "training.toml"
    run.write_text(RUN.format(model=small_model(folder / "model")), encoding="utf-8")
    training.write_text(TRAINING, encoding="utf-8")
    return run, training


def forked(work: Callable[[], object]) -> int:
    """Return the id of a child that does `work` and ends."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
