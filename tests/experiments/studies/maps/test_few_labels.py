"""Heads from few labels in a run: asked for by the config, every key, and the page."""

from collections.abc import Callable

import pytest

from probes.maps import few_labels
from reports import Run
from reports.studies.few_labels import tables

pytestmark = pytest.mark.slow

Scored = Callable[..., Run]

TEXTS = ('probes.names=["dependency"]', "corpus.select.documents=20", "corpus.report.documents=20")


def test_a_run_that_does_not_ask_has_none(scored: Scored) -> None:
    assert "few_labels" not in scored().studies


def test_the_methods_of_the_page_are_those_that_are_measured() -> None:
    assert (tables.HEAD, tables.ENSEMBLE, tables.UNTRAINED) == few_labels.HEADS


def test_every_key_is_followed(scored: Scored) -> None:
    asked = "{relations=2, arcs=[5, 20], draws=3, largest=2}"
    found = scored(*TEXTS, f"few_labels={asked}").studies["few_labels"]
    assert tuple(found.columns) == tables.FEW_LABELS.names
    assert found.groupby(["label", "variant"]).ngroups == 2
    assert set(found.arcs) == {5, 20}
    more = scored(*TEXTS, "few_labels={relations=2, arcs=[5, 20], draws=6, largest=2}").studies["few_labels"]
    assert more.accuracy.tolist() != found.accuracy.tolist()
    wider = scored(*TEXTS, "few_labels={relations=2, arcs=[5, 20], draws=3, largest=4}").studies["few_labels"]
    ensembles = found.method == tables.ENSEMBLE
    assert wider[~ensembles].accuracy.tolist() == found[~ensembles].accuracy.tolist()
    assert wider[ensembles].accuracy.tolist() != found[ensembles].accuracy.tolist()
