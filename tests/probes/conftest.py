"""Small annotated texts, and a model small enough to score them in a blink, read from disk as any other."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from tokenizers import Tokenizer

from mha import Encoder, EncoderConfig, MaskedLM, Model, export_encoder, load_model
from mha.training.vocabulary import save_tokenizer
from probes.records import Document, Mention, Sentence, frozen_ints
from probes.targets import Keys, Targets
from probes.words.rare import LIST
from tests.small_words import randomise_weights, word_pieces

Item = tuple[int, list[int], str]
"Query, gold keys and label."

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
WHOLE = ("the", "old", "ship", "ships", "sank", "she", "it", "is", "are", "was", "dog", "saw", ".", "and", "port")
PARTS = ("un", "harb", "walk", "##sink", "##able", "##our", "##s", "##ing")
SPLIT = ("unsinkable", "harbours", "harbour", "walking")
"Words of 3, 3, 2 and 2 pieces."


def _tokenizer(*more: str) -> Tokenizer:
    tokenizer = word_pieces((*SPECIAL, *WHOLE, *PARTS, *more))
    tokenizer.enable_truncation(8)  # what is saved with a tokenizer must not cut our texts
    return tokenizer


@pytest.fixture(autouse=True)
def _cache_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep parsed corpora out of the user's cache."""
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    """Return a WordPiece tokenizer that cuts the words of SPLIT into pieces and keeps those of WHOLE."""
    tokenizer = _tokenizer()
    tokenizer.no_truncation()
    return tokenizer


@pytest.fixture(scope="session")
def save_model() -> Callable[[Encoder, Path], Model]:
    """Return the function that writes an encoder and the tokenizer to a folder and loads both from there."""

    def save(encoder: Encoder, folder: Path) -> Model:
        export_encoder(encoder, folder)
        save_tokenizer(_tokenizer(), folder, 512)
        return load_model(str(folder))

    return save


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, save_model: Callable[[Encoder, Path], Model]) -> Model:
    """Return a model of 2 layers x 3 heads and at most 40 pieces, with weights large enough that maps differ."""
    vocab = len(SPECIAL) + len(WHOLE) + len(PARTS)
    encoder = Encoder(EncoderConfig(vocab=vocab, layers=2, heads=3, model=24, feed_forward=32, positions=40))
    randomise_weights(encoder, std=0.4)
    return save_model(encoder, tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def lm(tmp_path_factory: pytest.TempPathFactory) -> MaskedLM:
    """Return a masked LM of 3 layers x 3 heads, of the same words and a mask."""
    tokenizer, folder = _tokenizer("[MASK]"), tmp_path_factory.mktemp("tiny-lm")
    shape = EncoderConfig(tokenizer.get_vocab_size(), layers=3, heads=3, model=24, feed_forward=32, positions=40)
    encoder = Encoder(shape, lm_head=True)
    randomise_weights(encoder, seed=1)
    export_encoder(encoder, folder)
    save_tokenizer(tokenizer, folder, 512)
    return MaskedLM.of(load_model(str(folder)))


def _tree(text: str, *, name: str = "s", mentions: Sequence[Mention] = ()) -> Sentence:
    rows = [line.split() for line in text.strip().splitlines()]
    forms, upos, heads, deprels, feats = zip(*rows, strict=True)
    return Sentence(
        id=name,
        words=forms,
        heads=frozen_ints([int(head) - 1 for head in heads]),
        deprels=deprels,
        upos=upos,
        feats=tuple("" if value == "_" else value for value in feats),
        mentions=tuple(mentions),
    )


@pytest.fixture(scope="session")
def tree() -> Callable[..., Sentence]:
    """Return the function that reads a sentence: a word a line, its form, UPOS, head (from 1), relation and FEATS."""
    return _tree


def by_item(keys: Keys, items: int) -> list[list[int]]:
    """Return the keys of each item."""
    return [keys[0][keys[1] == i].tolist() for i in range(items)]


def items_of(targets: Targets) -> list[Item]:
    """List targets: query, gold keys and label of every item."""
    return list(zip(targets.query.tolist(), by_item(targets.gold, len(targets)), targets.label, strict=True))


@pytest.fixture(scope="session")
def asked() -> Callable[[Targets], list[Item]]:
    """Return `items_of`."""
    return items_of


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return the function that writes lines to a file of a name, and gives its path."""

    def write(name: str, *lines: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return write


@pytest.fixture
def list_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Iterable[str]], None]:
    """Return the function that puts a list of word frequencies under HEADSCOPE_DATA, the most frequent word first."""

    def list_words(words: Iterable[str]) -> None:
        path = tmp_path / "data" / LIST
        path.parent.mkdir(parents=True)
        known = sorted({word.lower() for word in words})
        path.write_text("".join(f"{word} {10 * (len(known) - i)}\n" for i, word in enumerate(known)), encoding="utf-8")
        monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path / "data"))

    return list_words


class Material(NamedTuple):
    """What random sentences are made of."""

    words: tuple[str, ...]
    relations: tuple[str, ...]
    morphology: tuple[tuple[str, str], ...]


RELATIONS = ("nsubj", "nsubj:pass", "obj", "det", "case", "cop")
MORPHOLOGY = (
    ("NOUN", "Number=Sing"),
    ("NOUN", "Number=Plur"),
    ("PROPN", "Number=Sing"),
    ("PRON", "Number=Plur"),
    ("VERB", "Number=Sing|Tense=Pres|VerbForm=Fin"),
    ("AUX", "Tense=Pres|VerbForm=Fin"),
    ("ADJ", ""),
)


PLAIN = Material((*WHOLE, *SPLIT), RELATIONS, MORPHOLOGY)
TANGLED = Material(
    (*PLAIN.words, "not", "n't", "never", "who", "that", "himself", "themselves", "yesterday", "Monday", "2004"),
    (
        *RELATIONS,
        *("iobj", "obl", "obl:tmod", "nmod", "nmod:poss", "advmod", "aux", "aux:pass", "mark", "punct", "cc", "expl"),
        *("ccomp", "xcomp", "advcl", "advcl:relcl", "acl", "acl:relcl", "conj", "conj", "csubj", "parataxis"),
    ),
    (
        *MORPHOLOGY,
        *(("PART", "Polarity=Neg"), ("DET", "PronType=Neg"), ("PRON", "PronType=Rel"), ("ADP", ""), ("PUNCT", "")),
        *(("PRON", "Gender=Masc|Number=Sing|Person=3|Reflex=Yes"), ("PRON", "PronType=Emp|Reflex=Yes"), ("", "")),
    ),
)
"Everything that probes ask for, in trees that mean nothing."


def _random_sentence(random: np.random.Generator, name: str, words: int, material: Material = PLAIN) -> Sentence:
    order = random.permutation(words)
    heads = np.full(words, -1)
    for place in range(1, words):
        heads[order[place]] = order[random.integers(place)]
    kinds = [material.morphology[i] for i in random.integers(len(material.morphology), size=words)]
    starts = random.integers(words, size=words // 2)
    spans = [tuple(range(start, min(start + 1 + int(random.integers(2)), words))) for start in starts.tolist()]
    return Sentence(
        id=name,
        words=tuple(str(word) for word in random.choice(material.words, words)),
        heads=frozen_ints(heads),
        deprels=tuple("root" if head < 0 else str(random.choice(material.relations)) for head in heads),
        upos=tuple(tag for tag, _ in kinds),
        feats=tuple(feats for _, feats in kinds),
        mentions=tuple(Mention(span, int(random.choice(span)), f"e{random.integers(4)}") for span in spans),
        kind=("", "calm", "storm")[words % 3],
    )


def _random_documents(
    count: int, *, seed: int = 0, sentences: int = 3, longest: int = 9, tangled: bool = False
) -> list[Document]:
    random, material = np.random.default_rng(seed), TANGLED if tangled else PLAIN
    return [
        Document(
            f"d{number:02}",
            tuple(
                _random_sentence(random, f"d{number:02}-{i}", int(random.integers(1, longest + 1)), material)
                for i in range(sentences)
            ),
        )
        for number in range(count)
    ]


@pytest.fixture(scope="session")
def random_documents() -> Callable[..., list[Document]]:
    """Return the function that makes documents with random words, trees, morphology and mentions."""
    return _random_documents
