import numpy as np
import pytest
from jaxtyping import TypeCheckError

from probes.trained.codelength import (
    FRACTIONS,
    LinearClassifier,
    block_ends,
    coding_order,
    compression,
    online_codelength,
)


def test_a_constant_predictor_costs_what_its_frequencies_cost() -> None:
    """Without features the classifier says how often labels came; worked out by hand."""
    y = np.array([0, 1, 0, 0, 1, 0, 2, 0])
    nothing = np.ones((8, 1))
    first = 4 * np.log2(3)  # the first block of four, three labels
    seen = {0: (3 + 1 / 3) / 5, 1: (1 + 1 / 3) / 5, 2: (1 / 3) / 5}  # 3, 1 and 0 of 4, one part in 5 uniform
    by_hand = first - sum(np.log2(seen[label]) for label in (1, 0, 2, 0))
    assert online_codelength(nothing, y, 3, [4, 8]) == pytest.approx(by_hand, abs=2e-3)
    assert online_codelength(nothing, y, 3, [8]) == 8 * np.log2(3)
    assert online_codelength(nothing[:0], y[:0], 3, []) == 0


def test_a_code_is_short_where_features_tell_the_label_and_gains_nothing_on_noise() -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 4, 600)
    telling, noise = np.eye(4)[y] + 0.1 * random.normal(size=(600, 4)), random.normal(size=(600, 4))
    ends = block_ends(np.arange(600))
    assert compression(600, 4, online_codelength(telling, y, 4, ends)) > 3
    assert 0.85 < compression(600, 4, online_codelength(noise, y, 4, ends)) < 1


def test_labels_that_were_not_learned_have_a_probability() -> None:
    x = np.random.default_rng(0).normal(size=(30, 2))
    fitted = LinearClassifier.fit(x, np.tile([0, 3], 15), 5)
    p = fitted.probabilities(x)
    np.testing.assert_allclose(p.sum(1), 1)
    np.testing.assert_allclose(p[:, [1, 2, 4]], 1 / 5 / 31)


def test_blocks_end_with_whole_clusters() -> None:
    random = np.random.default_rng(0)
    clusters = np.repeat(random.permutation(50), random.integers(1, 60, 50))
    ends = block_ends(clusters)
    assert ends == sorted(set(ends))
    assert ends[-1] == len(clusters)
    assert all(clusters[end - 1] != clusters[end] for end in ends[:-1])
    before = 0
    for share in FRACTIONS:
        end = min(end for end in ends if end >= share * len(clusters) - 0.5)
        assert end >= before
        before = end
    assert block_ends(np.arange(1000))[:4] == [1, 2, 4, 8]
    assert block_ends(np.zeros(9, np.int64)) == [9]
    assert block_ends(np.zeros(0, np.int64)) == []


def test_the_order_of_coding_keeps_documents_whole_and_does_not_follow_their_numbers() -> None:
    clusters = np.tile(np.arange(30), 4)
    order = coding_order(clusters, 0)
    found = clusters[order]
    assert sorted(order.tolist()) == list(range(120))
    assert int((np.diff(found) != 0).sum()) == 29
    assert found.tolist() != sorted(found)
    assert [i for i in order.tolist() if clusters[i] == 7] == [7, 37, 67, 97]
    assert coding_order(clusters, 1).tolist() != order.tolist()


def test_while_tests_run_shapes_in_signatures_are_checked_at_every_call() -> None:
    with pytest.raises(TypeCheckError, match="online_codelength"):
        online_codelength(np.zeros((3, 2)), np.zeros(4, np.int64), 2, [1, 3])
