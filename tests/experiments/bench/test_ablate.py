"""The benchmark of ablation: what it says where it cannot run, and that both sides do all heads on all texts."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from experiments.bench import ablate as bench_ablate
from mha.planted.heads import word_model
from probes import Corpus, Document


def test_without_its_corpus_the_benchmark_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["bench_ablate"])
    threads = torch.get_num_threads()
    with pytest.raises(SystemExit) as ended:
        bench_ablate.main()
    torch.set_num_threads(threads)
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"bench: corpus 'ewt-dev' is not at {tmp_path}")


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
