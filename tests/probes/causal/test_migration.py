"""Functions that migrate: by hand, and in a model that is scored without some of its heads."""

from collections.abc import Callable

import numpy as np
import pytest

from mha.causal.interventions import Ablate, intervene
from mha.models.model import Model
from probes import get_probe
from probes.causal.migration import COLUMNS, migration_table, score_without
from probes.corpora.corpus import MemoryTexts
from probes.evidence.question import Effort
from probes.evidence.results import Split, pooled_sums
from probes.records import Document
from probes.scoring.score import Settings, score_corpus
from probes.scoring.tally import Sums

EFFORT = Effort(replicates=100, flips=0)
QUESTION = ("probe", "variant", "label")


def split(hits: list[list[float]]) -> Split:
    """Return a split of two clusters of ten items; `hits` [cluster, head]."""
    found = np.array(hits, np.float64)
    return Split({QUESTION: Sums.of_hits((0, 1), np.array([10.0, 10.0]), found)}, {})


def test_the_best_head_is_sought_among_those_that_stay() -> None:
    before = [split([[9, 5, 1, 0], [9, 5, 1, 0]]), split([[8, 4, 2, 0], [8, 6, 2, 0]])]
    after = [split([[10, 1, 7, 0], [10, 1, 7, 0]]), split([[10, 1, 9, 0], [10, 1, 7, 0]])]
    kept = np.array([[False, True], [True, True]])
    table = migration_table(before, after, kept, EFFORT)
    assert tuple(table.columns) == COLUMNS
    (row,) = table.to_dict("records")
    assert (row["best"], row["kept"], row["after"], row["stays"]) == ("1-1", "1-2", "2-1", False)
    assert (row["best_accuracy"], row["kept_accuracy"], row["after_accuracy"]) == (0.8, 0.5, 0.8)
    assert row["change"] == pytest.approx(0.3)
    assert row["ci_low"] <= row["change"] <= row["ci_high"]
    assert (row["n"], row["clusters"]) == (20, 2)
    all_stay = migration_table(before, before, np.ones((2, 2), bool), EFFORT).iloc[0]
    assert (all_stay.best, all_stay.kept, all_stay.after, all_stay.stays) == ("1-1", "1-1", "1-1", True)
    assert all_stay.change == 0


def test_heads_are_scored_while_others_are_off(model: Model, random_documents: Callable[..., list[Document]]) -> None:
    texts = MemoryTexts(random_documents(4, sentences=1, longest=9, seed=3))
    probes = [get_probe("position")]
    off = ((0, 0), (0, 2))
    (found,) = score_without(model, [texts], probes, off, Settings())
    settings = Settings(workers=1)
    with intervene(model.module, *(Ablate(*head) for head in off)):
        expected, _ = pooled_sums(score_corpus(model, texts, probes, {}, settings), probes)
    plain, _ = pooled_sums(score_corpus(model, texts, probes, {}, settings), probes)
    assert found.heads.keys() == expected.keys()
    for question, sums in expected.items():
        np.testing.assert_array_equal(found.heads[question].hits, sums.hits)
    first, second = slice(0, model.heads), slice(model.heads, None)
    below, above = (
        [np.array_equal(found.heads[one].hits[:, part], plain[one].hits[:, part]) for one in plain]
        for part in (first, second)
    )
    assert all(below)
    assert not all(above), "heads of the upper layer read what the others wrote"
