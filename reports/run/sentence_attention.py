"""The attention of every head on a few sentences: three tables of a run folder, how they are written and read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

import pandas as pd

from reports.tables.files import read_parquet, replace_file
from reports.tables.shared_columns import ONE_HEAD, QUESTION, items, place, text
from reports.tables.table import Refuse, Table

STEPS: Final = 255
"Weights are whole multiples of one part in so many."

ENDS: Final = (-1, -2)
"Keys that stand for the special tokens before and after the words."


def _check_words(frame: pd.DataFrame, refuse: Refuse) -> None:
    refuse(frame["words"].map(len) != frame["pieces"].map(len), "`words` and `pieces` differ in length")


_SENTENCE: Final = place("sentence", "Number of the sentence.")

ATTENTION_TABLES: Final[Mapping[str, Table]] = MappingProxyType(
    {
        "sentences": Table(
            "One row for each sentence that the page shows.",
            ("sentence",),
            (
                _SENTENCE,
                text("source", "Where the sentence stands in the corpus."),
                items(
                    "words", "The words of the sentence; a column `second` says where the second text of a pair begins."
                ),
                items("pieces", "The subword tokens of each word."),
                text("before", "Special token before the words; empty without one."),
                text("after", "Special token after the words; empty without one."),
            ),
            _check_words,
            csv=False,
        ),
        "gold": Table(
            "One row for each arc that is a correct answer on these sentences.",
            ("sentence", "probe", "label", "variant", "query", "key"),
            (
                _SENTENCE,
                *QUESTION,
                place("query", "The word that attends, counted from 0; -1 and -2 are the special tokens.", min(ENDS)),
                place("key", "The word that is attended to, counted as queries are.", min(ENDS)),
            ),
            csv=False,
        ),
        "attention": Table(
            "One row for each sentence and head, with equally many keys of every word, word after word.",
            ("sentence", "layer", "head"),
            (
                _SENTENCE,
                *ONE_HEAD,
                items("keys", "Most attended keys of every word, the strongest first; words from 0, or -1 and -2."),
                items("weights", f"Attention to each of these keys, as whole multiples of 1 / {STEPS}."),
            ),
            csv=False,
        ),
    }
)
"Table -> what it must hold."


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
        sentences, gold, attention = (
            table.validated(tables[name], paths[name]) for name, table in ATTENTION_TABLES.items()
        )
        words = dict(zip(sentences["sentence"], sentences["words"].map(len), strict=True))
        for name, frame in (("gold", gold), ("attention", attention)):
            ATTENTION_TABLES[name].refuse(
                frame, ~frame["sentence"].isin(words), paths[name], "`sentence` is none of sentences.parquet"
            )
        length = gold["sentence"].map(words)
        outside = gold[["query", "key"]].max(axis=1) >= length
        ATTENTION_TABLES["gold"].refuse(gold, outside, paths["gold"], "`query` or `key` is outside the sentence")
        _check_keys(attention, words, paths["attention"])
        return cls(sentences, gold, attention)

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return the tables that lie in `folder`; None where a run without sentences wrote none."""
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
    table = ATTENTION_TABLES["attention"]
    length, keys = attention["sentence"].map(words), attention["keys"].map(len)
    wrong = (keys == 0) | (keys % length != 0) | (keys != attention["weights"].map(len))
    table.refuse(attention, wrong, where, "`keys` and `weights` are not equally many of every word")
    outside = (attention["keys"].map(max) >= length) | (attention["keys"].map(min) < min(ENDS))
    table.refuse(attention, outside, where, "`keys` names a word outside the sentence")
    large = (attention["weights"].map(max) > STEPS) | (attention["weights"].map(min) < 0)
    table.refuse(attention, large, where, f"`weights` lies outside 0 to {STEPS}")


def write_attention(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write the tables of ATTENTION_TABLES into `folder`; ValueError says what is wrong with one."""
    SentenceAttention.of(tables, folder).write(folder)
