"""Attention as explanation: every key, and means over classifiers."""

from collections.abc import Callable

import pandas as pd
import pytest

from experiments.measures.explanation import MEASURES, PAIRS, ExplanationMeasure
from reports import Run
from tests.experiments.measures.pages import text_of


@pytest.mark.slow
def test_every_key_is_followed(scored: Callable[..., Run]) -> None:
    few = scored("explanation={sentences=20, classifiers=2, seed=5}").tables
    assert {*few["explanation_ranks"].pair} == {*PAIRS}
    found = few["explanation"]
    assert {*found.measure} == {*MEASURES}
    assert (found.seed.nunique(), {*found.n}, {*found.corpus}) == (2, {10}, {"grammar"})
    more = scored("explanation={sentences=30, classifiers=3, seed=5}").tables["explanation"]
    assert (more.seed.nunique(), {*more.n}) == (3, {15})
    other = scored("explanation={sentences=20, classifiers=2, seed=9}").tables["explanation"]
    assert other.value.tolist() != found.value.tolist()


def test_the_page_has_means_and_ranges_over_classifiers() -> None:
    rows = [(seed, name, 0.5 + 0.2 * seed) for name in MEASURES for seed in (0, 1)]
    values = pd.DataFrame(rows, columns=["seed", "measure", "value"]).assign(n=10)
    ranks = pd.DataFrame([(seed, name) for name in PAIRS for seed in (0, 1)], columns=["seed", "pair"])
    ranks = ranks.assign(tau=0.1 + 0.2 * ranks.seed, low=0.0, high=0.5, significant=0.25, n=9)
    page = text_of(ExplanationMeasure, {"explanation": values, "explanation_ranks": ranks})
    assert page.startswith("2 classifiers that attend to the states of the last layer")
    assert "number of the main subject, 60.0 % correct on 10 held-out sentences" in page
    assert "| Accuracy on held-out sentences | 0.60 | 0.50 | 0.70 |" in page
    assert "| Attention and gradient | 0.20 | 0.10 | 0.30 | 25.0 % |" in page
