"""What heads look at beside what they cost, as a part of a run."""

from collections.abc import Callable

import pandas as pd
import pytest

from reports import Run
from reports.studies.link.tables import VERDICTS

Scored = Callable[..., Run]
ASKED = ('probes.names=["position"]', 'ablation.behaviours=["embedding"]', "ablation.items=20", "scoring.flips=99")


@pytest.fixture(scope="module")
def linked(scored: Scored) -> Run:
    return scored(*ASKED, 'importance.behaviours=["embedding"]', "importance.items=20")


def test_costs_and_scores_of_the_run_stand_beside_each_other(linked: Run) -> None:
    table = linked.studies["link"].set_index("name")
    assert set(table.behaviour) == {"sentence embedding"}
    assert set(table.variant) == {"other words"}
    assert len(table) == linked.layers * linked.heads
    ablations = linked.studies["ablations"]
    single = ablations[(ablations.kind == "head") & (ablations.measure == "value")].set_index("name")
    pd.testing.assert_series_equal(table.cost, single.cost.loc[table.index], check_names=False)
    scores = linked.scores
    own = scores[(scores.split == "report") & (scores.probe == "position") & (scores.label == "previous")].set_index(
        "name"
    )
    pd.testing.assert_series_equal(table.accuracy, own.accuracy.loc[table.index], check_names=False)
    assert (table.attends == (own.grade.loc[table.index] > 0)).all()
    importance = linked.studies["importance"].set_index("name").importance
    pd.testing.assert_series_equal(table.importance, importance.loc[table.index], check_names=False)
    assert (table.write_norm > 0).all()
    assert set(table.verdict) <= set(VERDICTS)
    assert table.patching.isna().all()


def test_correlations_are_over_all_heads(linked: Run) -> None:
    found = linked.studies["link_correlations"].set_index(["one", "other"])
    assert ("importance", "cost") in found.index
    assert ("patching", "cost") not in found.index
    assert set(found.heads) == {linked.layers * linked.heads}


def test_a_run_whose_probes_have_no_role_is_linked_to_nothing(scored: Scored) -> None:
    found = scored('probes.names=["dependency"]', *ASKED[1:])
    assert "ablations" in found.studies
    assert "link" not in found.studies


def test_a_run_without_ablations_has_no_link(scored: Scored) -> None:
    assert "link" not in scored().studies
