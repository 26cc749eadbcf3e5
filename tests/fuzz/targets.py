"""What is fuzzed: every reader of a file or of typed text, a valid input of each, and the errors that it may raise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import save

from experiments.config.file import read_toml
from experiments.config.section import ConfigError
from experiments.heads.typed_text import TypedError, cut, find_head, find_word
from experiments.heads.view import ViewError, read_texts
from experiments.run.config import load_config, load_training
from experiments.training.checkpoints import training_events
from mha import Encoder, EncoderConfig
from mha.encoder.weights import WeightsError, export_encoder, load_encoder, read_config
from mha.models.folders import read_model_config
from mha.models.packages import ModelError
from mha.models.tokenizer import load_tokenizer
from mha.planted.heads import word_model
from mha.training.checkpoints import CheckpointError, find_resumable, read_record, read_state
from mha.training.log import truncate_log
from probes.corpora.conllu import CorpusError
from probes.corpora.readers import read_documents
from probes.pairs.readers import read_pairs
from probes.plain.text_tables import data_elsewhere
from probes.training.texts import TextFiles
from probes.weights.relations import CircuitError, read_relations
from probes.words.rare import word_counts
from reports.run.record import read_record as read_run
from reports.statements.claim_record import MEANS, read_claim
from reports.statements.finding_record import read_findings
from reports.statements.sandbox_record import read_record as read_sandbox
from tests.fuzz import seeds

NEXT = b"=====\n"
"Parts the two files of formats that have two."


@dataclass(frozen=True)
class Target:
    """A reader under test."""

    name: str
    file: str
    "What its file is called."
    seeds: Sequence[bytes]
    read: Callable[[Path], object]
    "Reads the file at a path, all of it."
    errors: tuple[type[Exception], ...]
    "What it may raise: one line, which names the file."
    names_file: bool = True
    "Whether errors begin with the file; of typed text they do not."
    folder: Callable[[Path], None] | None = None
    "Puts beside the file what else has to be there."
    slow: bool = False
    "Whether one reading takes milliseconds."


def _all(read: Callable[[Path], Any]) -> Callable[[Path], object]:
    return lambda path: sum(1 for _ in read(path))


def _gold(path: Path) -> object:
    text, _, gold = path.read_bytes().partition(NEXT)
    path.write_bytes(text)
    path.with_suffix(".gold").write_bytes(gold)
    return sum(1 for _ in read_pairs(path))


def _change(path: Path) -> object:
    change = path.read_bytes().decode("utf-8", "surrogateescape")
    (path.parent / "base.toml").write_bytes(seeds.CONFIG)
    return load_config(path.parent / "base.toml", [change])


def _checkpoint(path: Path) -> object:
    training = path.parents[2]
    return find_resumable(training), read_record(path.parent)


def _log(path: Path) -> object:
    events = training_events(path)
    truncate_log(path, 1)
    return events


def _typed(path: Path) -> object:
    text = " ".join(read_texts(str(path)))
    words, _ = cut(MODEL, text)
    return find_head(text.split()[0], "it", 2, 2), find_word(words, words[-1])


def _model_config(path: Path) -> object:
    read_model_config(path.parent)
    return read_config(path.parent)


WORDS = ["the", "ship", "near", "boats", "sink", "."]
MODEL = word_model(WORDS, layers=1, heads=2, head_dim=4, positions=16, seed=0)

TINY = Encoder(EncoderConfig(vocab=12, layers=1, heads=2, model=8, feed_forward=8, positions=8))


def _tiny(folder: Path) -> None:
    export_encoder(TINY, folder)


def _weights() -> bytes:
    with TemporaryDirectory() as folder:
        _tiny(Path(folder))
        return (Path(folder) / "model.safetensors").read_bytes()


def _state() -> bytes:
    return bytes(save({"a": torch.zeros(2, 2), "b": torch.ones(3)}))


def _in_its_folder(read: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda path: read(path.parent)


def corpus(name: str, file: str, *examples: bytes) -> Target:
    """Return the target of a format of annotated text."""
    return Target(name, file, examples, _all(read_documents), (CorpusError,))


def pairs(name: str, file: str, example: bytes, read: Callable[[Path], object] | None = None) -> Target:
    """Return the target of a format of minimal pairs."""
    return Target(name, file, (example,), read or _all(read_pairs), (CorpusError,))


TARGETS = {
    target.name: target
    for target in (
        corpus("corpus CoNLL-U", "a.conllu", seeds.CONLLU),
        corpus("corpus CoNLL-2012", "a.conll", seeds.CONLL),
        corpus("corpus GAP", "a.tsv", seeds.GAP),
        corpus("corpus Winogender", "a.tsv", seeds.WINOGENDER, seeds.TEMPLATES),
        corpus("corpus open-sesame", "agr.tsv", seeds.OPEN_SESAME),
        corpus("corpus WinoBias", "a.txt", seeds.WINOBIAS),
        corpus("corpus word pairs", "a.txt", seeds.RATINGS),
        pairs("pairs BLiMP", "a.jsonl", seeds.BLIMP),
        pairs("pairs MultiBLiMP", "a.tsv", seeds.MULTIBLIMP),
        pairs("pairs with .gold", "a.text", seeds.GOLD, _gold),
        pairs("pairs True and False", "a.txt", seeds.TRUE_FALSE),
        pairs("pairs open-sesame", "agr.tsv", seeds.OPEN_SESAME),
        pairs("pairs nonce table", "a.tab", seeds.TABLE),
        Target("texts", "a.txt", (seeds.TEXTS,), _all(lambda path: TextFiles((path,))), (CorpusError,)),
        Target("card of a data set", "README.md", (seeds.CARD,), data_elsewhere, (CorpusError,)),
        Target("relations", "a.tsv", (seeds.RELATIONS,), read_relations, (CircuitError,)),
        Target("word counts", "a.txt", (seeds.COUNTS,), word_counts.__wrapped__, (CorpusError,)),
        Target("typed text", "a.txt", (seeds.TYPED,), _typed, (TypedError, ViewError, CorpusError), names_file=False),
        Target("TOML", "a.toml", (seeds.CONFIG,), lambda path: read_toml(path, ()), (ConfigError,)),
        Target("config of a run", "a.toml", (seeds.CONFIG,), load_config, (ConfigError,), slow=True),
        Target("config of a training", "a.toml", (seeds.CONFIG,), load_training, (ConfigError,), slow=True),
        Target("--set", "a.txt", (seeds.CHANGE,), _change, (ConfigError,), names_file=False, slow=True),
        Target("run.json", "run.json", (seeds.RECORD,), read_run, (ValueError,)),
        Target("claim.json", "claim.json", (seeds.CLAIM,), read_claim, (ValueError,)),
        *(
            Target(name, name, (seeds.published(f"{folder}/{name}"),), _in_its_folder(read), (ValueError,), slow=True)
            for folder, name, read in (
                ("findings", "findings.json", read_findings),
                ("sandbox", "sandbox.json", lambda folder: read_sandbox(folder, lambda study: study)),
            )
        ),
        Target("table as CSV", "means.csv", (seeds.table(".csv"),), MEANS.read, (ValueError,), slow=True),
        Target("table as Parquet", "means.parquet", (seeds.table(".parquet"),), MEANS.read, (ValueError,), slow=True),
        Target("config.json", "config.json", (seeds.MODEL_CONFIG,), _model_config, (WeightsError, ModelError)),
        Target(
            "model.safetensors",
            "model.safetensors",
            (_weights(),),
            _in_its_folder(load_encoder),
            (WeightsError,),
            folder=_tiny,
            slow=True,
        ),
        Target("state.safetensors", "state.safetensors", (_state(),), _in_its_folder(read_state), (CheckpointError,)),
        Target(
            "tokenizer.json",
            "tokenizer.json",
            (MODEL.tokenizer.to_str().encode(),),
            _in_its_folder(load_tokenizer),
            (ModelError,),
        ),
        Target(
            "training.json",
            "checkpoints/step-00000002/training.json",
            (seeds.CHECKPOINT,),
            _checkpoint,
            (CheckpointError,),
        ),
        Target("log.jsonl", "log.jsonl", (seeds.LOG,), _log, ()),
    )
}
