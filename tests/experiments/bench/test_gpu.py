"""The benchmark of a GPU: what it tells where there is none, and its parts where the device is the CPU."""

import json
from pathlib import Path

import pytest
import torch

from experiments.bench import gpu
from mha.planted.heads import word_model
from probes import Corpus

CPU = torch.device("cpu")
SMALL = word_model(["ship"], layers=2, heads=5, head_dim=4, positions=32, seed=0)


def test_what_was_not_measured_is_told() -> None:
    none = gpu.blocks({})["gpu cost"]
    assert none.count("not measured") == len(gpu.COMPARED) + len(gpu.SHAPES) * len(gpu.TIMED) + 1
    measured = {"device": "H200", "cores": 2, "processor": "EPYC", "bf16 instructions": True, "corpus": "EWT dev"}
    measured |= {"sentences": 1000, "parity": {"mass": 2e-6, "hits": 0.25}, "minilm": dict.fromkeys(gpu.TIMED, 0.25)}
    some = gpu.blocks(measured)["gpu cost"]
    assert "On one H200 with 2 cores of EPYC with bf16 instructions, 1,000 sentences of EWT dev." in some
    assert "| mass, largest difference from the CPU | 2e-06 | below 1e-05 | met |" in some
    assert "| hits, largest difference from the CPU | 0.25 | below 1e-05 | **missed** |" in some
    assert f"| minilm |{' 0.25 |' * len(gpu.TIMED)}" in some
    assert some.count("not measured") == len(gpu.COMPARED) - 2 + 2 * len(gpu.TIMED) + 1


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
