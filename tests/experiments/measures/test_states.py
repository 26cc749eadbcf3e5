"""States of words: every key, and the names of what is measured."""

from collections.abc import Callable

import pytest

from experiments.measures.states import ABLATED_DIMENSIONS, GEOMETRY, KINDS
from probes.states import geometry, outliers
from reports import Run


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
