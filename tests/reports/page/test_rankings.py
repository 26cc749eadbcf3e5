"""How far metrics agree, worked out again from the tables."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reports import Run, write_metrics
from reports.page.rankings import pair_rows, ranking_blocks, variant_rows


@pytest.fixture
def compared(run_folder: Path, metrics: pd.DataFrame, agreement: pd.DataFrame) -> Run:
    write_metrics(metrics, agreement, run_folder)
    return Run.open(run_folder)


@pytest.fixture
def of_accuracy(agreement: pd.DataFrame) -> pd.DataFrame:
    return agreement[agreement.one == "accuracy"]


def test_pairs_have_the_quartiles_over_questions(agreement: pd.DataFrame) -> None:
    pairs = pair_rows(agreement)
    names = [(pair.one, pair.other) for pair in pairs]
    assert names[:4] == [("accuracy", m) for m in ("mass", "reciprocal_rank", "auc", "classifier")]
    assert len(names) == len(set(names)) == 10
    rows = agreement[(agreement.one == "accuracy") & (agreement.other == "mass")]
    pair = pairs[0]
    assert (pair.quartile_1, pair.median, pair.quartile_3) == tuple(np.percentile(rows.tau, [25, 50, 75]))
    assert (pair.questions, pair.same_best, pair.overlap) == (len(rows), rows.same_best.sum(), pytest.approx(0.4))
    assert pairs[3].questions == 3, "only where it was trained"


def test_a_metric_that_is_the_same_for_all_heads_is_not_counted(compared: Run, agreement: pd.DataFrame) -> None:
    constant = (agreement.label == "det") & (agreement.other == "mass")
    masked = replace(compared, agreement=agreement.assign(tau=agreement.tau.mask(constant)))
    pairs = [[*ranking_blocks(run)][2].table.rows[0] for run in (compared, masked)]
    assert int(str(pairs[0][4])) - int(str(pairs[1][4])) == 3
    none = [*ranking_blocks(replace(compared, agreement=agreement[:0]))]
    assert "label–direction pairs has enough items" in none[0].markdown


def test_variants_have_their_medians_the_least_agreement_first(of_accuracy: pd.DataFrame) -> None:
    found, rows = variant_rows(of_accuracy), of_accuracy[of_accuracy.other == "auc"]
    for row in found:
        own = rows[(rows.probe == row.probe) & (rows.variant == row.variant)]
        assert (row.questions, row.auc) == (len(own), own.tau.median())
    assert [row.variant for row in found if not math.isnan(row.classifier)] == ["dependent->head"]
    means = [np.mean([row.mass, row.reciprocal_rank, row.auc]) for row in found]
    assert means == sorted(means)
