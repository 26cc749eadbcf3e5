"""States of words: every key, and the names of what is measured."""

from collections.abc import Callable

import pandas as pd
import pytest

from experiments.measures.states import ABLATED_DIMENSIONS, GEOMETRY, KINDS, StatesMeasure
from probes.states import geometry, outliers
from reports import Run
from tests.experiments.measures.pages import text_of


def test_measures_and_kinds_are_called_as_they_are_measured() -> None:
    adjusted = (name + geometry.ADJUSTED for name in (geometry.SELF, geometry.SENTENCE, geometry.EXPLAINED))
    assert {*geometry.MEASURES, *adjusted} == {*GEOMETRY}
    assert outliers.KINDS == KINDS
    assert ABLATED_DIMENSIONS["measure"].choices == (outliers.TAGS, outliers.MASKED)


@pytest.mark.slow
def test_every_key_is_followed(scored: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outliers, "SIGMA", 1.5)
    found = scored("states={texts=20, contexts=2, sets=2}").tables
    states = found["states"]
    assert {*states.layer} == {0, 1, 2}
    fewer = scored("states={texts=10, contexts=15, sets=5}").tables
    same = states.measure == geometry.SELF
    assert fewer["states"][same].n.max() < states[same].n.max()
    assert len(found["outlier_dimensions"])
    random = found["ablated_dimensions"].kind == outliers.KINDS[2]
    assert fewer["ablated_dimensions"][random].value.tolist() != found["ablated_dimensions"][random].value.tolist()


def test_the_page_has_the_last_layer_and_counts_outlier_dimensions() -> None:
    rows = pd.DataFrame(
        {"layer": [1, 0], "measure": "random words", "value": [0.4, 0.1], "low": 0.0, "high": 0.5, "n": 7}
    )
    outlying = pd.DataFrame({"dimension": [3, 5], "scale_layers": 1, "bias_layers": 0, "state_layers": 0, "size": 16})
    without = pd.DataFrame(
        {"measure": "masked word", "kind": KINDS[1], "value": [0.25], "low": 0.2, "high": 0.3, "n": 7}
    )
    tables = {"states": rows, "outlier_dimensions": outlying, "ablated_dimensions": without}
    page = text_of(StatesMeasure, tables)
    assert page.startswith("2 dimensions of the states are outliers. The random words of the last layer")
    assert "have a mean cosine of 0.400." in page
    assert "| masked word | outliers | 25.0 % | [20.0, 30.0] |" in page
