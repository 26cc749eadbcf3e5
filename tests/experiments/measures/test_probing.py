"""Probes of layers: every key, and what is shown of the best layer."""

from collections.abc import Callable

import pandas as pd
import pytest

from experiments.measures.probing import ATTACHED, ProbingMeasure
from probes.states import amnesic, pair_relations, sentence_tasks, sentences, structural
from reports import Run
from tests.experiments.measures.pages import text_of

TEXTS = ("corpus.select.documents=60", "corpus.report.documents=60")


@pytest.mark.slow
def test_every_key_is_followed(scored: Callable[..., Run]) -> None:
    found = scored(*TEXTS, "probing={sentences=60, labelled=200, pairs=60}").tables
    layers, trees = found["layer_probes"], {structural.DISTANCES, structural.DEPTHS}
    assert {*trees, sentence_tasks.SHIFT} <= {*layers.task}
    assert {*layers.task} - trees <= {*sentence_tasks.TASKS}
    assert {*layers.measure} == {ATTACHED, structural.CORRELATION, structural.ROOT, sentences.ACCURACY}
    assert found["pair_probes"].task.tolist() == [*pair_relations.TASKS]
    assert found["amnesic"].property.tolist() == [*amnesic.PROPERTIES]
    fewer = scored(*TEXTS, "probing={sentences=30, labelled=0, pairs=0}").tables
    assert "pair_probes" not in fewer
    assert {*fewer["layer_probes"].task} == trees
    assert fewer["amnesic"].n.tolist() != found["amnesic"].n.tolist()


def test_the_page_names_the_layer_in_which_trees_are_found_best() -> None:
    layers = pd.DataFrame({"task": "tree distances", "measure": ATTACHED, "layer": [0, 1], "value": [0.3, 0.6]})
    layers = layers.assign(low=layers.value - 0.1, high=layers.value + 0.1, n=50, held_out=0.5, baseline=0.4)
    page = text_of(ProbingMeasure, {"layer_probes": layers})
    assert "best from layer 1: 60.0 % of arcs, where words in a row have 40.0 %." in page
    assert "| 0.30 [0.20, 0.40] | 0.60 [0.50, 0.70] |" in page
