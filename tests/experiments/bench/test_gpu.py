"""The parts of the benchmark of a GPU, where the device is the CPU."""

import json
from pathlib import Path

import pytest
import torch

from experiments.bench import gpu
from mha.planted.heads import word_model
from probes import Corpus

CPU = torch.device("cpu")
SMALL = word_model(["ship"], layers=2, heads=5, head_dim=4, positions=32, seed=0)


def broken(*given: object) -> dict[str, float]:
    raise RuntimeError("the device is full")


@pytest.mark.parametrize(("seconds", "parts"), [("60", {"parity", *gpu.SHAPES, "textbook"}), ("-1", set())])
def test_a_part_that_fails_or_has_no_time_leaves_the_others(
    seconds: str, parts: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page, record = Path("docs/cost.md").read_bytes(), tmp_path / "record.json"
    told = ["gpu", "--device", "cpu", "--sentences", "3", "--seconds", seconds, "--record", str(record)]
    monkeypatch.setattr("sys.argv", told)
    monkeypatch.setattr(gpu, "training_speed", broken)
    monkeypatch.setattr(gpu, "parity", lambda *given: dict.fromkeys(gpu.COMPARED, 0.0))
    for name in ("cost", "textbook"):
        monkeypatch.setattr(gpu, name, lambda *given: {})
    with pytest.raises(SystemExit, match="True"):
        gpu.main()
    found = json.loads(record.read_text("utf-8")) if record.exists() else {}
    assert {*gpu.PARTS} & {*found} == parts
    said = capsys.readouterr()
    assert ("the device is full" in said.err) == bool(parts)
    assert said.out.count("the time is up") == (0 if parts else len(gpu.PARTS))
    assert Path("docs/cost.md").read_bytes() == page


def test_maps_that_differ_are_found() -> None:
    """Weights that are changed by a hundredth move maps, and norms by about as much of the largest."""
    other = word_model(["ship"], layers=2, heads=5, head_dim=4, positions=32, seed=0)
    with torch.no_grad():
        for weight in other.module.parameters():
            weight.mul_(1.01)
    texts = Corpus.generated(2, seed=0).sentences().take(range(3))
    for maps in ("weights", "norms"):
        assert gpu.maps_apart(SMALL, SMALL, texts, maps) == 0
        assert 1e-6 < gpu.maps_apart(SMALL, other, texts, maps) < 0.2


@pytest.mark.slow
def test_a_model_is_timed_in_every_way() -> None:
    texts = Corpus.generated(4, seed=0).sentences().take(range(10))
    found = gpu.cost(gpu.MINILM, texts, CPU)
    assert [*found] == [*gpu.TIMED]
    assert all(seconds > 0 for seconds in found.values())
