"""Hard-Concrete gates: their distribution, what they cost, and that training finds what is worth its price."""

import math

import pytest
import torch
from torch import Tensor, nn

from mha.causal.gates import HIGH, LOW, GateSettings, HardConcrete, learn_gates


def test_gates_are_drawn_as_the_formula_says() -> None:
    gates = HardConcrete(1, 2)
    with torch.no_grad():
        gates.log_odds.copy_(torch.tensor([[0.5, -1.0]]))
    drawn = gates.sample(torch.tensor([[[0.3, 0.3]], [[0.99, 0.999]], [[0.001, 0.5]]])).detach()
    for row, uniform in enumerate(((0.3, 0.3), (0.99, 0.999), (0.001, 0.5))):
        for head, odds in enumerate((0.5, -1.0)):
            u = uniform[head]
            s = 1 / (1 + math.exp(-(math.log(u) - math.log(1 - u) + odds) / 0.33))
            assert float(drawn[row, 0, head]) == pytest.approx(min(1, max(0, s * 1.2 - 0.1)), abs=1e-6)
    assert drawn[1].tolist() == [[1.0, 1.0]], "wide open"
    assert float(drawn[2, 0, 0]) == 0.0, "closed"


@pytest.mark.parametrize("odds", [-2.0, 0.0, 1.5])
def test_the_probability_of_an_open_gate_is_how_often_it_is_not_0(odds: float) -> None:
    gates = HardConcrete(1, 1, odds)
    drawn = gates.sample(torch.rand(40_000, 1, 1, generator=torch.Generator().manual_seed(0)))
    assert gates.open().item() == pytest.approx((drawn > 0).float().mean().item(), abs=0.01)
    s = 1 / (1 + math.exp(-odds))
    assert gates.fixed().item() == pytest.approx(min(1, max(0, s * (HIGH - LOW) + LOW)), abs=1e-6)


WORTH = torch.tensor([[0.5, 0.05], [0.0, 0.2]])
"What each head is worth in the made-up behaviours below."


def lost(batch: list[int], gates: Tensor) -> Tensor:
    assert gates.shape == (len(batch), 2, 2)
    return -(gates * WORTH).sum((1, 2)).mean()


@pytest.mark.parametrize(("price", "left"), [(0.01, 3), (0.1, 2), (0.3, 1), (1.0, 0)])
def test_heads_stay_that_are_worth_their_price(price: float, left: int) -> None:
    learned = learn_gates(lost, [[0, 1], [2]], len, (2, 2), price, GateSettings(steps=400))
    wanted = [(0, 0), (1, 1), (0, 1)][:left]
    assert sorted(learned.survivors) == sorted(wanted)
    assert all(float(learned.gates[head]) == 1 for head in wanted)
    assert bool(((learned.gates > 0) == (learned.open > 0.5)).all())


def test_everything_is_decided_by_the_seed_and_every_setting_counts() -> None:
    def learn(**changes: float) -> Tensor:
        settings = GateSettings(**{"steps": 20, **changes})  # type: ignore[arg-type]  # whole numbers stay whole
        return learn_gates(lost, [[0, 1], [2]], len, (2, 2), 0.1, settings).open

    first = learn()
    assert torch.equal(first, learn())
    for changes in ({"seed": 1}, {"steps": 25}, {"rate": 0.2}):
        assert not torch.equal(first, learn(**changes))


def test_all_batches_are_read_before_any_comes_again_and_losses_are_told() -> None:
    read: list[int] = []
    told: list[int] = []

    def loss(batch: int, gates: Tensor) -> Tensor:
        read.append(batch)
        return gates.sum() * 0 + batch

    settings = GateSettings(steps=8)
    learned = learn_gates(loss, [0, 1, 2, 3], lambda batch: 1, (1, 1), 0.1, settings, step=told.append)
    assert sorted(read[:4]) == sorted(read[4:]) == [0, 1, 2, 3]
    assert learned.losses == tuple(map(float, read))
    assert told == [1] * 8


def test_weights_are_trained_along_where_they_are_named_and_no_gradient_stays() -> None:
    weight, other, idle = (nn.Parameter(torch.tensor(1.0)) for _ in range(3))

    def loss(batch: list[int], gates: Tensor) -> Tensor:
        return (weight * other * gates.mean() - 3) ** 2

    settings = GateSettings(steps=5, weights_rate=0.01)
    learn_gates(loss, [[0]], len, (1, 1), 0.0, settings, weights=[weight, idle])
    assert 1.03 < weight.item() < 1.06, "five steps of at most 0.01"
    assert (other.item(), idle.item()) == (1, 1)
    assert weight.grad is None is other.grad
