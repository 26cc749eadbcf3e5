"""A training that takes a second, on invented sentences; as a script it is what `accelerate launch` starts.

python tests/small_training.py FOLDER
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from mha.encoder.encoder import EncoderConfig
from mha.training.checkpoints import Schedule, checkpoint_path
from mha.training.masking import Masking
from mha.training.packed_rows import store_rows
from mha.training.settings import TrainingSettings
from mha.training.task import Task
from mha.training.train import train
from mha.training.vocabulary import Vocabulary, VocabularySettings, train_tokenizer

SETTINGS = TrainingSettings(
    steps=12,
    rows=8,
    accumulation=2,
    warmup=4,
    learning_rate=1e-2,
    evaluate_every=5,
    log_every=1,
    masking=Masking(0.2, whole_word=True),
    schedule=Schedule(per_doubling=1, every=0, safety=0),
    precision="fp32",
)
"The rows of a step can be divided between two processes."


def invented_texts(number: int) -> list[str]:
    """Return sentences of invented words."""
    draws = random.Random(0)
    words = [f"{a}{b}" for a in ("mo", "ta", "li", "ru") for b in ("na", "ke", "si", "do")]
    return [" ".join(draws.choices(words, k=draws.randint(3, 12))) for _ in range(number)]


def make_task(folder: Path, dropout: float = 0.1) -> Task:
    """Return a task for an encoder of one layer; packed rows are kept in `folder`."""
    texts = invented_texts(300)
    vocabulary = Vocabulary(train_tokenizer(texts, VocabularySettings(size=60)))
    sizes = {"layers": 1, "heads": 2, "model": 16, "feed_forward": 16, "positions": 24}
    shape = EncoderConfig(vocab=vocabulary.size, dropout=dropout, attention_dropout=dropout, **sizes)
    rows, held_out = (store_rows(part, vocabulary, 24, folder / "packed") for part in (texts[:250], texts[250:]))
    return Task(shape, vocabulary, rows, held_out)


def log(folder: Path, *events: str) -> list[dict[str, Any]]:
    """Return the lines of a training's log that are of these events."""
    lines = map(json.loads, (folder / "log.jsonl").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["event"] in events]


def losses(folder: Path) -> list[tuple[Any, ...]]:
    """Return every loss that the log of a training reports."""
    return [(line["event"], line["step"], line["loss"], line["tokens"]) for line in log(folder, "step", "evaluation")]


def weights(folder: Path, step: int = SETTINGS.steps) -> dict[str, torch.Tensor]:
    """Return the tensors of a checkpoint."""
    return load_file(checkpoint_path(folder, step) / "model.safetensors")


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    """Return whether tensors are equal bit for bit."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


if __name__ == "__main__":
    train(Path(sys.argv[1]), make_task(Path(sys.argv[1]), dropout=0.0), SETTINGS)
