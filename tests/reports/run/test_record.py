"""The record of a run: read as it is written, and refused where a part is missing or of another type."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reports.run.record import CorpusFacts, ListFacts, Lost, ModelFacts, ReadTexts, RunRecord, read_record
from tests.reports.conftest import run_record

WHOLE = RunRecord(
    name="one",
    headscope="0.1.0",
    started="2026-11-02T08:09:10Z",
    resumed=("random weights (sentences)", "ablation"),
    workers="2 local workers, 1 thread each",
    peak_memory_mb=812,
    versions={"torch": "2.13.0"},
    python="3.12.1",
    platform="Linux x86_64",
    cores=4,
    git_commit="0123abcd+",
    threads=2,
    wall_seconds=61.0,
    seed=0,
    device="cpu",
    model=ModelFacts("tiny", "train", "bert", 2, 4, 48, "ab12"),
    corpora={"select": CorpusFacts("a", "f0", 1, 20, 300), "report": CorpusFacts("b", "f1", 2, 40, 600)},
    frequencies=ListFacts("words.txt", "cd34"),
    stages={"statistics": 1.5},
    dropped=(Lost("report", "sentence", "too long", 3, ("a", "b")), Lost("select", "window", "mention", 1)),
    scored={"report": {"sentence": ReadTexts(9, 80, 99, 3)}},
    notes=("a note",),
    command="headscope run one.toml",
    facts={"patching": {"items": 4, "clean": 4.25, "why_no_direct": "post-norm"}},
)
"Every part of it."


def test_what_is_written_is_read_back_equal(tmp_path: Path) -> None:
    WHOLE.write(tmp_path / "run.json")
    assert read_record(tmp_path / "run.json") == WHOLE
    written = (tmp_path / "run.json").read_bytes()
    read_record(tmp_path / "run.json").write(tmp_path / "run.json")
    assert (tmp_path / "run.json").read_bytes() == written


def test_parts_stand_in_the_order_of_the_record(tmp_path: Path) -> None:
    WHOLE.write(tmp_path / "run.json")
    written = json.loads((tmp_path / "run.json").read_text())
    assert list(written) == list(vars(WHOLE))
    lost = {"split": "report", "scope": "sentence", "reason": "too long", "count": 3, "examples": ["a", "b"]}
    assert [*written["dropped"][0].items()] == [*lost.items()]


def test_what_a_run_did_not_do_is_left_out_and_what_it_does_not_know_is_null(tmp_path: Path) -> None:
    replace(WHOLE, git_commit=None, command=None, frequencies=None).write(tmp_path / "run.json")
    written = json.loads((tmp_path / "run.json").read_text())
    assert written["git_commit"] is None
    assert {"command", "frequencies"}.isdisjoint(written)


def read(values: Any, folder: Path) -> RunRecord:
    (folder / "run.json").write_text(json.dumps(values))
    return read_record(folder / "run.json")


def test_keys_that_are_not_known_are_passed_over(tmp_path: Path) -> None:
    assert read({"model": {"name": "m", "later": 1}, "later": 1}, tmp_path) == RunRecord(model=ModelFacts("m"))


def test_a_split_without_a_corpus_has_one_without_facts() -> None:
    assert WHOLE.corpus("report") == WHOLE.corpora["report"]
    assert RunRecord().corpus("report") == CorpusFacts()


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"seed": "0"}, 'seed: expected a valid integer, got "0"'),
        ({"model": None}, "model: expected an object, got null"),
        ({"model": {"layers": 6.5}}, "model.layers: expected a valid integer, got 6.5"),
        ({"corpora": {"report": {"words": "many"}}}, 'corpora.report.words: expected a valid integer, got "many"'),
        ({"dropped": {}}, "dropped: expected a valid array, got {}"),
        ({"stages": {"score": "long"}}, 'stages.score: expected a valid number, got "long"'),
    ],
)
def test_a_part_that_is_missing_or_of_another_type_is_named_with_its_file(
    part: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="run again to make a new one") as caught:
        read(run_record() | part, tmp_path)
    assert str(caught.value) == f"{tmp_path / 'run.json'}: {said}; run again to make a new one"
