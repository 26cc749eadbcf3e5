"""A model and corpora so small that a whole run takes a second, and configs that name them."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from tokenizers import Tokenizer

from experiments.cli import main
from experiments.record.job import Job
from experiments.run.config import load_config
from experiments.run.run import run
from experiments.statements.claim import Work
from mha import Encoder, EncoderConfig, Model, export_encoder, load_model
from mha.training.vocabulary import save_tokenizer
from probes.grammar import generate
from probes.records import Sentence
from reports import Run
from reports.progress import silent
from tests.small_words import randomise_weights, word_pieces

collect_ignore = [] if "HEADSCOPE_SECOND_DEVICE" in os.environ else ["on_second_device.py"]


class Said(NamedTuple):
    """What a command ended with."""

    code: int
    out: str
    err: str


SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
LETTERS = "abcdefghijklmnopqrstuvwxyz'"


@pytest.fixture(autouse=True)
def _surroundings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep parsed corpora out of the user's cache, and named corpora out of reach."""
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path_factory.getbasetemp() / "no data"))


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a BERT of 2 layers x 2 heads and at most 48 pieces, which cuts rare words into letters."""
    folder = tmp_path_factory.mktemp("models") / "tiny"
    words = sorted({word.lower() for document in generate(3, 1) for word in document.words})
    vocabulary = {piece: i for i, piece in enumerate((*SPECIAL, *words, *(f"##{letter}" for letter in LETTERS)))}
    vocabulary |= {letter: len(vocabulary) + i for i, letter in enumerate(sorted(set(LETTERS) - set(vocabulary)))}
    encoder = Encoder(EncoderConfig(vocab=len(vocabulary), layers=2, heads=2, model=16, feed_forward=16, positions=48))
    randomise_weights(encoder, std=0.4)
    export_encoder(encoder, folder)
    save_vocabulary(vocabulary, folder)
    return folder


def save_vocabulary(vocabulary: dict[str, int], folder: Path) -> None:
    """Write the tokenizer of a vocabulary of word pieces, with the special tokens of BERT in it."""
    save_tokenizer(word_pieces(vocabulary), folder, 512)


@pytest.fixture(scope="session")
def speaker(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the tiny model with a masked-LM head of random weights, and a mask."""
    folder = tmp_path_factory.mktemp("models") / "speaker"
    tokenizer = Tokenizer.from_file(str(tiny / "tokenizer.json"))
    tokenizer.add_special_tokens(["[MASK]"])
    tokenizer.add_tokens(["king", "kings", "sleep", "sleeps"])
    source = load_model(str(tiny)).module
    assert isinstance(source, Encoder)
    encoder = Encoder(replace(source.config, vocab=tokenizer.get_vocab_size()), lm_head=True)
    randomise_weights(encoder, std=0.3, norms=False)
    export_encoder(encoder, folder)
    save_tokenizer(tokenizer, folder, 512)
    return folder


def conllu(sentence: Sentence) -> str:
    """Return a sentence in CoNLL-U, without its mentions."""
    columns = zip(sentence.words, sentence.upos, sentence.feats, sentence.heads, sentence.deprels, strict=True)
    rows = [
        f"{i + 1}\t{word}\t_\t{upos}\t_\t{feats or '_'}\t{head + 1}\t{deprel}\t_\t_"
        for i, (word, upos, feats, head, deprel) in enumerate(columns)
    ]
    return "\n".join([f"# sent_id = {sentence.id}", *rows, "", ""])


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train classifiers that attend, and search for their adversaries, in few steps."""
    monkeypatch.setattr("probes.explanation.classifier.EPOCHS", 2)
    monkeypatch.setattr("probes.explanation.classifier.STEPS", 10)


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    """Return 60 annotated sentences in CoNLL-U."""
    return [conllu(sentence) for document in generate(20, 5) for sentence in document.sentences][:60]


@pytest.fixture(scope="session")
def write_corpus() -> Callable[[Path, Iterable[str]], Path]:
    """Return the function that writes blocks of CoNLL-U to a file."""

    def write(path: Path, blocks: Iterable[str]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(blocks), encoding="utf-8")
        return path

    return write


BASE = """
name = "quick"
model = {{ name = "{model}" }}
corpus.select = {{ name = "grammar", documents = 6, seed = 1 }}
corpus.report = {{ name = "grammar", documents = 6, seed = 2 }}
probes.names = ["position", "dependency"]
scoring.replicates = 10
controls = {{ random = 0, permuted = 0, orders = 0 }}
heads = {{ texts = 0, relations = 0 }}
page.examples = 0
"""


@pytest.fixture(scope="session")
def base(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a config file of the tiny model on 6 + 6 documents of the grammar, without controls or examples."""
    path = tmp_path_factory.mktemp("configs") / "base.toml"
    path.write_text(BASE.format(model=tiny), encoding="utf-8")
    yield path
    assert path.read_text(encoding="utf-8") == BASE.format(model=tiny), "a test has changed the config of all tests"


@pytest.fixture
def known(tiny: Path) -> list[str]:
    """Return words that the tiny model has pieces for, one each."""
    vocabulary = json.loads((tiny / "tokenizer.json").read_text())["model"]["vocab"]
    return [word for word in vocabulary if word.isalpha() and len(word) > 3][:4]


@pytest.fixture(scope="session")
def model(tiny: Path) -> Model:
    return load_model(str(tiny))


@pytest.fixture(scope="session")
def scored(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """Return the function that runs `base` with changes as of --set, without a page; the same changes run once."""

    @cache
    def score(*changes: str) -> Run:
        return Run.open(run(load_config(base, changes), tmp_path_factory.mktemp("runs"), page=False))

    return score


WHOLE = (
    'name="whole"',
    "corpus.select.documents=9",
    "corpus.report.documents=9",
    'probes.names=["position", "dependency", "agreement", "coreference"]',
    "probes.trained=true",
    "probes.trained_pairs=20",
    "scoring.window_words=20",
    "controls={random=2}",
    "page.examples=3",
)


@pytest.fixture(scope="session")
def whole(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run with everything turned on, its page included; not to be changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADSCOPE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        return run(load_config(base, WHOLE), tmp_path_factory.mktemp("whole"))


@pytest.fixture
def headscope(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Return the function that runs the command line in this process."""

    def call(*words: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["headscope", *map(str, words)])
        with pytest.raises(SystemExit) as exit_:
            main()
        return Said(int(exit_.value.code or 0), *capfd.readouterr())

    return call


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """Return the work of a claim that begins anew."""
    out = tmp_path / "claims"
    return Work(out, "claim", Job.open(out / "claim", {}, resume=False), silent, resume=False)
