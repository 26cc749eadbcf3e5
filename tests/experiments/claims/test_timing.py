import gc
from collections.abc import Callable

import pytest
import torch
from torch import nn

from experiments.claims.timing import FORWARD, TRAINING, TimedSection, inputs, passes, take_turns, tokens_of
from mha.parallel import threads


def test_contestants_take_turns_and_swap_who_is_first() -> None:
    calls: list[str] = []

    def contestant(name: str) -> Callable[[], None]:
        return lambda: calls.append(name)

    seconds = take_turns({"a": contestant("a"), "b": contestant("b")}, 3)
    assert "".join(calls) == "ab" + "ab" + "ba" + "ab"  # the first two are the warm-up
    assert [len(seconds[name]) for name in "ab"] == [3, 3]
    assert all(second >= 0 for name in "ab" for second in seconds[name])


def test_the_collector_rests_meanwhile_and_comes_back_after_an_error() -> None:
    seen = []
    take_turns({"a": lambda: seen.append(gc.isenabled())}, 1)
    assert seen == [True, False]
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        take_turns({"a": iter([None]).__next__, "b": lambda: 1 / 0}, 1)
    assert gc.isenabled()


def test_a_batch_has_the_tokens_that_are_asked_for_but_one_sequence_at_least() -> None:
    section = TimedSection(claim="x", tokens=100, model=8)
    assert (inputs(section, 30).shape, tokens_of(section, 30)) == ((3, 30, 8), 90)
    assert (inputs(section, 400).shape, tokens_of(section, 400)) == ((1, 400, 8), 400)
    assert torch.equal(inputs(section, 30), inputs(section, 30))
    assert not torch.equal(inputs(section, 30), inputs(TimedSection(claim="x", tokens=100, model=8, seed=1), 30))


def test_threads_are_given_back() -> None:
    before = torch.get_num_threads()
    with threads(before + 1):
        inside = torch.get_num_threads()
    assert (inside, torch.get_num_threads()) == (before + 1, before)
    with pytest.raises(ZeroDivisionError), threads(before + 1):
        raise ZeroDivisionError
    assert torch.get_num_threads() == before


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
