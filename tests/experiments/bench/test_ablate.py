"""The benchmark of ablation: both sides do all heads on all texts, and a goal that is missed is told."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from experiments.bench import ablate as bench_ablate
from mha import Model, load_model
from mha.planted.heads import word_model
from probes import Corpus, Document

RECORD = {
    "processor": "a CPU",
    "bf16 instructions": None,
    "cores": 2,
    "threads": 2,
    "corpus": "EWT dev",
    "sentences": 500,
    "heads": 72,
}
EFFECTS = {"mean in fp32": 0.0123, "largest difference": 0.00045, "rank correlation": 0.9987}


def test_the_goals_are_the_ratios_of_all_parts() -> None:
    seconds = {bench_ablate.PLAIN: [2.0, 6.0], bench_ablate.SWEEP: [1.0, 2.0], bench_ablate.BF16: [1.0, 1.0]}
    record = {**RECORD, "seconds": seconds, "effects in bf16": EFFECTS}
    assert [goal.value for goal in bench_ablate.goals(record)] == [3 / 8, 2 / 8]
    said = bench_ablate.blocks(record)["ablation cost"]
    assert f"| {bench_ablate.SWEEP} | 3.0 |" in said
    assert "every head ablated in fp32, over as many plain passes in fp32 | 0.375 | at most 0.33 | **missed** |" in said
    assert "every head ablated in bf16, over as many plain passes in fp32 | 0.25 | at most 0.33 | met |" in said
    assert "The largest difference between a head's effect in bf16 and in fp32 is 4.5e-04" in said


def test_differences_are_those_of_the_mean_effects_of_heads() -> None:
    found = bench_ablate.differences(torch.tensor([0.5, 0.25, 0.0]), torch.tensor([0.5, 0.0, 0.125]))
    assert found == {"mean in fp32": 0.25, "largest difference": 0.25, "rank correlation": pytest.approx(0.5)}


@pytest.mark.parametrize(
    ("corpus", "sweeps", "kept", "code"),
    [("EWT dev", (3.0, 3.0), True, 0), ("the grammar", (3.0, 4.0), False, 1), ("EWT dev", (4.0, 3.0), True, 1)],
)
def test_the_record_is_that_of_ewt_and_the_end_is_by_the_goal(
    corpus: str, sweeps: tuple[float, float], kept: bool, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [Document("one", ())] * bench_ablate.SENTENCES
    page, record = tmp_path / "cost.md", tmp_path / "times.json"
    page.write_text("<!-- ablation cost -->\n<!-- end -->\n", encoding="utf-8")
    monkeypatch.setattr(bench_ablate, "PAGES", (page,))
    monkeypatch.setattr(bench_ablate, "RECORD", record)
    small = word_model(["ship"], layers=2, heads=5, head_dim=4, positions=8, seed=0)
    monkeypatch.setattr(bench_ablate, "load_model", lambda name: small)
    monkeypatch.setattr(bench_ablate, "sentences", lambda count: (corpus, texts[:count]))
    seconds = {bench_ablate.PLAIN: [10.0], bench_ablate.SWEEP: [sweeps[0]], bench_ablate.BF16: [sweeps[1]]}
    monkeypatch.setattr(bench_ablate, "time_all", lambda *how: {"seconds": seconds, "effects in bf16": EFFECTS})
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

    def sweep(model: Model, texts: Sequence[Document], heads: int) -> Tensor:
        done.append((model.precision, len(texts) * heads))
        return torch.arange(heads).double()[:, None].expand(-1, len(texts)) / (8 if model.precision == "bf16" else 4)

    monkeypatch.setattr(bench_ablate, "plain_texts", cut)
    monkeypatch.setattr(bench_ablate, "plain_pass", lambda: lambda ids: done.append(("plain", len(ids))))
    monkeypatch.setattr(bench_ablate, "_sweep", sweep)
    model = word_model(["ship"], layers=2, heads=5, head_dim=4, positions=8, seed=0)
    corpus = Corpus.generated(3, seed=0).sentences()
    texts = corpus.take(range(len(corpus)))
    found = bench_ablate.time_all(model, texts, 3)
    warm, timed = done[:3], done[3:]
    assert [name for name, _ in warm] == ["plain", "fp32", "bf16"]
    for what in ("plain", "fp32", "bf16"):
        assert sum(read for name, read in timed if name == what) == 10 * len(texts)
    assert "".join(name[0] for name, _ in timed) == "pppfbpppfbppppfb"
    assert [len(times) for times in found["seconds"].values()] == [3, 3, 3]
    assert found["effects in bf16"] == {
        "mean in fp32": pytest.approx(1 - 4.5 / 4),
        "largest difference": pytest.approx(9 / 8),
        "rank correlation": pytest.approx(1),
    }
