import math

import pytest
import torch
from scipy.spatial.distance import jensenshannon

from probes.explanation.classifier import (
    AttentionClassifier,
    AttentionDecisions,
    accuracy,
    adversarial,
    erased_before_flip,
    fit,
    flips_without,
    jensen_shannon,
    permuted_change,
    uniform,
)

REAL = torch.tensor([[True, True, True], [True, True, False]])


def planted(count: int, seed: int, size: int = 6) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return vectors of five pieces of which one has a mark, and beside it says the answer; the others say noise."""
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(count, 5, size, generator=generator)
    vectors[..., 0] = 0
    place = torch.randint(5, (count,), generator=generator)
    answer = torch.randint(2, (count,), generator=generator).float()
    vectors[torch.arange(count), place, 0] = 4
    vectors[torch.arange(count), place, 1] = 2 * answer - 1
    return vectors, torch.ones(count, 5, dtype=torch.bool), answer


def test_attention_sums_to_one_and_padding_has_none() -> None:
    found = AttentionClassifier(4)(torch.randn(2, 3, 4), REAL)
    assert found.attention.sum(-1).tolist() == pytest.approx([1, 1])
    assert found.attention[1, 2] == 0
    assert uniform(REAL)[1].tolist() == [0.5, 0.5, 0]


def test_the_piece_that_says_the_answer_gets_the_attention_and_uniform_attention_does_worse() -> None:
    (vectors, real, answer), (others, _, known) = planted(600, 0), planted(300, 1)
    trained, flat = fit(vectors, real, answer, 0), fit(vectors, real, answer, 0, uniform(real))
    with torch.no_grad():
        found, even = trained(others, real[:300]), flat(others, real[:300])
    right = accuracy(found.odds(found.attention), known)
    assert right > 0.9
    assert accuracy(even.odds(uniform(real[:300])), known) < right - 0.1
    at_mark = found.attention.argmax(-1) == others[..., 0].argmax(-1)
    of_answers = [at_mark[known == answer].float().mean() for answer in (0, 1)]
    assert max(of_answers) > 0.9, "one of two answers may stand for where the other is not found"


def test_a_guided_network_learns_where_it_is_guided_to_the_answer() -> None:
    vectors, real, answer = planted(600, 2)
    guide = (vectors[..., 0] > 0).float()
    guided = fit(vectors, real, answer, 0, guide, tokens=True)
    with torch.no_grad():
        assert accuracy(guided(vectors, real).odds(guide), answer) > 0.95


PADDED = torch.tensor([[True, True, True, True], [True, True, True, False]])
ATTENTION = torch.tensor([[0.7, 0.1, 0.1, 0.1], [0.6, 0.2, 0.2, 0.0]])


def decisions(*scores: list[float]) -> AttentionDecisions:
    return AttentionDecisions(ATTENTION, torch.tensor(scores), PADDED)


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_the_divergence_is_that_of_scipy_and_at_most_ln_2() -> None:
    other = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 1.0, 0.0]])
    expected = [jensenshannon(one, two) ** 2 for one, two in zip(ATTENTION.numpy(), other.numpy(), strict=True)]
    assert jensen_shannon(ATTENTION, other).tolist() == pytest.approx(expected, abs=1e-6)
    apart = jensen_shannon(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]))
    assert apart.item() == pytest.approx(math.log(2))


def test_permutations_change_nothing_where_all_pieces_say_the_same_and_keep_padding_out() -> None:
    same = decisions([2.0, 2.0, 2.0, 2.0], [-1.0, -1.0, -1.0, 50.0])
    assert permuted_change(same, generator()).tolist() == pytest.approx([0, 0], abs=1e-6)
    one = decisions([6.0, -6.0, -6.0, -6.0], [6.0, -6.0, -6.0, 0.0])
    change = permuted_change(one, generator())
    assert change[0].item() == pytest.approx(1 / (1 + math.exp(-2.4)) - 1 / (1 + math.exp(4.8)), abs=1e-5)


def test_adversarial_attention_keeps_the_output_and_is_far_where_others_say_the_same() -> None:
    found = decisions([2.0, 2.0, 2.0, 2.0], [3.0, -3.0, -3.0, 9.0])
    attention, distance = adversarial(found, 0.01, generator())
    assert attention.sum(-1).tolist() == pytest.approx([1, 1], abs=1e-5)
    assert attention[1, 3] == 0
    change = (found.output(attention) - found.output(ATTENTION)).abs()
    assert (change <= 0.01 + 1e-6).all()
    assert distance[0] > 0.3
    assert distance[1] < 0.1, "here the first piece alone speaks for the decision: its weight has to stay"
    torch.testing.assert_close(jensen_shannon(ATTENTION, attention), distance, atol=1e-5, rtol=1e-4)


def test_a_decision_flips_without_the_piece_that_it_rests_on() -> None:
    found = decisions([1.0, -2.0, -2.0, -2.0], [1.0, 1.0, -4.0, 0.0])
    assert found.odds(ATTENTION).tolist() == pytest.approx([0.1, 0.0], abs=1e-6)
    assert flips_without(found, torch.tensor([0, 2])).tolist() == [True, True]
    assert flips_without(found, torch.tensor([1, 0])).tolist() == [False, False]


def test_pieces_are_erased_in_order_until_the_decision_flips() -> None:
    """Of the first, 0.7 - 0.4 = 0.3: without the first piece it is -0.4. Of the second the decision never flips."""
    found = decisions([1.0, -2.0, -1.0, -1.0], [1.0, 1.0, 1.0, -9.0])
    assert erased_before_flip(found, ATTENTION).tolist() == [0.25, 1.0]
    assert erased_before_flip(found, -ATTENTION).tolist() == [1.0, 1.0]
    sure = AttentionDecisions(
        torch.tensor([[1 - 3e-8, 1e-8, 1e-8, 1e-8]]), torch.tensor([[9.0, 2.0, 2.0, 2.0]]), PADDED[:1]
    )
    assert erased_before_flip(sure, sure.attention).tolist() == [1.0], "what is left is not lost in rounding"
    order = torch.tensor([[2.0, 3.0, 1.0, 1.0], [1.0, 1.0, 1.0, 9.0]])
    assert erased_before_flip(found, order).tolist() == [0.5, 1.0]
