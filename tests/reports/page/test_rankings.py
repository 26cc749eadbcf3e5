"""How far metrics agree, worked out again from the tables."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reports import Run, write_metrics
from reports.page.rankings import Rankings, rankings


@pytest.fixture
def found(run_folder: Path, metrics: pd.DataFrame, agreement: pd.DataFrame) -> Rankings:
    write_metrics(metrics, agreement, run_folder)
    found = rankings(Run.open(run_folder))
    assert found is not None
    return found


def test_pairs_have_the_quartiles_over_questions(found: Rankings, agreement: pd.DataFrame) -> None:
    names = [(pair.one, pair.other) for pair in found.pairs]
    assert names[:4] == [("accuracy", m) for m in ("mass", "reciprocal_rank", "auc", "classifier")]
    assert len(names) == len(set(names)) == 10
    rows = agreement[(agreement.one == "accuracy") & (agreement.other == "mass")]
    pair = found.pairs[0]
    assert (pair.quartile_1, pair.median, pair.quartile_3) == tuple(np.percentile(rows.tau, [25, 50, 75]))
    assert (pair.questions, pair.same_best, pair.overlap) == (len(rows), rows.same_best.sum(), pytest.approx(0.4))
    assert found.pairs[3].questions == 3, "only where it was trained"
    with_it = [row.variant for row in found.variants if not math.isnan(row.classifier)]
    assert with_it == ["dependent->head"]


def test_a_metric_that_is_the_same_for_all_heads_is_not_counted(
    run_folder: Path, metrics: pd.DataFrame, agreement: pd.DataFrame, found: Rankings
) -> None:
    constant = (agreement.label == "det") & (agreement.other == "mass")
    write_metrics(metrics, agreement.assign(tau=agreement.tau.mask(constant)), run_folder)
    again = rankings(Run.open(run_folder))
    assert again is not None
    assert again.pairs[0].questions == found.pairs[0].questions - 3


def test_variants_have_their_medians_the_least_agreement_first(found: Rankings, agreement: pd.DataFrame) -> None:
    rows = agreement[(agreement.one == "accuracy") & (agreement.other == "auc")]
    for row in found.variants:
        own = rows[(rows.probe == row.probe) & (rows.variant == row.variant)]
        assert (row.questions, row.auc) == (len(own), own.tau.median())
    means = [np.mean([row.mass, row.reciprocal_rank, row.auc]) for row in found.variants]
    assert means == sorted(means)


def test_disputes_name_both_heads_with_both_numbers_and_have_the_largest_gaps(
    found: Rankings, metrics: pd.DataFrame
) -> None:
    assert {dispute.other for dispute in found.disputes} == set(found.others)
    gaps: dict[tuple[str, str], float] = {}
    for (probe, label, _), heads in metrics[metrics.n >= 50].groupby(["probe", "label", "variant"]):
        one, other = heads.loc[heads.accuracy.idxmax()], heads.loc[heads.mass.idxmax()]
        relation = (probe, label.partition(":")[0])
        gaps[relation] = max(min(one.accuracy - other.accuracy, other.mass - one.mass), gaps.get(relation, 0))
    shown = [dispute for dispute in found.disputes if dispute.other == "mass"]
    assert [dispute.gap for dispute in shown] == sorted(gaps.values(), reverse=True)[:2]
    for dispute in shown:
        heads = metrics[(metrics.label == dispute.label) & (metrics.variant == dispute.variant)].set_index("name")
        assert dispute.first_name == heads.accuracy.idxmax() != heads.mass.idxmax() == dispute.second_name
        first, second = heads.loc[dispute.first_name], heads.loc[dispute.second_name]
        assert (dispute.first_accuracy, dispute.first_value) == (first.accuracy, first.mass)
        assert (dispute.second_accuracy, dispute.second_value) == (second.accuracy, second.mass)
