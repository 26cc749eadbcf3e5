"""The words and sentences of plain text by the rules of spaCy for its language, which need no trained pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from probes.corpora.line_reader import CorpusError

INSTALL: Final = "pip install 'headscope[annotate]'"

SQUEEZED: Final = "white space beside the one blank between words, read as one blank"
"The remark on a token that is nothing but white space, which is left out."


@dataclass(frozen=True)
class WrittenSentence:
    """The words of a sentence as they were written."""

    words: tuple[str, ...]
    space_after: tuple[bool, ...]
    "Whether white space follows each word."
    squeezed: int
    "Number of tokens of white space that were left out."


def spacy_version() -> str | None:
    """Return the version of spaCy, None where it is not installed."""
    try:
        return version("spacy")
    except PackageNotFoundError:
        return None


def written_sentences(text: str, language: str) -> Iterator[WrittenSentence]:
    """Yield the sentences of a text that have words; raises CorpusError without spaCy, or rules for the language."""
    for sentence in rules(language)(text).sents:
        if words := [token for token in sentence if not token.is_space]:
            yield WrittenSentence(
                tuple(token.text for token in words),
                tuple(map(followed_by_space, words)),
                len(sentence) - len(words),
            )


def followed_by_space(token: Any) -> bool:
    """Return whether white space, or the end of the text, follows a token of spaCy."""
    place = token.i + 1
    return bool(token.whitespace_) or place == len(token.doc) or token.doc[place].is_space


@lru_cache(maxsize=4)
def rules(language: str) -> Any:
    """Return spaCy's tokenizer of a language ("en"), with rules for the ends of sentences."""
    spacy = spacy_module()
    try:
        blank = spacy.blank(language)
    except (ImportError, ValueError, OSError) as error:  # no such language, or one whose rules need another package
        why = str(error).splitlines()[0]
        raise CorpusError(f"language {language!r}: spaCy has no rules for its words here ({why})") from None
    blank.add_pipe("sentencizer")
    blank.max_length = 10**9  # a limit for parsers, which need memory
    return blank


def spacy_module() -> Any:
    """Return the module; raises CorpusError, with what to do, where spaCy is not installed."""
    if spacy_version() is None:
        raise CorpusError(f"plain text needs spaCy, which says what its words are: {INSTALL}")
    import spacy

    return spacy
