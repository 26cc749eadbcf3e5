"""The benchmark of ablation: both sides do all heads on all texts, and a goal that is missed is told."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from experiments.bench import ablate as bench_ablate
from mha import load_model
from mha.planted.heads import word_model
from probes import Corpus, Document

RECORD = {"processor": "a CPU", "cores": 2, "threads": 2, "corpus": "EWT dev", "sentences": 500, "heads": 72}


def test_the_goal_is_the_ratio_of_all_parts() -> None:
    record = {**RECORD, "seconds": {bench_ablate.PLAIN: [2.0, 6.0], bench_ablate.SWEEP: [1.0, 2.0]}}
    assert bench_ablate.goal(record).value == 3 / 8
    said = bench_ablate.blocks(record)["ablation cost"]
    assert f"| {bench_ablate.SWEEP} | 3.0 |" in said
    assert "| 0.375 | at most 0.33 | **missed** |" in said


@pytest.mark.parametrize(
    ("corpus", "sweep", "kept", "code"), [("EWT dev", 3.0, True, 0), ("the grammar", 4.0, False, 1)]
)
def test_the_record_is_that_of_ewt_and_the_end_is_by_the_goal(
    corpus: str, sweep: float, kept: bool, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [Document("one", ())] * bench_ablate.SENTENCES
    page, record = tmp_path / "cost.md", tmp_path / "times.json"
    page.write_text("<!-- ablation cost -->\n<!-- end -->\n", encoding="utf-8")
    monkeypatch.setattr(bench_ablate, "PAGES", (page,))
    monkeypatch.setattr(bench_ablate, "RECORD", record)
    small = word_model(["ship"], layers=2, heads=5, head_dim=4, positions=8, seed=0)
    monkeypatch.setattr(bench_ablate, "load_model", lambda name: small)
    monkeypatch.setattr(bench_ablate, "sentences", lambda count: (corpus, texts[:count]))
    seconds = {bench_ablate.PLAIN: [10.0], bench_ablate.SWEEP: [sweep]}
    monkeypatch.setattr(bench_ablate, "time_all", lambda *how: seconds)
    assert _exit_code(monkeypatch) == code
    assert record.is_file() == kept
    assert ("every head ablated" in page.read_text(encoding="utf-8")) == kept


def test_without_its_model_the_benchmark_ends_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_ablate, "load_model", lambda name: load_model("minilm/that/is/not/there"))
    assert _exit_code(monkeypatch) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("bench: unknown model 'minilm/that/is/not/there'")


def _exit_code(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setattr(sys, "argv", ["bench_ablate"])
    threads = torch.get_num_threads()
    with pytest.raises(SystemExit) as ended:
        bench_ablate.main()
    torch.set_num_threads(threads)
    return ended.value.code


def test_there_is_a_plain_pass_for_every_head_and_every_text_is_swept_once(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[tuple[str, int]] = []

    def cut(texts: Sequence[Document]) -> list[list[int]]:
        return [[1] for _ in texts]

    def sweep(model: object, texts: Sequence[Document], heads: int) -> None:
        done.append(("sweep", len(texts) * heads))

    monkeypatch.setattr(bench_ablate, "plain_texts", cut)
    monkeypatch.setattr(bench_ablate, "plain_pass", lambda: lambda ids: done.append(("plain", len(ids))))
    monkeypatch.setattr(bench_ablate, "_sweep", sweep)
    model = word_model(["ship"], layers=2, heads=5, head_dim=4, positions=8, seed=0)
    corpus = Corpus.generated(3, seed=0).sentences()
    texts = corpus.take(range(len(corpus)))
    seconds = bench_ablate.time_all(model, texts, 3)
    warm, timed = done[:2], done[2:]
    assert [name for name, _ in warm] == ["plain", "sweep"]
    assert sum(read for name, read in timed if name == "plain") == 10 * len(texts)
    assert sum(read for name, read in timed if name == "sweep") == 10 * len(texts)
    assert "".join(name[0] for name, _ in timed) == "pppspppspppps"
    assert [len(times) for times in seconds.values()] == [3, 3]
