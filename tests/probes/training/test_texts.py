from collections.abc import Iterator
from pathlib import Path

import pytest

from probes.corpora.conllu import CorpusError
from probes.corpora.corpus import Corpus
from probes.grammar import generate
from probes.pairs.grammar_pairs import verb_questions
from probes.plain.text_tables import DatasetTexts
from probes.training.texts import CorpusTexts, Portion, Stretch, TextFiles


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "b.txt").write_text("the third\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("the first \n\n  \nthe second\n", encoding="utf-8")
    (tmp_path / "SOURCE.txt").write_text("where it is from\n", encoding="utf-8")
    (tmp_path / "notes.md").write_text("no text\n", encoding="utf-8")
    return tmp_path


def test_lines_that_are_not_blank_are_texts_in_the_order_of_the_files(folder: Path) -> None:
    assert [*TextFiles((folder,))] == ["the first", "the second", "the third"]
    texts = TextFiles((folder / "b.txt", folder / "a.txt"))
    assert [*texts] == [*texts] == ["the third", "the first", "the second"]


def test_a_file_may_be_one_text(folder: Path) -> None:
    assert [*TextFiles((folder,), "file")] == ["the first \n\n  \nthe second", "the third"]


def test_the_sentences_and_documents_of_a_corpus_are_texts() -> None:
    corpus = Corpus.generated(3, seed=1)
    documents = [*generate(3, 1)]
    assert [*CorpusTexts(corpus, "document")] == [" ".join(document.words) for document in documents]
    sentences = [*CorpusTexts(corpus)]
    assert len(sentences) == sum(len(document.sentences) for document in documents)
    assert " ".join(sentences) == " ".join(CorpusTexts(corpus, "document"))
    questions = [
        " ".join(words) for text in documents for part in text.split_sentences() for words in verb_questions(part)
    ]
    assert [*CorpusTexts(corpus, "verb")] == questions
    assert len(questions) > 3
    with pytest.raises(CorpusError, match="unit is 'line'"):
        CorpusTexts(corpus, "line")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    from datasets import Dataset

    rows = {"content": ["one text", " ", "another"], "number": [1, 2, 3]}
    Dataset.from_dict(rows).save_to_disk(tmp_path / "saved")
    return tmp_path / "saved"


@pytest.mark.parametrize("streaming", [False, True])
def test_a_folder_of_files_that_datasets_reads_is_a_data_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: bool
) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "set"
    folder.mkdir()
    for split, line in (("train", "of train"), ("test", "of test")):
        (folder / f"{split}.jsonl").write_text(f'{{"text": "{line}"}}\n', encoding="utf-8")
    assert [*DatasetTexts(str(folder), streaming=streaming)] == ["of train"]
    assert [*DatasetTexts(str(folder), split="test", streaming=streaming)] == ["of test"]


def test_a_data_set_that_cannot_be_used_is_one_line(saved: Path) -> None:
    with pytest.raises(
        CorpusError, match=r"no column called 'text'; name one as column = .*: it has 'content', 'number'$"
    ):
        list(DatasetTexts(str(saved)))
    with pytest.raises(CorpusError, match=r"data set '.*': row 1: 'number' is \d+, expected a text$"):
        list(DatasetTexts(str(saved), column="number"))


def test_a_portion_and_its_rest_are_all_texts_and_a_text_is_on_one_side() -> None:
    texts = [f"text {number % 700}" for number in range(1000)]
    held_out, rest = ([*Portion(texts, 0.2, held_out=side)] for side in (True, False))
    assert sorted(held_out + rest) == sorted(texts)
    assert not set(held_out) & set(rest)
    assert 0.15 < len(held_out) / 1000 < 0.25


def test_a_stretch_reads_no_further_than_it_must() -> None:
    read: list[int] = []

    class Stream:
        def __iter__(self) -> Iterator[str]:
            for number in range(100):
                read.append(number)
                yield str(number)

    assert [*Stretch(Stream(), 2, 5)] == ["2", "3", "4"]
    assert read == [0, 1, 2, 3, 4]
    assert len([*Stretch(Stream(), 90)]) == 10
