"""Spans of English text that a corpus marks without a tree: their words, their head word and its part of speech."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

_WORD = re.compile(
    r"\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\w+(?:['’-](?!(?:s|re|ve|ll|d|m)\b)\w+)*|\S", re.IGNORECASE
)

_PRONOUNS = """
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves themself who whom whose which that this these those one
    someone somebody anyone anybody everyone everybody no-one nobody something anything everything nothing
    thou thee thy thine thyself ye
"""
PRONOUNS = frozenset(_PRONOUNS.split())
"Words that are pronouns where they are the head of a mention."

_AFTER_HEAD = """
    , ; : ( ) -- – — of in on at by for from with without to into onto upon about over under between among against
    across behind beside near within through during before after than like who whom whose which that where when and or
    & as
"""
AFTER_HEAD = frozenset(_AFTER_HEAD.split())
"Words after which the head of a noun phrase cannot come: what follows them modifies it or stands beside it."

POSSESSIVE = frozenset(("'s", "’s", "'", "’"))


def word_spans(text: str, borders: Collection[int] = ()) -> list[tuple[int, int]]:
    """Return first character and end of every word; no word goes across one of `borders`.

    Clitics are words of their own, as in treebanks, and so is every mark of punctuation.

    >>> [text[begin:end] for text in ["Ada's boat didn't sink."] for begin, end in word_spans(text)]
    ['Ada', "'s", 'boat', 'did', "n't", 'sink', '.']
    """
    spans: list[tuple[int, int]] = []
    for found in _WORD.finditer(text):
        inside = sorted({border for border in borders if found.start() < border < found.end()})
        spans.extend(pairwise([found.start(), *inside, found.end()]))
    return spans


def blanks_after(text: str, spans: Sequence[tuple[int, int]]) -> tuple[bool, ...]:
    """Return whether white space, or the end of the text, follows each of the spans."""
    return tuple(not text[end : end + 1].strip() for _, end in spans)


def head_of(words: Sequence[str]) -> int:
    """Return the index of the head of an English noun phrase that is given by its words alone.

    The head is the last word before what can only follow it (AFTER_HEAD: a preposition, comma, relative pronoun or
    conjunction); a possessive mark and punctuation are no head. So of names it is the last word, and of a coordination
    that of its first part. The mentions of GUM dev, which has trees, measure the rule: see
    `tests/probes/corpora/test_spans.py`.

    >>> [head_of(phrase.split()) for phrase in ("the old keys to the cabinet", "Ada 's youngest brother", "Mrs. Byron")]
    [2, 3, 1]
    """
    end = next((i for i, word in enumerate(words) if i and word.lower() in AFTER_HEAD), len(words))
    last = end - 1
    while last > 0 and (words[last] in POSSESSIVE or not any(letter.isalnum() for letter in words[last])):
        last -= 1
    return last


def kind_of_head(word: str, *, name: bool) -> str:
    """Return the universal part of speech of a mention's head by its form; `name` says that it is written as one."""
    if word.lower() in PRONOUNS:
        return "PRON"
    return "PROPN" if name else "NOUN"
