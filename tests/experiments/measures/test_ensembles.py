"""Ensembles: single heads as they are scored, the sizes of the selection split, and numbers of the page."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from probes import get_probe
from probes.evidence.relations import choose_relations
from reports import Run

ON = ("heads={texts=0, relations=3, largest=3}", 'probes.names=["dependency", "position"]')
MANY = ("corpus.select.documents=40", "corpus.report.documents=40")


@pytest.mark.slow
@pytest.mark.parametrize("maps", ["weights", "norms"])
def test_the_single_head_of_an_ensemble_has_the_numbers_of_the_scores(maps: str, scored: Callable[..., Run]) -> None:
    found = scored(*ON, *MANY, f"scoring.maps={maps!r}")
    ensembles = found.tables["ensembles"]
    assert ensembles.groupby(["probe", "label", "variant"])["size"].apply(list).tolist() == [[1, 2, 3]] * 3
    assert set(ensembles.probe) == {"dependency"}, "positions need no relation"
    key = ["probe", "label", "variant"]
    chosen = found.scores[found.scores.selected & (found.scores.split == "report")].set_index(key)
    for row in ensembles[ensembles["size"] == 1].itertuples():
        scored = chosen.loc[(row.probe, row.label, row.variant)]
        assert (row.heads, row.n, row.clusters, row.baseline) == (
            scored["name"],
            scored.n,
            scored.clusters,
            scored.baseline,
        )
        told = [row.accuracy, row.ci_low, row.ci_high, row.margin, row.margin_low, row.margin_high]
        expected = scored[["accuracy", "ci_low", "ci_high", "margin", "margin_low", "margin_high"]]
        np.testing.assert_allclose(told, expected.to_numpy(float), atol=1e-6)
        assert (row.gain, row.gain_low, row.gain_high) == (0, 0, 0)


@pytest.mark.slow
def test_the_size_that_is_best_on_the_selection_split_is_the_chosen_one(scored: Callable[..., Run]) -> None:
    for _, rows in scored(*ON, *MANY).tables["ensembles"].groupby(["probe", "label", "variant"]):
        assert rows.selected.tolist() == (np.arange(3) == rows.select_accuracy.argmax()).tolist()
        heads = [names.split() for names in rows.heads]
        assert [len(set(names)) for names in heads] == [1, 2, 3]
        assert heads[2][:2] == heads[1]


def relation_rows(**changes: dict[str, object]) -> pd.DataFrame:
    """Return scores of chosen heads: a label and variant a row and split, with `changes` by label."""
    rows = []
    for label, variant, n, margin in (
        ("det", "a", 90, 0.1),
        ("det", "b", 90, 0.2),
        ("obj", "a", 200, 0.0),
        ("cc", "a", 49, 0.9),
        ("obj:*", "a", 300, 0.9),
    ):
        for split in ("select", "report"):
            row = {"probe": "dependency", "label": label, "variant": variant, "split": split, "n": n, "margin": margin}
            row |= {"selected": True, "baseline": f"offset of {split}", "layer": 1, "head": 0}
            rows.append(row | changes.get(label, {}))
    return pd.DataFrame(rows)


def test_relations_are_the_labels_with_most_items_each_in_its_best_variant() -> None:
    probes = [get_probe("dependency")]
    found = choose_relations(relation_rows(), probes, 5, 12)
    assert [one.question for one in found] == [("dependency", "a", "obj"), ("dependency", "b", "det")]
    assert {(one.first, one.baseline) for one in found} == {(12, "offset of report")}
    assert [one.question[2] for one in choose_relations(relation_rows(), probes, 1, 12)] == ["obj"]
    assert choose_relations(relation_rows(obj={"baseline": ""}, det={"probe": "position"}), probes, 5, 12) == []
