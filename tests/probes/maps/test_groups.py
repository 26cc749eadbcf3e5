"""Planted groups of heads are found, and heads without any are not."""

import math

import numpy as np
import pytest

from probes.maps.groups import group_heads, lay_out, layer_contrast
from probes.scoring.tally import Numbers


def between_points(points: Numbers) -> Numbers:
    distance: Numbers = np.sqrt(((points[:, None] - points[None]) ** 2).sum(2))
    return distance


def planted(groups: int, each: int, apart: float, seed: int = 0) -> Numbers:
    """Return distances of points around so many corners, the groups one after the other."""
    random = np.random.default_rng(seed)
    angle = np.repeat(np.arange(groups), each) * 2 * math.pi / groups
    return between_points(
        apart * np.stack([np.cos(angle), np.sin(angle)], 1) + random.normal(0, 0.1, (groups * each, 2))
    )


def test_within_and_between_are_means_over_pairs_counted_by_hand() -> None:
    values = np.array([[0, 1, 5, 7], [1, 0, 6, 8], [5, 6, 0, 3], [7, 8, 3, 0.0]])
    found = layer_contrast(values, np.array([0, 0, 1, 1]), permutations=999, seed=0)
    assert (found.within, found.between, found.pairs_within, found.pairs_between) == (2, 6.5, 2, 4)
    assert found.p == pytest.approx(2 / 3, abs=0.06), "each of three ways to pair four heads is as likely"


def test_layers_that_are_groups_have_a_small_p_and_shuffled_layers_do_not() -> None:
    distance, layer = planted(4, 6, 1.0), np.repeat(np.arange(4), 6)
    assert layer_contrast(distance, layer, permutations=999, seed=0).p == pytest.approx(2 / 1000)
    assert layer_contrast(-distance, layer, permutations=999, seed=0).p == pytest.approx(2 / 1000), "on both sides"
    ps = [
        layer_contrast(distance, np.random.default_rng(seed).permutation(layer), permutations=199, seed=seed).p
        for seed in range(40)
    ]
    assert np.mean(np.array(ps) <= 0.05) <= 0.15
    assert 0.3 < np.mean(ps) < 0.7


def test_a_contrast_that_cannot_be_tested_has_no_p_and_heads_without_a_number_are_left_out() -> None:
    one_layer = layer_contrast(planted(1, 4, 1.0), np.zeros(4, int), permutations=99, seed=0)
    assert math.isnan(one_layer.p)
    assert math.isnan(one_layer.between)
    values = planted(2, 3, 1.0)
    whole = layer_contrast(values[1:, 1:], np.array([0, 0, 1, 1, 1]), permutations=99, seed=0)
    values[0] = values[:, 0] = np.nan
    assert layer_contrast(values, np.array([0, 0, 0, 1, 1, 1]), permutations=99, seed=0) == whole


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_planted_groups_are_found_with_their_number(groups: int) -> None:
    found = group_heads(planted(groups, 5, 2.0) ** 2)
    assert found.group.tolist() == np.repeat(np.arange(groups), 5).tolist()
    assert found.silhouette > 0.8


def test_heads_that_are_all_the_same_and_two_heads_are_one_group() -> None:
    for distance in (np.zeros((5, 5)), np.array([[0, 1], [1, 0.0]])):
        found = group_heads(distance)
        assert found.group.tolist() == [0] * len(distance)
        assert math.isnan(found.silhouette)


def test_distances_of_a_plane_are_laid_out_as_they_are_and_the_same_each_time() -> None:
    distance = planted(3, 4, 1.0)
    found = lay_out(distance, seed=0)
    np.testing.assert_allclose(between_points(found.places), distance, atol=0.02)
    assert found.stress < 0.01
    assert (lay_out(distance, seed=0).places == found.places).all()
    np.testing.assert_allclose(found.places.mean(0), 0, atol=1e-9)
    assert found.places[:, 0].var() >= found.places[:, 1].var()
