"""Vocabularies of word-pieces, learnt from texts, and what packing and masking have to know of them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mha.messages import OneLineError, naming

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
"The special pieces; their ids are 0 to 4, whatever the text."

KINDS = ("wordpiece", "bpe")

SMALLEST_BPE = 256 + len(SPECIAL)
"Every byte is a piece of a byte-level BPE, which therefore never needs [UNK]."


class VocabularyError(OneLineError):
    """A vocabulary that cannot be learnt, or a tokenizer that training cannot use."""


@dataclass(frozen=True)
class VocabularySettings:
    """How a vocabulary is learnt."""

    size: int = 8192
    "Number of pieces, special ones included; a small corpus may give fewer."
    kind: str = "wordpiece"
    '"wordpiece" as in BERT, or "bpe" on bytes as in GPT-2 and RoBERTa.'
    lowercase: bool = True
    "Whether texts are lower-cased; WordPiece then also drops accents, as BERT does."
    characters: int = 500
    "WordPiece keeps that many of the most frequent characters; a word with any other is [UNK]."

    def __post_init__(self) -> None:
        """Refuse what cannot be learnt."""
        if self.kind not in KINDS:
            raise VocabularyError(f"unknown kind of vocabulary {self.kind!r}; known are {', '.join(KINDS)}")
        smallest = SMALLEST_BPE if self.kind == "bpe" else len(SPECIAL) + 1
        if self.size < smallest:
            raise VocabularyError(f"a {self.kind} vocabulary of {self.size} is too small, expected {smallest} or more")
        if self.characters < 1:
            raise VocabularyError(f"characters is {self.characters}, expected 1 or more")


def train_tokenizer(texts: Iterable[str], settings: VocabularySettings | None = None) -> Any:
    """Return a `tokenizers.Tokenizer` learnt from `texts`: the same texts always give the same ids.

    `texts` is gone through more than once (for WordPiece its characters come first). Raises VocabularyError where it
    is empty.
    """
    settings = settings or VocabularySettings()
    if not any(text.strip() for text in texts):
        raise VocabularyError("no vocabulary could be learnt: the texts hold no word")
    tokenizer = _train_wordpiece(texts, settings) if settings.kind == "wordpiece" else _train_bpe(texts, settings)
    from tokenizers import processors

    ends = [(name, SPECIAL.index(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    return tokenizer


def _train_wordpiece(texts: Iterable[str], settings: VocabularySettings) -> Any:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    normalizer = normalizers.BertNormalizer(lowercase=settings.lowercase)
    characters = _frequent_characters(texts, normalizer, settings.characters)
    # The trainer numbers the pieces "##x" in the order of a hash table that differs from process to process, and
    # breaks ties between merges by number; given beforehand, their numbers are fixed.
    inner = [f"##{character}" for character in characters]
    learnt = _bare(models.WordPiece(unk_token="[UNK]"), normalizer, pre_tokenizers.BertPreTokenizer())
    trainer = trainers.WordPieceTrainer(
        vocab_size=max(settings.size, len(SPECIAL) + 2 * len(characters)),
        special_tokens=[*SPECIAL, *inner],
        initial_alphabet=characters,
        limit_alphabet=max(len(characters), 1),
        show_progress=False,
    )
    learnt.train_from_iterator(texts, trainer)
    numbers = sorted(learnt.get_vocab().items(), key=lambda item: item[1])
    vocabulary = {piece: number for number, (piece, _) in enumerate(numbers[: settings.size])}
    model = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100)
    tokenizer: Tokenizer = _bare(model, normalizer, learnt.pre_tokenizer)
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens([*SPECIAL])
    return tokenizer


def _frequent_characters(texts: Iterable[str], normalizer: Any, limit: int) -> list[str]:
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text)
    normalised: Counter[str] = Counter()
    for character, count in counts.items():
        for part in normalizer.normalize_str(character):
            if not part.isspace():
                normalised[part] += count
    frequent = sorted(normalised, key=lambda part: (-normalised[part], part))[:limit]
    return sorted(frequent)


def _train_bpe(texts: Iterable[str], settings: VocabularySettings) -> Any:
    from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

    steps = [normalizers.NFC(), *([normalizers.Lowercase()] if settings.lowercase else [])]
    tokenizer = _bare(models.BPE(), normalizers.Sequence(steps), pre_tokenizers.ByteLevel(add_prefix_space=True))
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=settings.size, special_tokens=[*SPECIAL], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _bare(model: Any, normalizer: Any, pre_tokenizer: Any) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer(model)
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
    return tokenizer


def save_tokenizer(tokenizer: Any, folder: Path, length: int) -> None:
    """Write tokenizer.json and tokenizer_config.json, which `AutoTokenizer` opens; `length` is the longest input."""
    write_tokenizer(tokenizer, folder / "tokenizer.json")
    names = zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True)
    there = {role: name for role, name in names if tokenizer.token_to_id(name) is not None}
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": length, **there}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def write_tokenizer(tokenizer: Any, path: Path) -> None:
    """Write a tokenizer as JSON; raises OSError, which its own method does not, where the disk is full."""
    with naming(path):
        path.write_text(tokenizer.to_str(pretty=True), encoding="utf-8")


def tokenizer_fingerprint(tokenizer: Any) -> str:
    """Return the sha256 of everything that decides which pieces a text becomes."""
    content = json.loads(tokenizer.to_str())
    content.pop("truncation", None), content.pop("padding", None)
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Vocabulary:
    """What packing and masking have to know of a tokenizer."""

    tokenizer: Any
    "A `tokenizers.Tokenizer` with the special pieces of SPECIAL, under any ids."

    def __post_init__(self) -> None:
        """Refuse a tokenizer without the special pieces."""
        missing = [name for name in SPECIAL if self.tokenizer.token_to_id(name) is None]
        if missing:
            raise VocabularyError(f"the tokenizer has no piece {missing[0]}, which masked-LM training needs")

    @property
    def size(self) -> int:
        """Number of pieces."""
        return int(self.tokenizer.get_vocab_size())

    @cached_property
    def special(self) -> dict[str, int]:
        """The ids of the special pieces, by name."""
        return {name: int(self.tokenizer.token_to_id(name)) for name in SPECIAL}

    @cached_property
    def ordinary(self) -> npt.NDArray[np.int64]:
        """[piece] The ids of all pieces that are not special, in order."""
        return np.setdiff1d(np.arange(self.size), list(self.special.values()))

    def piece(self, word: str) -> int:
        """Return the id of a word that is one piece; raises VocabularyError for one that is not."""
        ids = self.tokenizer.encode(word, add_special_tokens=False).ids
        if len(ids) != 1 or ids[0] in self.special.values():
            raise VocabularyError(f"{word!r} is {len(ids)} pieces of the vocabulary, or an unknown one; expected one")
        return int(ids[0])

    @cached_property
    def begins(self) -> npt.NDArray[np.bool_]:
        """[vocab] Whether a piece begins a word.

        WordPiece says so itself ("##" goes on); of a byte-level BPE a word is what lies between white space.
        """
        pieces = [self.tokenizer.id_to_token(number) or "" for number in range(self.size)]
        marked = any(piece.startswith("Ġ") for piece in pieces)
        begins = np.array([piece.startswith("Ġ") if marked else not piece.startswith("##") for piece in pieces])
        begins[list(self.special.values())] = True
        return begins

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the tokenizer."""
        return tokenizer_fingerprint(self.tokenizer)

    def encode(self, texts: Iterable[str], together: int = 1000) -> Iterable[npt.NDArray[np.int32]]:
        """Yield the pieces of each text, without special ones; what looks like "[MASK]" in a text is text."""
        from tokenizers import Tokenizer

        plain = Tokenizer.from_str(self.tokenizer.to_str())
        plain.encode_special_tokens = True
        plain.no_truncation()
        plain.no_padding()
        stream = iter(texts)
        while batch := list(islice(stream, together)):
            for encoding in plain.encode_batch_fast(batch, add_special_tokens=False):
                yield np.array(encoding.ids, np.int32)
