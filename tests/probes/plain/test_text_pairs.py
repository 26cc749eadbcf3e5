"""Pairs of texts are read from tables, data sets and lists, as one item whose texts are told apart."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from probes.corpora.corpus import Corpus
from probes.corpora.windows import cut, windows
from probes.plain.raw_text import RawText
from probes.plain.spacy_pipeline import open_plain
from probes.plain.text_tables import DatasetTexts
from probes.records import Document, Sentence
from probes.scoring.hashed_random import shuffled_places
from tests.probes.text_pairs import reordered, text_pair

ROWS = [("It fell. It broke.", "Nothing, then."), ("Go", "")]
READ = [(("It", "fell", ".", "It", "broke", "."), ("Nothing", ",", "then", ".")), (("Go",),)]


def read(source: Any, **how: Any) -> list[tuple[tuple[str, ...], ...]]:
    texts = open_plain(RawText(source, **how)).sentences()
    return [text.texts for text in texts.take(range(len(texts)))]


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table in the format that its suffix names, or as a data set of the library `datasets`."""
    import datasets

    written = {
        ".csv": lambda: frame.to_csv(path, index=False),
        ".tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
        ".jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        ".json": lambda: frame.to_json(path, orient="records"),
        ".parquet": lambda: frame.to_parquet(path),
        ".saved": lambda: datasets.Dataset.from_pandas(frame).save_to_disk(path),
    }
    written[path.suffix]()


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".json", ".parquet"])
@pytest.mark.parametrize(("columns", "how"), [(("text", "text_pair"), {}), (("q", "a"), {"column": "q", "pair": "a"})])
def test_two_columns_of_a_table_are_pairs(tmp_path: Path, suffix: str, columns: tuple[str, str], how: Any) -> None:
    path = tmp_path / f"a{suffix}"
    write_table(pd.DataFrame([("x", *row) for row in ROWS], columns=["id", *columns]), path)
    assert read(path, **how) == READ
    if not how:
        assert read(path, pair="") == [(READ[0][0][:3],), (READ[0][0][3:],), READ[1]]


def test_a_data_set_on_disk_and_lists_give_the_same_pairs(tmp_path: Path) -> None:
    path = tmp_path / "a.saved"
    write_table(pd.DataFrame(ROWS, columns=["text", "text_pair"]), path)
    assert read(path) == read((ROWS[0], "Go")) == read((READ[0], "Go")) == READ
    assert [*DatasetTexts(str(path))] == [one for one, _ in ROWS], "a training reads the column that it names"


GROUPED: list[dict[str, Any]] = [
    {"text": "Ann ran.", "text_pair": "Yes."},
    {"text": "Bo sat.", "text_pair": "Yes."},
    {"text": " Ann ran.", "text_pair": "No."},
    {"text": "Cy fell.", "text_pair": "It is so.", "group": "g"},
    {"text": "Di left.", "text_pair": "It is not.", "group": "g"},
    {"text": "Ann ran.", "text_pair": "It may be.", "group": "g"},
    {"text": "Ann ran."},
]
"Rows 1 and 3 share their first text, 4 to 6 their group, and 1 and 2 their second text alone; the last is no pair."


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "json", "parquet", "saved"])
def test_pairs_with_one_first_text_or_group_are_one_document_on_one_side_of_a_split(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"a.{suffix}"
    write_table(pd.DataFrame(GROUPED), path)
    corpus = open_plain(RawText(path))
    ids, sentences = corpus.sentences().ids(), [one.sentences[0].id for one in corpus.stream()]
    assert [ids.index(name) for name in ids] == [0, 1, 0, 3, 3, 3, 6]
    assert len({*sentences}) == 7
    assert [one.id for one in corpus.stream() if one.id == ids[0]] == [ids[0]] * 2
    halves = [{*half.sentences().ids()} for half in corpus.halves()]
    assert not halves[0] & halves[1]
    assert ", 6 of them pairs that are read together, in 4 documents: " in corpus.notes[0]
    sizes = {"documents": 4, "sentences": 7, "words": 39, "pairs": 6}
    assert corpus.size() == Corpus.of(corpus.stream()).size() == sizes
    assert corpus.notes[1].startswith("a: 2 pairs have the second text of a pair in another document")


def test_pairs_of_a_list_share_a_document_and_another_document_makes_another_fingerprint(tmp_path: Path) -> None:
    pairs = ((("Ann", "ran"), ("Yes",)), ("Ann ran", "No"), (("Ann", "ran"), ("No",)))
    ids = open_plain(RawText(pairs)).sentences().ids()
    assert [ids.index(name) for name in ids] == [0, 1, 0], "words of a list are not the text of a string"
    prints = set()
    for group in ("g", "h"):
        rows = [
            {"text": "Ann ran.", "text_pair": "Yes.", "group": "g"},
            {"text": "Bo.", "text_pair": "No.", "group": group},
        ]
        (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        prints.add(open_plain(RawText(tmp_path / "a.jsonl")).fingerprint)
    assert len(prints) == 2


def test_a_blank_second_text_makes_no_pair_and_a_blank_first_one_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,text_pair\nGo,\nRun,  \n ,No\nSit,Yes\n", encoding="utf-8")
    given = (("Go", ""), (("Run",), ()), ((), ("No",)), ("Sit", "Yes"))
    assert read(tmp_path / "a.csv") == read(given) == [(("Go",),), (("Run",),), (("Sit",), ("Yes",))]
    assert "1 rows without a text are left out" in open_plain(RawText(given)).notes[0]


def test_words_of_a_list_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": ["don't", "go"], "text_pair": ["New York"]}) + "\n", encoding="utf-8")
    assert read(path) == [(("don't", "go"), ("New York",))]


def test_a_pair_is_never_cut_and_fingerprints_know_where_it_is_parted() -> None:
    pair = text_pair("abcdef", "ghij")
    assert [*windows(pair, 3)] == [pair]
    assert cut(pair, 3) == cut(Document("d", ()), 3)
    moved = [Corpus.of([text_pair("ab", "cd")]), Corpus.of([text_pair("a", "bcd")]), Corpus.of([text_pair("abcd", "")])]
    assert len({corpus.fingerprint for corpus in moved}) == 3
    with pytest.raises(ValueError, match="4 words, but the second text begins at word 4"):
        Sentence("s", tuple("abcd"), np.full(4, -1), ("",) * 4, second=4)


def test_words_are_shuffled_within_their_text() -> None:
    changed = 0
    for pair in reordered(20, seed=3):
        places = shuffled_places(pair, seed=0)
        assert sorted(places[:5]) == [*range(5)]
        assert sorted(places) == [*range(11)]
        changed += (places != np.arange(11)).any()
    assert changed > 15
