"""Heads that do as much damage: by hand, and what a head that is special has beside them."""

import math

import pandas as pd
import pytest
from scipy.stats import t

from probes.causal.ablation_table import DamagingHeads


def of(name: str, costs: list[float], damage: list[float]) -> DamagingHeads:
    names = [f"1-{number + 1}" for number in range(len(costs))]
    return DamagingHeads.of(name, pd.Series(costs, names), pd.Series(damage, names))


def test_heads_of_at_least_half_the_damage_are_the_baseline() -> None:
    """Damage 0.4 goes with 0.2 and more: three heads, which cost 1, 2 and 3."""
    found = of("1-1", [9, 1, 2, 3, 50, 60, 70], [0.4, 0.21, 0.9, 0.3, 0.19, 0.1, 0.0])
    assert (found.damage, found.damaging, found.damaging_cost) == (0.4, 3, 2)
    half = t.ppf(0.975, 2) * math.sqrt(1 + 1 / 3)
    assert (found.damaging_low, found.damaging_high) == pytest.approx((2 - half, 2 + half))


def test_a_head_that_does_most_damage_by_far_has_no_baseline() -> None:
    found = of("1-1", [9, 1, 2, 3], [0.9, 0.01, 0.02, 0.03])
    assert found.damaging == 0
    assert math.isnan(found.damaging_cost)


def test_a_harmless_head_is_compared_with_all_but_those_that_help() -> None:
    """The median damage is 0.01, so heads from -0.01 on are compared with one of 0."""
    found = of("1-1", [5, 1, 1, 1, 9], [0.0, -0.01, 0.01, 0.5, -0.5])
    assert (found.damaging, found.damaging_cost, found.damaging_low) == (3, 1, 1)
