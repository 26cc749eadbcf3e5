"""Probes of layers: every key, and what is shown of the best layer."""

from collections.abc import Callable

import pytest

from experiments.measures.probing import ATTACHED
from probes.states import amnesic, pair_relations, sentences, structural
from reports import Run

TEXTS = ("corpus.select.documents=60", "corpus.report.documents=60")


@pytest.mark.slow
def test_every_key_is_followed(scored: Callable[..., Run]) -> None:
    found = scored(*TEXTS, "probing={sentences=60, labelled=200, pairs=60}").tables
    layers, trees = found["layer_probes"], {structural.DISTANCES, structural.DEPTHS}
    assert {*trees, sentences.SHIFT} <= {*layers.task}
    assert {*layers.task} - trees <= {*sentences.TASKS}
    assert {*layers.measure} == {ATTACHED, structural.CORRELATION, structural.ROOT, sentences.ACCURACY}
    assert found["pair_probes"].task.tolist() == [*pair_relations.TASKS]
    assert found["amnesic"].property.tolist() == [*amnesic.PROPERTIES]
    fewer = scored(*TEXTS, "probing={sentences=30, labelled=0, pairs=0}").tables
    assert "pair_probes" not in fewer
    assert {*fewer["layer_probes"].task} == trees
    assert fewer["amnesic"].n.tolist() != found["amnesic"].n.tolist()
