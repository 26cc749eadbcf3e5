"""Attention as explanation in a run: asked for by the config, and its table."""

from collections.abc import Callable

import pytest

from reports import Run
from reports.studies.explanation.tables import EXPLANATION, EXPLANATION_RANKS, MEASURES, PAIRS

pytestmark = pytest.mark.slow

Scored = Callable[..., Run]


def test_a_run_that_does_not_ask_has_none(scored: Scored) -> None:
    assert "explanation" not in scored().studies


def test_every_key_is_followed(scored: Scored) -> None:
    studies = scored("explanation={sentences=20, classifiers=2, seed=5}").studies
    few, ranks = studies["explanation"], studies["explanation_ranks"]
    assert tuple(ranks.columns) == EXPLANATION_RANKS.names
    assert set(ranks.pair) == set(PAIRS)
    assert tuple(few.columns) == EXPLANATION.names
    assert set(few.measure) == set(MEASURES)
    assert (few.seed.nunique(), set(few.n)) == (2, {10})
    more = scored("explanation={sentences=30, classifiers=2, seed=5}").studies["explanation"]
    assert (more.seed.nunique(), set(more.n)) == (2, {15})
    other = scored("explanation={sentences=20, classifiers=2, seed=9}").studies["explanation"]
    assert other.value.tolist() != few.value.tolist()
