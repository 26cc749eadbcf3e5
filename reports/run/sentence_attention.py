"""The attention of every head on a few sentences: three tables of a run folder, how they are written and read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

import pandas as pd

from reports.tables.schema import read_parquet, refuse, replace_file, typed

STEPS: Final = 255
"Weights are whole multiples of one part in so many."

ENDS: Final = (-1, -2)
"Keys that stand for the special tokens before and after the words."

ATTENTION_TABLES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "sentences": {
            "sentence": "int64",
            "source": "str",
            "words": "object",
            "pieces": "object",
            "before": "str",
            "after": "str",
        },
        "gold": {
            "sentence": "int64",
            "probe": "str",
            "label": "str",
            "variant": "str",
            "query": "int64",
            "key": "int64",
        },
        "attention": {
            "sentence": "int64",
            "layer": "int64",
            "head": "int64",
            "name": "str",
            "keys": "object",
            "weights": "object",
        },
    }
)
"""Table -> column -> dtype. sentences: words, the pieces of each, and the special tokens before and after them. gold:
an arc that is right, from the attending word. attention: a row a sentence and head, with equally many keys of every
word, word after word, the strongest key first, and their weights in STEPS. Keys are words from 0, or ENDS."""


@dataclass(frozen=True)
class SentenceAttention:
    """What every head does on the sentences that a page shows."""

    sentences: pd.DataFrame
    gold: pd.DataFrame
    attention: pd.DataFrame

    @classmethod
    def of(cls, tables: Mapping[str, pd.DataFrame], folder: Path) -> Self:
        """Return the tables in order; ValueError says which one cannot be, in one line that begins with its path."""
        paths = {name: folder / f"{name}.parquet" for name in ATTENTION_TABLES}
        found = {name: typed(tables[name], columns, paths[name]) for name, columns in ATTENTION_TABLES.items()}
        sentences, gold, attention = found["sentences"], found["gold"], found["attention"]
        twice = "two rows have the same {}"
        for name, key in (("sentences", ["sentence"]), ("attention", ["sentence", "layer", "head"])):
            refuse(found[name], found[name].duplicated(key), paths[name], twice.format(", ".join(key)), key)
        words = dict(zip(sentences["sentence"], sentences["words"].map(len), strict=True))
        uneven = sentences["words"].map(len) != sentences["pieces"].map(len)
        refuse(sentences, uneven, paths["sentences"], "`words` and `pieces` differ in length", ("sentence",))
        for name in ("gold", "attention"):
            strange = ~found[name]["sentence"].isin(words)
            refuse(found[name], strange, paths[name], "`sentence` is none of sentences.parquet", ("sentence",))
        least, length = min(ENDS), gold["sentence"].map(words)
        outside = (gold[["query", "key"]].max(axis=1) >= length) | (gold["key"] < least) | (gold["query"] < least)
        refuse(gold, outside, paths["gold"], "`query` or `key` is outside the sentence", ("sentence", "label"))
        _check_keys(attention, words, paths["attention"])
        return cls(sentences, gold, attention)

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return the tables that lie in `folder`; None where an older run, or one without sentences, wrote none."""
        paths = {name: folder / f"{name}.parquet" for name in ATTENTION_TABLES}
        if not paths["attention"].is_file():
            return None
        return cls.of({name: read_parquet(path) for name, path in paths.items()}, folder)

    def write(self, folder: Path) -> None:
        """Write the tables into `folder`, that of attention last: it says that the others are there."""
        for name in ATTENTION_TABLES:
            replace_file(getattr(self, name), folder / f"{name}.parquet")


def _check_keys(attention: pd.DataFrame, words: Mapping[int, int], where: Path) -> None:
    """Refuse rows whose keys are not equally many of every word, or lie outside of the sentence."""
    about = ("sentence", "name")
    length, keys = attention["sentence"].map(words), attention["keys"].map(len)
    wrong = (keys == 0) | (keys % length != 0) | (keys != attention["weights"].map(len))
    refuse(attention, wrong, where, "`keys` and `weights` are not equally many of every word", about)
    outside = (attention["keys"].map(max) >= length) | (attention["keys"].map(min) < min(ENDS))
    refuse(attention, outside, where, "`keys` names a word outside the sentence", about)
    large = (attention["weights"].map(max) > STEPS) | (attention["weights"].map(min) < 0)
    refuse(attention, large, where, f"`weights` lies outside 0 to {STEPS}", about)


def write_attention(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write the tables of ATTENTION_TABLES into `folder`; ValueError says what is wrong with one."""
    SentenceAttention.of(tables, folder).write(folder)
