from collections.abc import Callable

import pytest
import torch
from torch import nn

from experiments.claims import loop
from experiments.claims.claim import Work
from experiments.claims.record import ClaimError
from mha import MultiHeadAttention

TINY = {"claim": "loop", "model": 8, "heads": 2, "lengths": (4, 8), "tokens": 8, "rounds": 3, "threads": (1, 2)}


def test_heads_in_a_loop_give_the_outputs_and_gradients_of_heads_at_once() -> None:
    attention = MultiHeadAttention(12, 3)
    looped = loop.LoopedAttention(attention)
    inputs = [torch.randn(2, 5, 12).requires_grad_() for _ in range(1)] * 2
    outputs = [layer(x) for layer, x in zip((attention, looped), inputs, strict=True)]
    torch.testing.assert_close(outputs[0], outputs[1], rtol=0, atol=1e-6)
    grads = [torch.autograd.grad(output.square().sum(), inputs[0])[0] for output in outputs]
    torch.testing.assert_close(grads[0], grads[1], rtol=0, atol=1e-5)
    assert sum(p.numel() for p in looped.parameters()) == sum(p.numel() for p in attention.parameters())


def test_a_loop_that_computes_something_else_is_not_timed() -> None:
    attention = MultiHeadAttention(8, 2)
    looped = loop.LoopedAttention(attention)
    nn.init.zeros_(looped.output.weight)
    with pytest.raises(ClaimError, match=r"loop: outputs of both ways differ by .*, expected at most 1e-05"):
        loop.check_equal(attention, looped, torch.randn(1, 4, 8))


@pytest.mark.parametrize(("slower", "verdict"), [(2.0, "holds"), (0.5, "does not hold")])
def test_the_verdict_follows_the_times(slower: float, verdict: str, work: Work, set_times: Callable[..., None]) -> None:
    def seconds(name: str, number: int) -> float:
        return (slower if name == loop.LOOPED else 1.0) * (1 + 0.01 * number * (name == loop.LOOPED))

    set_times(loop, seconds)
    found = loop.measure(loop.LoopSection(**TINY), work)
    assert [one.verdict for one in found.statements] == [verdict] * 2
    assert [
        one.text.endswith(f"({said})") for one, said in zip(found.statements, ("1 thread", "2 threads"), strict=True)
    ]
    assert found.statements[0].estimate.value == pytest.approx(slower * (1 * 1.01 * 1.02) ** (1 / 3))
    cells = found.measures[1].cells()
    assert [(cell["condition"], cell["at"]) for cell in cells] == [
        (said, length) for said in ("1 thread", "2 threads") for length in (4, 8)
    ]
    per_token = found.measures[0].rows[0].value
    assert per_token == pytest.approx(1e6 / 8)


def test_both_ways_run_with_the_threads_that_are_asked_for(work: Work, set_times: Callable[..., None]) -> None:
    seen = set()
    set_times(loop, lambda name, number: seen.add(torch.get_num_threads()) or 1.0)
    loop.measure(loop.LoopSection(**TINY), work)
    assert seen == {1, 2}
