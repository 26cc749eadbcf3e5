"""What a person types about a model, a text and the names of heads and words, and what it means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from mha import CLS, SEP, Model, align
from mha.messages import OneLineError, nearest_name
from mha.models.maps import MAPS
from mha.pieces import Pieces
from mha.reading.cross_attention import decoder_input
from probes.corpora.spans import blanks_after, word_spans
from probes.plain.spacy_words import INSTALL, spacy_version, written_sentences
from probes.plain.text_tables import Entry, Text, is_pair
from reports.messages import head_hint

LANGUAGE: Final = "en"
"Whose rules say what the words of a typed text are."


def written(text: Entry) -> str:
    """Return a text as a page shows it, the two of a pair parted by a double bar."""
    both = (text,) if isinstance(text, str) else text
    return " ‖ ".join(one if isinstance(one, str) else " ".join(one) for one in both)


def is_one(text: object) -> bool:
    """Return whether an object is one text, a string, or one pair: a tuple of two strings or of two lists of words."""
    return isinstance(text, str) or (isinstance(text, tuple) and is_pair(text) and not isinstance(text[0], tuple))


class TypedError(OneLineError):
    """A text, or a name, that a model has no answer to."""


def typed_words(text: str) -> tuple[list[str], list[bool]]:
    """Return the words of a text, punctuation apart, and whether white space follows each.

    >>> typed_words("The keys are here.")
    (['The', 'keys', 'are', 'here', '.'], [True, True, True, False, True])
    """
    if spacy_version() is not None:
        found = [*written_sentences(text, LANGUAGE)]
        return [word for one in found for word in one.words], [blank for one in found for blank in one.space_after]
    spans = word_spans(text)
    return [text[a:b] for a, b in spans], [*blanks_after(text, spans)]


def word_rules() -> str:
    """Say by which rules a typed text has its words."""
    if (spacy := spacy_version()) is not None:
        return f"Words are split by the English rules of spaCy {spacy}; words that share a word piece are one."
    return f"Words are letters in a row, and each mark by itself ({INSTALL} has better rules)."


def as_read(model: Model, texts: Sequence[str]) -> Iterator[str]:
    """Yield how special tokens that are typed in texts are read, and white space that is more than a blank."""
    tokenizer: Any = model.tokenizer
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values() if token.special]
    put = tokenizer.encode("").tokens  # of a tokenizer whose special tokens are words of the vocabulary
    if typed := sorted({token for token in (*added, *put) if any(token in text for text in texts)}):
        yield f"Read as ordinary text, not as special tokens of {model.name}: {', '.join(typed)}."
    if any(tokenizer.encode(text).ids != tokenizer.encode(" ".join(text.split())).ids for text in texts):
        yield f"White space is read as one blank between words, which {model.name} would tell apart."


def cut(model: Model, text: Entry, *, is_target: bool = False) -> tuple[list[str], Pieces]:
    """Return the words of a text or a pair (`typed_words`; those that share a piece are one), and their pieces.

    `is_target` says that it is the target that a decoder is told, whose pieces stand as
    `mha.reading.cross_attention.decoder_input` says. Raises TypedError for a text without words, a word that the
    tokenizer turns into nothing or into a special token, and more pieces than the model reads.
    """
    name = "target" if is_target else "text"
    if not isinstance(model, Model):
        raise TypedError(f"expected a model of hs.load, which takes objects too, got {type(model).__name__}")
    check_one(text, name)
    typed = [_words(part, name) for part in ((text,) if isinstance(text, str) else text)]
    second = len(typed[0][0]) if len(typed) > 1 else 0
    if second and model.pairs.refused:
        raise TypedError(f"{model.name} reads no pairs: {model.pairs.refused}")
    words, blanks = ([one for part in both for one in part] for both in zip(*typed, strict=True))
    words, pieces = _joined(words, blanks, align(model.tokenizer, [words], [blanks], [second])[0])
    if wrong := pieces.misread(model.special):
        raise TypedError(f"{words[wrong[0]]!r} is a special token to {model.name} also where it is typed; leave it out")
    if gone := pieces.missing():
        raise TypedError(f"the tokenizer of {model.name} turns {words[gone[0]]!r} into nothing; leave it out")
    pieces = decoder_input(model, pieces) if is_target else pieces
    if len(pieces) > model.max_pieces:
        most = f"more than {model.name} reads ({model.max_pieces})"
        raise TypedError(f"the {name} has {len(pieces)} pieces, {most}: give a shorter one")
    return words, pieces


def check_one(text: object, name: str = "text") -> None:
    """Raise TypedError, which calls it `name`, for what `is_one` is not true of."""
    if not is_one(text):
        expected = "expected a string, or a pair as a tuple of two strings or of two lists of words"
        raise TypedError(f"the {name} is no text: {expected}; got {type(text).__name__}")


def _words(text: Text, name: str) -> tuple[list[str], list[bool]]:
    """Return the words of a text, and whether white space follows each; raises TypedError for what is none."""
    if any("\ud800" <= letter <= "\udfff" or letter == "\0" for letter in "".join(text)):
        raise TypedError(f"the {name} has characters that are none (NUL, or bytes that are not UTF-8): got {text!r}")
    words, blanks = typed_words(text) if isinstance(text, str) else ([*text], [True] * len(text))
    if not words:
        raise TypedError(f"the {name} has no words: expected some, got {text!r}")
    return words, blanks


def _joined(words: list[str], blanks: list[bool], pieces: Pieces) -> tuple[list[str], Pieces]:
    """Return words and pieces with words that share a piece, such as a bracket and a comma, as one word."""
    if not pieces.shared:
        return words, pieces
    joined, place = list[str](), list[int]()
    for i, word in enumerate(words):
        if i in pieces.shared:
            joined[-1] += " " * blanks[i - 1] + word
        else:
            joined.append(word)
        place.append(len(joined) - 1)
    owner = np.array([*place, SEP, CLS], np.int32)[pieces.word]  # special tokens are numbered -1 and -2
    second = place[pieces.second]
    return joined, replace(pieces, word=owner, words=len(joined), shared=(), lost=(), second=second)


def find_head(name: str, model: str, layers: int, heads: int) -> tuple[int, int]:
    """Return layer and head from 0 of a name such as "3-5"; raises TypedError where the model has no such head."""
    found = re.fullmatch(r"(\d{1,9})-(\d{1,9})", str(name), re.ASCII)
    if found is None or not (1 <= int(found[1]) <= layers and 1 <= int(found[2]) <= heads):
        known = [f"{layer + 1}-{head + 1}" for layer in range(layers) for head in range(heads)]
        raise TypedError(f"{model} has no head {name!r}; {head_hint(name, known)}")
    return int(found[1]) - 1, int(found[2]) - 1


def find_word(words: Sequence[str], word: str) -> int:
    """Return the index of the word that `word` means: a number from 1, or the word itself; raises TypedError."""
    if word.isdecimal():
        if len(word) > 9 or not 1 <= int(word) <= len(words):
            raise TypedError(f"there is no word {word}: the text has words 1 to {len(words)}")
        return int(word) - 1
    places = [i for i, one in enumerate(words) if one == word]
    if not places:
        hint = nearest_name(word, words, f"its words are {' '.join(words)}")
        raise TypedError(f"{word!r} is no word of the text; {hint}")
    if len(places) > 1:
        raise TypedError(f"{word!r} stands at {', '.join(str(i + 1) for i in places)}: give the number of the word")
    return places[0]


def check_maps(maps: str) -> None:
    """Raise TypedError for maps that are none of `mha.models.maps.MAPS`."""
    if maps not in MAPS:
        raise TypedError(f"unknown maps {maps!r}; {nearest_name(maps, MAPS)}")
