import os
from pathlib import Path

import pytest

from probes import CorpusError
from probes.minimal_pairs import LeftOut, MinimalPair
from probes.pairs.corpora import NAMED_PAIRS, open_pairs
from tests.fuzz import seeds

SHIP = "True\tthe ship sinks\nFalse\tthe ship sink\n"
SHIPS = "True\tthe ships sink\nFalse\tthe ships sinks\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of two files with three and two pairs, and of what is none."""
    (tmp_path / "b.txt").write_text(SHIP + SHIPS, "utf-8")
    (tmp_path / "a.txt").write_text(SHIPS * 3, "utf-8")
    (tmp_path / "README.md").write_text("about", "utf-8")
    (tmp_path / "SOURCE.txt").write_text("about", "utf-8")
    return tmp_path


@pytest.mark.parametrize("revision", ["", "@main"])
def test_multiblimp_is_read_from_a_data_set_of_the_hub_that_was_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    """The hub's cache, as `huggingface_hub` lays it out, is in the place of the hub."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    kept = tmp_path / "datasets--jumelet--multiblimp"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("c0ffee", "utf-8")
    (kept / "snapshots" / "c0ffee" / "deu").mkdir(parents=True)
    (kept / "snapshots" / "c0ffee" / "deu" / "data.tsv").write_bytes(seeds.MULTIBLIMP)
    (tmp_path / "a.tsv").write_bytes(seeds.MULTIBLIMP)
    name = f"hub:jumelet/multiblimp/deu/data.tsv{revision}"
    found = open_pairs(name)
    assert found.name == "multiblimp-deu-data"
    assert found.count() == open_pairs(str(tmp_path / "a.tsv")).count()
    with pytest.raises(CorpusError, match="not in the cache, and the hub is not reachable; unset HF_HUB_OFFLINE"):
        open_pairs("hub:jumelet/multiblimp/xyz/data.tsv")


def test_first_takes_that_many_of_each_file(folder: Path) -> None:
    assert [pair.kind.paradigm for pair in open_pairs(str(folder), first=1).stream()] == ["a", "b"]
    assert len(list(open_pairs("grammar", first=7).stream())) == 7


def test_the_grammar_needs_no_data_and_gives_its_usual_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_DATA", "/nowhere")
    monkeypatch.setattr("probes.pairs.corpora.GRAMMAR_PAIRS", 30)
    one, same, other = (open_pairs("grammar", seed=seed).count() for seed in (1, 1, 2))
    assert one[0] == other[0] == 30
    assert one == same
    assert one[1] != other[1]


def test_a_named_corpus_is_looked_up_under_headscope_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    with pytest.raises(CorpusError, match=r"pairs 'linzen' are not at .*; set HEADSCOPE_DATA to the folder that holds"):
        open_pairs("linzen")
    (tmp_path / "opensesame").mkdir()
    (tmp_path / "opensesame" / "agr.0.tsv").write_text("the ship can sink\t2\t0 1\t\n", "utf-8")
    (tmp_path / "opensesame" / "SOURCE.txt").write_text("somewhere", "utf-8")
    corpus = open_pairs("opensesame")
    assert corpus.name == "opensesame"
    assert [pair.good for pair in corpus.stream()] == [("the", "ship", "does", "sink")]


def test_escapes_in_pairs_are_read_and_a_pair_the_other_way_round_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("True\t-LRB- it sinks\nFalse\t-LRB- it sink\nTrue\t( it sink\nFalse\t( it sinks\n", "utf-8")
    pair, again = open_pairs(str(path)).stream()
    assert isinstance(pair, MinimalPair)
    assert isinstance(again, LeftOut)
    assert (pair.good, again.reason[:35]) == (("(", "it", "sinks"), "the same two sentences, the other w")


def test_first_takes_so_many_of_each_paradigm_of_a_file(tmp_path: Path) -> None:
    names = ("sen", "wrong_sen", "phenomenon", "lang", "grammatical_feature", "ungrammatical_feature", "wo")
    rows = [
        (f"{word} singt", f"{word} {wrong}", "SV-#", "deu", "SG", other, "SV")
        for other, wrong in (("PL", "singen"), ("DU", "singten"))
        for word in ("Kind", "Hund", "Mann")
    ]
    lines = "".join("\t".join(row) + "\n" for row in (names, *rows))
    (tmp_path / "deu").mkdir()
    (tmp_path / "deu" / "data.tsv").write_text(lines, encoding="utf-8")
    corpus = open_pairs(str(tmp_path / "deu"), first=2)
    kinds = [item.kind.paradigm for item in corpus.stream()]
    assert (corpus.name, kinds) == ("deu", ["deu SV-# SG -> PL"] * 2 + ["deu SV-# SG -> DU"] * 2)


@pytest.mark.parametrize(
    ("name", "items", "lost"),
    [
        *[("blimp", 67 * 5, 0), ("linzen", 5, 0), ("goldberg", 5, 1)],
        *[("marvin-linzen", 22 * 5, 0), ("opensesame", 15 * 5, 4)],
    ],
)
def test_the_real_files_are_read(name: str, items: int, lost: int) -> None:
    if not os.environ.get("HEADSCOPE_DATA"):
        pytest.skip("HEADSCOPE_DATA is not set: no real minimal pairs")
    assert name in NAMED_PAIRS
    found = list(open_pairs(name, first=5).stream())
    assert len(found) == items
    assert sum(isinstance(item, LeftOut) for item in found) == lost
    assert all(item.good != item.bad for item in found if not isinstance(item, LeftOut))
