"""Claims about time: contestants take turns, both ways compute the same, and the verdicts follow the times."""

import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from experiments.claims import compute, loop, recurrence
from experiments.claims.timing import FORWARD, TRAINING, TimedSection, inputs, passes, take_turns, tokens_of
from experiments.statements.claim import ClaimError, Work
from mha import MultiHeadAttention

TINY = {"model": 8, "heads": 4, "lengths": (4, 8), "tokens": 16, "rounds": 4}


def test_contestants_take_turns_while_the_collector_rests() -> None:
    calls: list[str] = []
    seen: list[bool] = []

    def contestant(name: str) -> Callable[[], None]:
        return lambda: (calls.append(name), seen.append(gc.isenabled()))

    seconds = take_turns({"a": contestant("a"), "b": contestant("b")}, 3)
    assert "".join(calls) == "ab" + "ab" + "ba" + "ab"  # the first two are the warm-up
    assert seen == [True] * 2 + [False] * 6
    assert [len(seconds[name]) for name in "ab"] == [3, 3]
    with pytest.raises(ZeroDivisionError):
        take_turns({"a": iter([None]).__next__, "b": lambda: 1 / 0}, 1)
    assert gc.isenabled()


def test_a_batch_has_the_tokens_that_are_asked_for_but_one_sequence_at_least() -> None:
    section = TimedSection(claim="x", tokens=100, model=8)
    assert (inputs(section, 30).shape, tokens_of(section, 30)) == ((3, 30, 8), 90)
    assert (inputs(section, 400).shape, tokens_of(section, 400)) == ((1, 400, 8), 400)


def test_a_backward_pass_reaches_weights_and_inputs_and_leaves_no_gradient() -> None:
    layer, x = nn.Linear(3, 3), torch.randn(1, 2, 3)
    reached: list[bool] = []
    layer.weight.register_hook(lambda grad: reached.append(True))
    calls = passes(layer, layer, x)
    calls[FORWARD]()
    assert reached == []
    calls[TRAINING]()
    assert reached == [True]
    assert (x.grad, x.requires_grad, layer.weight.grad) == (None, False, None)


@pytest.mark.parametrize("heads", [1, 4])
def test_products_are_counted_as_by_hand(heads: int) -> None:
    batch, length, model = 3, 5, 16
    tokens = batch * length
    projections = 2 * tokens * model * (3 * model + model)
    attention = 2 * 2 * batch * length * length * model  # scores and mixing: heads x (model / heads) = model
    forward = projections + attention
    found = compute.products(MultiHeadAttention(model, heads), torch.randn(batch, length, model))
    assert found == 3 * forward  # the gradients of both factors of each product


def test_heads_in_a_loop_give_the_outputs_and_gradients_of_heads_at_once() -> None:
    attention = MultiHeadAttention(12, 3)
    looped, x = loop.LoopedAttention(attention), torch.randn(2, 5, 12).requires_grad_()
    outputs = [layer(x) for layer in (attention, looped)]
    torch.testing.assert_close(outputs[0], outputs[1], rtol=0, atol=1e-6)
    grads = [torch.autograd.grad(output.square().sum(), x)[0] for output in outputs]
    torch.testing.assert_close(grads[0], grads[1], rtol=0, atol=1e-5)
    assert sum(p.numel() for p in looped.parameters()) == sum(p.numel() for p in attention.parameters())
    nn.init.zeros_(looped.output.weight)
    with pytest.raises(ClaimError, match=r"loop: outputs of both ways differ by .*, expected at most 1e-05"):
        loop.check_equal(attention, looped, x)


@pytest.mark.parametrize(
    ("module", "changes", "slow", "slower", "verdict", "number"),
    [
        (compute, {}, "4 ", 1.1, "holds", 3),
        (compute, {}, "4 ", 1.3, "does not hold", 3),
        (loop, {"threads": (1, 2)}, loop.LOOPED, 2.0, "holds", 2),
        (loop, {"threads": (1, 2)}, loop.LOOPED, 0.5, "does not hold", 2),
        (recurrence, {"lengths": (4, 8, 16)}, recurrence.LSTM, 3.0, "holds", 1),  # 8 is no shorter than the width
        (recurrence, {"lengths": (4, 8, 16)}, recurrence.LSTM, 0.4, "does not hold", 1),
    ],
)
def test_the_verdicts_follow_the_times(
    module: Any, changes: dict[str, Any], slow: str, slower: float, verdict: str, number: int,
    work: Work, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    threads = set()

    def seconds(name: str, place: int) -> float:
        threads.add(torch.get_num_threads())
        return (slower if name.startswith(slow) else 1.0) * (1 + 0.01 * place)

    def instead(contestants: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
        for call in contestants.values():
            call()
        return {name: [seconds(name, number) for number in range(rounds)] for name in contestants}

    monkeypatch.setattr(module, "take_turns", instead)
    section = next(one for name, one in vars(module).items() if name.endswith("Section") and one is not TimedSection)
    found = module.measure(section(claim="x", **{**TINY, **changes}), work)
    timed = [one for one in found.statements if one.kind == "claim"]
    assert len(found.statements) == number
    assert {one.verdict for one in timed} == {verdict}
    assert timed[0].estimate.value == pytest.approx(slower)
    assert module is not loop or threads == {1, 2}
    ratios = [cell.number.value for cell in found.measures[-1].cells]
    assert ratios == pytest.approx([slower] * len(ratios))
    if module is compute:
        assert (found.statements[0].kind, found.statements[0].estimate.value) == ("identity", 1.0)
        entries = {(cell.condition, cell.at): cell.number.value for cell in found.measures[1].cells}
        assert [entries[name, 8] for name in ("1 head", "4 heads")] == [8, 32]
