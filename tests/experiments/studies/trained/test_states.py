"""States in a run: asked for by the config, and every key."""

from collections.abc import Callable

import pytest

from probes.states import geometry, outliers
from reports import Run
from reports.studies.states import tables

pytestmark = pytest.mark.slow

Scored = Callable[..., Run]


def test_a_run_that_does_not_ask_has_none(scored: Scored) -> None:
    assert not {"states", "outlier_dimensions", "ablated_dimensions"} & set(scored().studies)


def test_reports_call_measures_and_kinds_as_they_are_measured() -> None:
    adjusted = (name + geometry.ADJUSTED for name in (geometry.SELF, geometry.SENTENCE, geometry.EXPLAINED))
    assert {*geometry.MEASURES, *adjusted} == {*tables.GEOMETRY}
    assert outliers.KINDS == tables.KINDS
    assert tables.ABLATED_DIMENSIONS["measure"].choices == (outliers.TAGS, outliers.MASKED)


def test_every_key_is_followed(scored: Scored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outliers, "SIGMA", 1.5)
    found = scored("states={texts=20, contexts=2, sets=2}").studies
    states = found["states"]
    assert tuple(states.columns) == tables.STATES.names
    assert set(states.layer) == {0, 1, 2}
    fewer = scored("states={texts=10, contexts=2, sets=2}").studies["states"]
    assert fewer.value.tolist() != states.value.tolist()
    strict = scored("states={texts=20, contexts=15, sets=2}").studies["states"]
    same = states.measure == geometry.SELF
    assert strict[same].n.max() < states[same].n.max()
    more = scored("states={texts=20, contexts=2, sets=5}").studies["ablated_dimensions"]
    ablated = found["ablated_dimensions"]
    assert len(found["outlier_dimensions"])
    same = ablated.kind.isin([outliers.INTACT, outliers.OUTLIERS])
    assert more[same].value.tolist() == ablated[same].value.tolist()
    assert more[~same].value.tolist() != ablated[~same].value.tolist()
