"""The texts and the tokenizer that a [train] table names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from experiments.config.section import ConfigError
from experiments.config.train_config import GRAMMAR, TextsSection, TrainSection
from mha import load_model
from mha.cache import replacing
from mha.training.arcs import GoldArcs, control_arcs
from mha.training.packed_rows import Rows, RowsError, StoredRows, StreamedRows, store_rows
from mha.training.vocabulary import Vocabulary, VocabularySettings, train_tokenizer, write_tokenizer
from probes import Corpus
from probes.corpora.corpus import NAMED as CORPORA
from probes.corpora.corpus import cache_folder, corpus_path
from probes.plain.text_tables import NO_PAIR, DatasetTexts
from probes.training.texts import CorpusTexts, Portion, Stretch, TextFiles, texts_path

STREAM_VOCABULARY = 100_000
"Texts of a stream from which a vocabulary is learnt where nothing is said."


@dataclass(frozen=True)
class Material:
    """What a training reads: texts for weights and vocabulary, and others to be held out."""

    train: Iterable[str]
    held_out: Iterable[str]
    streaming: bool
    name: str
    "What identifies texts that cannot be gone through beforehand."


def open_texts(part: TextsSection) -> Iterable[str]:
    """Return the texts of a section, which can be gone through again."""
    if part.dataset is not None:
        pair = NO_PAIR if "column" in part.model_fields_set else None
        return DatasetTexts(part.dataset, part.subset, part.split, part.column, part.streaming, part.revision, pair)
    if part.path is not None:
        return TextFiles(part.path, part.unit or "line")
    assert part.name is not None
    if part.name == GRAMMAR or part.name in CORPORA:
        return CorpusTexts(_corpus(part), part.unit or "sentence")
    return TextFiles((texts_path(part.name),), part.unit or "line")


def _corpus(part: TextsSection) -> Corpus:
    assert part.name is not None
    if part.name == GRAMMAR:
        return Corpus.generated(part.documents, part.seed)
    return Corpus.read(corpus_path(part.name), name=part.name)


def open_arcs(train: TrainSection, vocabulary: Vocabulary) -> GoldArcs | None:
    """Return the arcs of all sentences of a training's corpus; None where the loss has no term for them.

    Raises ConfigError where none has an arc of the relations that are asked for.
    """
    if train.arcs is None:
        return None
    relations, parsed = train.arcs.relations, []
    for document in _corpus(train.data).stream():
        for sentence in document.sentences:
            arcs = [
                (word, head)
                for word, (head, relation) in enumerate(zip(sentence.heads.tolist(), sentence.deprels, strict=True))
                if head >= 0 and (relations is None or relation in relations)
            ]
            parsed.append((sentence.words, control_arcs(sentence.words, arcs) if train.arcs.control else arcs))
    if not any(arcs for _, arcs in parsed):
        raise ConfigError(f"train.arcs: {train.data.name} has no arc" + (f" of {relations}" if relations else ""))
    return GoldArcs.of(parsed, vocabulary, train.length)


def open_material(train: TrainSection) -> Material:
    """Return the texts of a training, divided as the config says."""
    texts, streaming, name = open_texts(train.data), train.data.streaming, repr(train.data)
    if train.held_out is not None:
        if train.held_out.streaming:
            raise ConfigError("train.held_out: held-out texts are read whole; streaming is for train.data")
        return Material(texts, open_texts(train.held_out), streaming, name)
    if streaming:
        first = train.held_out_texts
        return Material(Stretch(texts, first), Stretch(texts, 0, first), streaming, f"{name} from {first}")
    held_out, rest = (Portion(texts, train.held_out_share, held_out=side) for side in (True, False))
    return Material(rest, held_out, streaming, name)


def open_vocabulary(train: TrainSection, material: Material) -> Vocabulary:
    """Return the vocabulary of a training: of its start, from its folder, or learnt from its texts."""
    section = train.tokenizer
    if train.start is not None:
        return Vocabulary(load_model(train.start.name).tokenizer)
    if section.folder is not None:
        path = section.folder / "tokenizer.json"
        if not path.is_file():
            raise ConfigError(f"train.tokenizer.folder: {path} does not exist")
        return Vocabulary(_tokenizer_of(path))
    first = section.first or (STREAM_VOCABULARY if material.streaming else None)
    texts = Stretch(material.train, 0, first)
    settings = VocabularySettings(section.size, section.kind, section.lowercase, section.characters)
    digest = hashlib.sha256(repr(settings).encode())
    for text in texts:
        digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    path = cache_folder() / "tokenizers" / f"{digest.hexdigest()[:32]}.json"
    if not path.is_file():
        with replacing(path) as unfinished:
            write_tokenizer(train_tokenizer(texts, settings), unfinished)
    return Vocabulary(Tokenizer.from_file(str(path)))


def _tokenizer_of(path: Path) -> Tokenizer:
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises plain Exception
        raise ConfigError(f"train.tokenizer.folder: {path}: not a tokenizer: {error}") from error


def open_rows(train: TrainSection, material: Material, vocabulary: Vocabulary) -> tuple[Rows, StoredRows]:
    """Return the packed rows to train on and those held out; raises ConfigError where there are none of these."""
    folder = cache_folder() / "packed"
    try:
        held_out = store_rows(material.held_out, vocabulary, train.length, folder)
    except RowsError:
        what = "train.held_out holds no text" if train.held_out else "train.data has no text to hold out"
        raise ConfigError(f"{what}: raise held_out_share, or name texts as train.held_out") from None
    if material.streaming:
        identity = hashlib.sha256(f"{material.name} {vocabulary.fingerprint}".encode()).hexdigest()
        return StreamedRows(material.train, vocabulary, train.length, identity), held_out
    return store_rows(material.train, vocabulary, train.length, folder), held_out
