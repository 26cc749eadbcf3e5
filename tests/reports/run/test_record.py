"""The record of a run: read as it is written, and refused where a part is missing or of another type."""

import json
from pathlib import Path
from typing import Any

import pytest

from reports.run.record import CorpusFacts, ListFacts, Lost, ModelFacts, ReadTexts, RunRecord, read_record
from tests.reports.conftest import run_record

KNOWN: dict[str, Any] = {"name": "one", "headscope": "0.1.0", "started": "2026-11-02T08:09:10Z", "seed": 0}
KNOWN |= {"workers": "2 local workers", "peak_memory_mb": 812, "versions": {"torch": "2.13.0"}, "wall_seconds": 61.0}
WHOLE = RunRecord(
    **KNOWN,
    resumed=("random weights (sentences)", "ablation"),
    model=ModelFacts("tiny", "train", "bert", 2, 4, 48, "ab12"),
    corpora={"select": CorpusFacts("a", "f0", 1, 20, 300), "report": CorpusFacts("b", "f1", 2, 40, 600)},
    frequencies=ListFacts("words.txt", "cd34"),
    files={"own.py": "ef56"},
    dropped=(Lost("report", "sentence", "too long", 3, ("a", "b")), Lost("select", "window", "mention", 1)),
    scored={"report": {"sentence": ReadTexts(9, 80, 99, 3)}},
    facts={"patching": {"items": 4, "clean": 4.25, "why_no_direct": "post-norm"}},
    questions={"mine": "0f"},
)
"All but a command, which is left out, and a commit, which is null."


def test_what_is_written_is_read_back_equal_in_the_order_of_the_record(tmp_path: Path) -> None:
    WHOLE.write(tmp_path / "run.json")
    assert read_record(tmp_path / "run.json") == WHOLE
    written = json.loads((tmp_path / "run.json").read_text())
    assert list(written) == [key for key in vars(WHOLE) if key != "command"]
    assert written["git_commit"] is None


@pytest.mark.parametrize(
    ("name", "source", "title", "weights"),
    [
        ("minilm", "pretrained", "minilm", "pretrained weights"),
        ("/somebody/deep/my-bert", "pretrained", "my-bert", "weights of its folder"),
        ("/somebody/deep/my-bert", "permuted", "my-bert", "weights permuted within each matrix"),
        (None, None, "", "None"),
    ],
)
def test_a_folder_is_called_by_its_last_part_and_its_weights_are_not_called_pretrained(
    name: str | None, source: str | None, title: str, weights: str
) -> None:
    facts = ModelFacts(name, source)
    assert (facts.title, facts.weights) == (title, weights)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"model": None}, "model: expected an object, got null"),
        ({"corpora": {"report": {"words": "many"}}}, 'corpora.report.words: expected a valid integer, got "many"'),
        ({"dropped": [{}]}, "dropped.0.split is missing"),
        ({"stages": {"score": "long"}}, 'stages.score: expected a valid number, got "long"'),
    ],
)
def test_a_part_that_is_missing_or_of_another_type_is_named_with_its_file(
    part: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run_record()))
    assert read_record(path).model.name == "minilm", "keys that are not known are passed over"
    path.write_text(json.dumps(run_record() | part))
    with pytest.raises(ValueError, match="run again to make a new one") as caught:
        read_record(path)
    assert str(caught.value) == f"{path}: {said}; run again to make a new one"
