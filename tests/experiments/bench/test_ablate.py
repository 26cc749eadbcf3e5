"""The benchmark of ablation: both sides do all heads on all texts, and a goal that is missed is told."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from experiments.bench import ablate as bench_ablate
from mha import Model
from mha.planted.heads import word_model
from probes import Corpus, Document

SMALL = word_model(["ship"], layers=2, heads=5, head_dim=4, positions=8, seed=0)


def test_differences_are_those_of_the_mean_effects_of_heads() -> None:
    found = bench_ablate.differences(torch.tensor([0.5, 0.25, 0.0]), torch.tensor([0.5, 0.0, 0.125]))
    assert found == {"mean in fp32": 0.25, "largest difference": 0.25, "rank correlation": pytest.approx(0.5)}


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
    corpus = Corpus.generated(3, seed=0).sentences()
    texts = corpus.take(range(len(corpus)))
    found = bench_ablate.time_all(SMALL, texts, 3)
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
