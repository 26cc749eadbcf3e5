import pytest
import torch

from probes.explanation.classifier import AttentionClassifier, accuracy, fit, uniform

REAL = torch.tensor([[True, True, True], [True, True, False]])


def planted(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return vectors of five pieces of which one has a mark, and beside it says the answer; the others say noise."""
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(count, 5, 6, generator=generator)
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
