"""Importance as a table, by hand: means, layers, intervals, and how far predictions agree with costs."""

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr, spearmanr

from mha.pieces import Pieces
from mha.planted.heads import word_model
from probes.causal.behaviours import Predictions, Prompt
from probes.causal.importance import Slopes
from probes.causal.importance_table import CHECKS, COLUMNS, correlations, importance_table, taylor_table
from probes.evidence.question import Effort

EFFORT = Effort(replicates=200, flips=19, seed=0)
SHAPE = (2, 2)


def behaviour(items: int = 40) -> Predictions:
    model = word_model(["a"], layers=2, heads=2, head_dim=2, positions=4, seed=0)
    clusters = tuple(f"document {item // 2}" for item in range(items))
    text = Pieces(np.zeros(2, np.int32), np.zeros(2, np.int32), 1)
    return Predictions("loss", "nats", model, [Prompt(text, i) for i in range(items)], clusters)


def slopes(items: int = 40, directed: bool = False) -> Slopes:
    drawn = torch.randn(3 if directed else 1, items, *SHAPE, generator=torch.Generator().manual_seed(0)).double()
    return Slopes(drawn + torch.arange(4.0).view(2, 2), directed)


def test_importance_is_the_mean_length_and_stands_beside_the_cost() -> None:
    found, own = slopes(), behaviour()
    values = np.random.default_rng(1).standard_normal((5, 40))
    table = importance_table(own, found, values, SHAPE, EFFORT)
    assert tuple(table.columns) == COLUMNS
    assert table.name.tolist() == ["1-1", "1-2", "2-1", "2-2"]
    absolute = found.slopes[0].abs().mean(0)
    np.testing.assert_allclose(table.importance, absolute.flatten())
    np.testing.assert_allclose(table.of_layer, (absolute / (absolute**2).sum(1, keepdim=True).sqrt()).flatten())
    np.testing.assert_allclose(table.predicted, found.slopes[0].mean(0).flatten())
    np.testing.assert_allclose(table.cost, values[0].mean() - values[1:].mean(1))
    assert ((table.ci_low < table.importance) & (table.importance < table.ci_high)).all()
    assert (set(table.n), set(table.clusters)) == ({40}, {20})
    assert importance_table(own, found, None, SHAPE, EFFORT).cost.isna().all()


@pytest.mark.parametrize("directed", [False, True])
def test_predictions_are_correlated_with_costs_over_heads(directed: bool) -> None:
    found = slopes(directed=directed)
    predicted = found.predicted.flatten(1).T.numpy()
    lost = predicted + np.random.default_rng(2).standard_normal(predicted.shape)
    values = np.concatenate([np.zeros((1, 40)), -lost])
    row = taylor_table(behaviour(), found, values, EFFORT).iloc[0]
    assert tuple(row.index) == CHECKS
    assert row.series == ("second order" if directed else "first order")
    assert row.spearman == pytest.approx(spearmanr(predicted.mean(1), lost.mean(1)).statistic)
    assert row.pearson == pytest.approx(pearsonr(predicted.mean(1), lost.mean(1)).statistic)
    assert row.spearman_low <= row.spearman <= row.spearman_high <= 1
    assert row.pearson_low <= row.pearson <= row.pearson_high <= 1
    assert (row.heads, row.n, row.clusters) == (4, 40, 20)


def test_where_nothing_varies_there_is_no_correlation() -> None:
    values = np.zeros((5, 40))
    row = taylor_table(behaviour(), slopes(), values, EFFORT).iloc[0]
    assert np.isnan([row.spearman, row.spearman_low, row.pearson, row.pearson_high]).all()
    table = np.array([[1.0, 2.0, 4.0], [1.0, 1.0, 1.0]])
    np.testing.assert_allclose(correlations(table, table), [1, np.nan])
