"""Probing in a run: asked for by the config, and every key."""

from collections.abc import Callable

import pytest

from probes.states import amnesic, pair_relations, sentence_tasks, sentences, structural
from reports import Run
from reports.studies.probing import tables

pytestmark = pytest.mark.slow

Scored = Callable[..., Run]

TEXTS = ("corpus.select.documents=60", "corpus.report.documents=60")


def test_a_run_that_does_not_ask_has_none(scored: Scored) -> None:
    assert not {*tables.PROBING_TABLES} & set(scored().studies)


def test_every_key_is_followed(scored: Scored) -> None:
    found = scored(*TEXTS, "probing={sentences=60, labelled=200, pairs=60}").studies
    layers = found["layer_probes"]
    assert tuple(layers.columns) == tables.LAYER_PROBES.names
    assert {structural.DISTANCES, structural.DEPTHS, sentence_tasks.SHIFT} <= set(layers.task)
    assert set(layers.task) - {structural.DISTANCES, structural.DEPTHS} <= set(sentence_tasks.TASKS)
    assert set(layers.measure) == {structural.ATTACHED, structural.CORRELATION, structural.ROOT, sentences.ACCURACY}
    assert found["pair_probes"].task.tolist() == [*pair_relations.TASKS]
    assert found["amnesic"].property.tolist() == [*amnesic.PROPERTIES]
    none = scored(*TEXTS, "probing={sentences=60, labelled=0, pairs=0}").studies
    assert "pair_probes" not in none
    assert set(none["layer_probes"].task) == {structural.DISTANCES, structural.DEPTHS}
    fewer = scored(*TEXTS, "probing={sentences=30, labelled=0, pairs=0}").studies
    assert fewer["amnesic"].n.tolist() != none["amnesic"].n.tolist()
