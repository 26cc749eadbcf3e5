"""The tokenizer of a model's folder, as `transformers` loads and configures it, and whether its pieces fit words."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from mha.cache import kept
from mha.files import refuse_pointer
from mha.models.packages import ModelError
from mha.pieces import align

VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model", "*.tiktoken")
"A model folder holds one of these; without any, `transformers` would make a tokenizer that knows no words."

SETTINGS = ("config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt")
"What else decides how texts are cut."

SPECIAL = ("pad", "unk", "cls", "sep", "mask", "bos", "eos")
"Roles of special tokens, as `transformers` names them."

SENTENCES = (
    ("The", "keys", "to", "the", "cabinet", "aren't", "here", ",", "Zoë", "!"),
    ("naïve", "COBALT-60", "(", "2,019", "€", ")", "she", "smiled", "😀", "…"),
    ("Ключи", "лежат", "там", ".", "Tämä", "äänestyspäivä", "İstanbul'da"),
    ("钥匙", "在", "这里", "。", "鍵はここ", "المفاتيح", "هنا", "चाबियाँ", "ที่นี่"),
)
"Words of several scripts, with punctuation, capitals, accents, digits and an emoji, on which a tokenizer is tried."

ADVICE = 'a tokenizer_config.json that says {"tokenizer_class": "PreTrainedTokenizerFast"}'
"With it `transformers` reads tokenizer.json as it stands."

LAYOUT = 4
"Part of every key: raise it when what is kept of a tokenizer, or checked, changes."


@dataclass(frozen=True)
class PairForm:
    """How a tokenizer writes a pair of texts."""

    separator: int | None = None
    "Piece behind the first text, after which pieces have the second type; None where all have one type."
    refused: str = ""
    "Why pairs cannot be read."

    @classmethod
    def of(cls, tokenizer: Any, theirs: Any) -> PairForm:
        """Return how a tokenizer of `transformers` writes pairs; `tokenizer` is what is made of it here."""
        words = (*SENTENCES[0], *SENTENCES[1])
        try:
            (pieces,) = align(tokenizer, [words], None, [len(SENTENCES[0])])
            expected = theirs(*map(" ".join, SENTENCES[:2]), split_special_tokens=True)
        except BaseException as error:
            if not _of_tokenizers(error):
                raise
            return cls(None, f"its tokenizer cannot cut a pair of texts ({error})")
        if pieces.ids.tolist() != expected["input_ids"]:
            return cls(None, "its tokenizer cuts a pair of texts in another way than its call does")
        if not any(types := expected.get("token_type_ids", ())):
            return cls()
        separator = pieces.ids[types.index(1) - 1] if 1 in types else -1
        if second_type(pieces.ids, separator).tolist() == types:
            return cls(int(separator))
        return cls(None, "the types that its tokenizer gives to the pieces of a pair are not known")


def second_type(ids: Any, separator: int) -> Any:
    """Return 1 at the pieces behind the first `separator` of each row of ids [..., piece], an array or tensor, else 0.

    These are the types, or segments, that tokenizers give to the pieces of a pair; of a single text all are 0.
    """
    ends = (ids == separator) * 1
    return (ends.cumsum(-1) - ends).clip(max=1)


def tokenizer_key(folder: Path) -> str:
    """Return a hash of all that decides how texts of a model are cut, versions of libraries included."""
    digest = hashlib.sha256(f"{LAYOUT} {version('transformers')} {version('tokenizers')}".encode())
    for name in (*SETTINGS, *VOCABULARIES):
        for path in sorted(folder.glob(name)):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:32]


def tokenizer_sha256(tokenizer: Any) -> str:
    """Return the sha256 of all that a `tokenizers.Tokenizer` does."""
    return hashlib.sha256(tokenizer.to_str().encode()).hexdigest()


def load_tokenizer(folder: Path) -> tuple[Any, dict[str, int], PairForm]:
    """Return a folder's `tokenizers.Tokenizer`, its special tokens, role (one of SPECIAL) -> piece, and its pairs.

    It is what `AutoTokenizer` makes of the folder, keeps texts whole, and cuts what looks like a special token as the
    text that it is. It is checked once and kept in the cache. Raises ModelError where the folder has no tokenizer or
    one that does not say which characters a piece covers, cuts texts in another way than its call does, or disagrees
    with its own tokenizer.json.
    """
    from tokenizers import Tokenizer

    vocabularies = [path for name in VOCABULARIES for path in folder.glob(name)]
    for path in vocabularies:
        refuse_pointer(path)
    if not vocabularies:
        raise ModelError(f"{folder}: no tokenizer, expected one of {', '.join(VOCABULARIES)}")
    found = kept("tokenizers", tokenizer_key(folder), lambda: _opened(folder))
    tokenizer = Tokenizer.from_str(found["tokenizer"])
    tokenizer.encode_special_tokens = True
    return tokenizer, found["special"], PairForm(**found["pairs"])


def _opened(folder: Path) -> dict[str, Any]:
    """Open a folder's tokenizer with `transformers`, check it, and return what is kept of it."""
    own = _file(folder / "tokenizer.json")
    theirs = _auto(folder)
    tokenizer = theirs.backend_tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()
    special = {role: piece for role in SPECIAL if (piece := getattr(theirs, f"{role}_token_id")) is not None}
    if (unknown := _unknown(tokenizer)) is not None:
        special["unk"] = unknown
    if own is not None:
        _check_file(folder, own, tokenizer)
    theirs.model_max_length = 10**9
    tokenizer.encode_special_tokens = True
    for words in (*SENTENCES, *[("the", theirs.decode([piece]).strip(), "sank") for piece in special.values()]):
        _check_cut(folder, tokenizer, theirs, words)
    pairs = asdict(PairForm.of(tokenizer, theirs))
    return {"tokenizer": tokenizer.to_str(), "special": special, "pairs": pairs}


def refuse_changed(theirs: Any, tokenizer: Any) -> None:
    """Raise ModelError where an object of `transformers` cuts texts as `tokenizer`, read from its files, does not.

    A class with rules of its own makes them anew from the vocabulary, so what was changed in memory is lost.
    """
    for text in map(" ".join, SENTENCES):
        ids = theirs(text, split_special_tokens=True)["input_ids"]
        if ids != (saved := tokenizer.encode(text)).ids:
            raise ModelError(
                f"the {type(theirs).__name__} cuts {text!r} into {_shown(theirs.convert_ids_to_tokens(ids))}, but as "
                f"transformers saves and reads it {_shown(saved.tokens)}: it was changed; give PreTrainedTokenizerFast("
                "tokenizer_object=tokenizer.backend_tokenizer, **tokenizer.special_tokens_map)"
            )


def _unknown(tokenizer: Any) -> int | None:
    """Return the piece that a tokenizer makes of what its vocabulary lacks, whatever the settings call it."""
    model: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    token = model.get("unk_token")
    piece: int | None = model.get("unk_id") if token is None else tokenizer.token_to_id(token)
    return piece


def _file(path: Path) -> Any:
    """Return the tokenizer of a tokenizer.json, None where there is none."""
    from tokenizers import Tokenizer

    if not path.is_file():
        return None
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises plain Exception
        raise ModelError(f"{path}: not a tokenizer: {error}") from error


def _auto(folder: Path) -> Any:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
    except Exception as error:  # each kind of malformed file has its own, plain Exception among them
        what = " ".join((str(error) or type(error).__name__).split())[:240]
        raise ModelError(f"{folder}: no tokenizer could be loaded: {what}") from error
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(
            f"{folder}: its tokenizer, {type(tokenizer).__name__}, cannot say which piece belongs to which word (no "
            f"fast tokenizer, which tells the characters of a piece); give it a tokenizer.json, and {ADVICE}"
        )
    return tokenizer


def _check_file(folder: Path, own: Any, tokenizer: Any) -> None:
    """Raise ModelError where tokenizer.json is not what `transformers` made of the folder, and nothing says why.

    Without tokenizer_config.json the class is guessed from the kind of model, which ignores most of tokenizer.json.
    """
    found, expected = tokenizer.get_vocab(), own.get_vocab()
    odd = next((piece for piece, number in expected.items() if found.get(piece) != number), None)
    if odd is not None:
        raise ModelError(
            f"{folder}: transformers reads {len(found)} pieces where tokenizer.json has {len(expected)}, of which "
            f"{odd!r} is lost or has another number: give it {ADVICE}"
        )
    if (folder / "tokenizer_config.json").is_file():
        return
    own.no_truncation(), own.no_padding()
    for words in SENTENCES:
        ours, file = (_encoded(folder, one, " ".join(words)) for one in (tokenizer, own))
        if ours.ids != file.ids:
            raise ModelError(
                f"{folder}: no tokenizer_config.json, and transformers cuts {' '.join(words)!r} into "
                f"{_shown(ours.tokens)}, tokenizer.json into {_shown(file.tokens)}: give it {ADVICE}"
            )


def _check_cut(folder: Path, tokenizer: Any, theirs: Any, words: tuple[str, ...]) -> None:
    """Raise ModelError where the pieces given to words are not those of the plain text, or their places are lost."""
    text = " ".join(words)
    encoding = _encoded(folder, tokenizer, text)
    (pieces,), called = align(tokenizer, [words]), theirs(text, split_special_tokens=True)
    expected = called["input_ids"]
    if any(called.get("token_type_ids", ())):
        raise ModelError(
            f"{folder}: its tokenizer gives pieces of a single text types other than 0, as which all are read"
        )
    if pieces.ids.tolist() != expected:
        shown = _shown(theirs.convert_ids_to_tokens(expected))
        raise ModelError(
            f"{folder}: its tokenizer cuts {text!r} into {shown}, without its call {_shown(encoding.tokens)}"
        )
    ends = np.array(
        [place for place, own in zip(encoding.offsets, encoding.special_tokens_mask, strict=True) if not own]
    )
    if len(ends) > 1 and ((np.diff(ends, axis=0) < 0).any() or not (ends[-1] > ends[0]).any()):
        raise ModelError(f"{folder}: its tokenizer does not say which characters of {text!r} a piece covers")


def _encoded(folder: Path, tokenizer: Any, text: str) -> Any:
    try:
        return tokenizer.encode(text)
    except BaseException as error:  # tokenizers raises plain Exception
        if not _of_tokenizers(error):
            raise
        lacks = "; add one to its vocabulary" if "UNK" in str(error) else ""
        raise ModelError(f"{folder}: its tokenizer cannot cut {text!r}: {error}{lacks}") from error


def _of_tokenizers(error: BaseException) -> bool:
    """Return whether it is an error or a panic of `tokenizers`, such as that of a template without its token."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _shown(tokens: list[str]) -> str:
    return " ".join(tokens[:12]) + (" …" if len(tokens) > 12 else "")
