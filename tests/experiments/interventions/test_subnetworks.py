from pathlib import Path
from typing import Any

import pytest
import torch

from experiments.interventions import subnetworks
from experiments.interventions.subnetworks import (
    AFTER,
    BAD,
    BEFORE,
    FULL,
    GOOD,
    RANDOM,
    RESET,
    SubnetworksSection,
    ranked,
    with_random_heads,
)
from experiments.statements.claim import Work
from mha.encoder.encoder import Encoder, EncoderConfig
from mha.encoder.masked_lm import MaskedBatch, masked_lm_loss
from mha.hooks import watch

GIVEN: dict[str, Any] = {
    "claim": "subnetworks",
    "train": {"data": {"name": "grammar"}, "steps": 20, "seeds": (0, 1, 2)},
}


def batch_of(pieces: list[list[int]], masked: list[int]) -> MaskedBatch:
    rows = torch.tensor(pieces)
    places = torch.arange(rows.shape[1]).expand_as(rows)
    return MaskedBatch(rows, places, torch.zeros_like(rows), torch.tensor(masked), rows.flatten()[masked])


@pytest.fixture
def encoder() -> Encoder:
    torch.manual_seed(5)
    shape = EncoderConfig(vocab=12, layers=2, heads=2, model=8, feed_forward=8, positions=8)
    encoder = Encoder(shape, lm_head=True).eval()
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.mul_(20)
    return encoder


BATCHES = [batch_of([[2, 5, 6, 7, 3]], [1, 2]), batch_of([[2, 8, 9, 3, 3], [2, 4, 5, 6, 3]], [1, 6, 7])]


def test_heads_are_ranked_by_the_loss_without_each(encoder: Encoder) -> None:
    lost = {}
    for layer, head in ((0, 0), (0, 1), (1, 0), (1, 1)):

        def take_out(seen: Any, layer: int = layer, head: int = head) -> Any:
            if seen.layer != layer:
                return None
            changed = seen.tensor.clone()
            changed[:, head] = 0
            return changed

        with watch(encoder, take_out, ["head_output"]), torch.no_grad():
            losses = [masked_lm_loss(encoder, batch).item() for batch in BATCHES]
        lost[layer, head] = (2 * losses[0] + 3 * losses[1]) / 5
    assert ranked(encoder, BATCHES) == sorted(lost, key=lambda head: -lost[head])


@pytest.mark.parametrize(
    ("planted", "verdicts"),
    [
        ({GOOD: (0.88, 2.1), BAD: (0.87, 2.3), RANDOM: (0.87, 2.2), RESET: (0.6, 4.0)}, ["holds"] * 6),
        ({GOOD: (0.85, 2.3), BAD: (0.8, 2.1), RANDOM: (0.9, 2.2), RESET: (0.9, 2.0)}, ["does not hold"] * 6),
    ],
)
def test_the_verdicts_follow_agreement_and_loss(
    planted: dict[str, tuple[float, float]], verdicts: list[str], work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Planted:
        def __init__(self, *_: Any) -> None:
            pass

        def follow(self, seed: int, folder: Path) -> dict[str, dict[str, float]]:
            found = {}
            for name in (FULL, GOOD, RANDOM, BAD, RESET):
                agreement, loss = planted.get(name, (0.9, 2.0))
                spread = 0.001 * seed * (name in (BAD, GOOD)) * (2 if name == BAD else 1)
                for when in (BEFORE, AFTER):
                    found[f"{name}, {when}"] = {"agreement": agreement + spread, "loss": loss + spread}
            return found

    monkeypatch.setattr(subnetworks, "Retraining", Planted)
    monkeypatch.setattr(subnetworks, "trainings", lambda *_: {seed: Path(str(seed)) for seed in range(3)})
    found = subnetworks.measure(SubnetworksSection.model_validate(GIVEN), work)
    assert [one.verdict for one in found.statements] == verdicts
    assert {row.condition for row in found.measures[0].rows} >= {f"{RESET}, {AFTER}", f"{BAD}, {BEFORE}"}


def test_random_heads_lie_in_the_same_encoder_and_depend_on_the_seed(encoder: Encoder) -> None:
    with torch.no_grad():
        for name, parameter in encoder.named_parameters():
            if name.endswith("bias"):
                parameter.fill_(0.5)
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    one, same, other = (with_random_heads(encoder, seed).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(encoder.state_dict()[name], tensor) for name, tensor in before.items())
    moved = {name for name in before if not torch.equal(one[name], before[name])}
    assert {name.rpartition("attention.")[2] for name in moved} == {"project.weight", "project.bias", "output.weight"}
    assert all(torch.equal(one[name], same[name]) for name in before)
    assert not any(torch.equal(one[name], other[name]) for name in moved if name.endswith("weight"))
