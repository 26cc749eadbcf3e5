"""Attention as explanation: every key, and means over classifiers."""

from collections.abc import Callable

import pytest

from experiments.measures.explanation import MEASURES, PAIRS
from reports import Run


@pytest.mark.slow
def test_every_key_is_followed(scored: Callable[..., Run], few_steps: None) -> None:
    few = scored("explanation={sentences=10, classifiers=2, seed=5}").tables
    assert {*few["explanation_ranks"].pair} == {*PAIRS}
    found = few["explanation"]
    assert {*found.measure} == {*MEASURES}
    assert (found.seed.nunique(), {*found.n}, {*found.corpus}) == (2, {5}, {"grammar"})
    more = scored("explanation={sentences=14, classifiers=3, seed=5}").tables["explanation"]
    assert (more.seed.nunique(), {*more.n}) == (3, {7})
    other = scored("explanation={sentences=10, classifiers=2, seed=9}").tables["explanation"]
    assert other.value.tolist() != found.value.tolist()
