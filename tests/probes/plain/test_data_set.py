"""Texts ask the network only for what is called `hub:...`: sockets are blocked, nothing is told to be offline."""

from pathlib import Path

import pytest

from probes.corpora.conllu import CorpusError
from probes.plain.raw_text import RawText
from probes.plain.text_tables import DatasetTexts


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "train.jsonl").write_text('{"text": "here"}\n', encoding="utf-8")
    return tmp_path / "set"


def test_a_bare_name_is_never_one_of_the_hub(no_network: type[BaseException]) -> None:
    with pytest.raises(CorpusError, match=r"'some/texts': no such folder; .* is called 'hub:owner/name'$"):
        [*DatasetTexts("some/texts")]
    with pytest.raises(no_network):
        [*DatasetTexts("hub:some/texts")]


@pytest.mark.parametrize(
    ("card", "text"),
    [
        ("README.md", "---\nconfigs:\n- config_name: default\n  data_files: hf://datasets/a/b/x.jsonl\n---\n"),
        ("README.md", '---\nconfigs:\n- data_files:\n  - split: train\n    path: ["https\\x3a//a.org/x"]\n---\n'),
        (".huggingface.yaml", "configs:\n- config_name: default\n  data_files: hf://datasets/a/b/x.jsonl\n"),
    ],
)
def test_a_folder_whose_data_is_elsewhere_is_refused(
    card: str, text: str, folder: Path, no_network: type[BaseException]
) -> None:
    (folder / card).write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match=rf"{card}: its data files are elsewhere \((hf|https)://"):
        [*DatasetTexts(str(folder))]


def test_a_folder_whose_card_names_addresses_beside_its_data_is_read(
    folder: Path, no_network: type[BaseException]
) -> None:
    front = "---\nlicense_link: https://a.org\nconfigs:\n- config_name: default\n  data_files: train.jsonl\n---\n"
    (folder / "README.md").write_text(f"{front}See https://a.org.\n", encoding="utf-8")
    assert [*DatasetTexts(str(folder))] == ["here"]
    (folder / "README.md").write_text("---\nconfigs: [\n---\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"README.md: not YAML \(while parsing"):
        [*DatasetTexts(str(folder))]


def test_of_a_folder_of_tables_no_text_is_taken_as_missing_and_files_that_are_not_read_are_named(folder: Path) -> None:
    (folder / "train.jsonl").unlink()
    for name, rows in {"train": "text\nNA\nnull\n\nso\n", "reviews": "text\nhere\n"}.items():
        (folder / f"{name}.csv").write_text(rows, encoding="utf-8")
    raw = RawText(folder)
    assert [one.text for one in raw.texts()] == ["NA", "null", "so"]
    assert "1 other file of the folder is not read (reviews.csv)" in raw.notes()[0]
    (folder / "train.csv").rename(folder / "one.csv")
    (folder / "reviews.csv").write_text("text,label\nhere,1\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"cannot be opened: .*label.*; give its files the same columns, or"):
        [*RawText(folder).texts()]
