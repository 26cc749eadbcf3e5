import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments.statements.estimates import Estimate
from experiments.statements.finding import Missing
from experiments.statements.numbers import (
    average,
    by_depth,
    correlation,
    heads_above,
    margin,
    minus,
    over_units,
    preferred,
    selected_head,
    together,
)
from probes.evidence.statistics import pearson, spearman
from tests.experiments.findings.planted import decided, planted_run, scored


def test_the_margin_is_that_of_the_head_chosen_on_the_selection_split():
    rows = [
        scored("dependency", "obj", head=0, margin=0.3, selected=True),
        scored("dependency", "obj", head=1, margin=0.5, selected=False),
    ]
    found = margin(planted_run(rows), "dependency", "obj", "dependent->head")
    assert (found.heads, found.decides.value, found.baseline) == ("1-1", 0.3, 0.4)
    assert found.ours is not None
    assert found.ours.value == pytest.approx(0.7)


def test_a_label_that_nobody_asked_is_missing():
    with pytest.raises(Missing, match="no dependency 'det' in planted"):
        margin(planted_run([scored("dependency", "obj")]), "dependency", "det")


def test_heads_are_counted_from_the_sure_to_the_possible():
    frame = pd.DataFrame(
        {"value": [0.6, 0.6, 0.45, 0.1], "ci_low": [0.55, 0.4, 0.4, 0.0], "ci_high": [0.65, 0.7, 0.6, 0.2]}
    )
    assert heads_above(frame, 0.5) == Estimate(2.0, 1.0, 3.0, 4)


def test_a_difference_of_two_numbers_has_the_interval_of_independent_errors():
    one, other = Estimate(0.5, 0.4, 0.6, 10), Estimate(0.2, 0.1, 0.3, 10)
    found = together(lambda values: float(values[0] - values[1]), [one, other])
    assert found.value == pytest.approx(0.3)
    assert (found.high - found.low) / 2 == pytest.approx(0.1 * 2**0.5, rel=0.06)
    assert together(lambda values: float(values[0] - values[1]), [one, other]) == found


def test_minimal_pairs_are_those_of_a_corpus_or_of_a_group_in_it():
    run = planted_run(
        behaviour=[
            decided("linzen", 0.9, n=700, left_out=30),
            decided("linzen", 0.6, "attractors", attractors=4),
            decided("grammar", 0.7, "attractors", attractors=4),
        ]
    )
    whole, four = preferred(run, "linzen"), preferred(run, "linzen", attractors=4)
    assert whole.decides == Estimate(0.9, 0.88, 0.92, 700)
    assert whole.note == "700 pairs, 30 more left out"
    assert (four.decides.value, four.note) == (0.6, "500 pairs")


@pytest.mark.parametrize("run", [planted_run(), planted_run(behaviour=[decided("linzen", 0.9, "attractors", n=0)])])
def test_pairs_that_were_not_decided_are_missing(run):
    with pytest.raises(Missing, match="no pair of linzen 2 could be decided"):
        preferred(run, "linzen", attractors=2)


def test_a_head_of_some_layers_is_chosen_on_the_selection_split_and_told_on_the_other():
    scores = planted_run(
        [
            scored("rare", "rarest", split=split, layer=layer, accuracy=accuracy, selected=False)
            for split, by_layer in (("select", (0.5, 0.6, 0.7)), ("report", (0.4, 0.3, 0.9)))
            for layer, accuracy in enumerate(by_layer)
        ]
    ).scores
    row = selected_head(scores[scores.layer < 2])
    assert (row["name"], row["split"], row["accuracy"]) == ("2-1", "report", 0.3)
    with pytest.raises(Missing):
        selected_head(scores[scores.layer > 2])


def test_the_bootstrap_draws_whole_groups():
    frame = pd.DataFrame({"value": [0.0, 1.0, 0.0, 1.0], "unit": [1, 2, 1, 2]})
    seen = []
    over_units(lambda some: seen.append(some.groupby("unit").size().to_dict()) or 0.0, frame, "unit")
    assert all(count % 2 == 0 for sizes in seen for count in sizes.values())


@pytest.mark.parametrize(("ours", "theirs"), [(spearman, stats.spearmanr), (pearson, stats.pearsonr)])
def test_correlations_are_those_of_scipy_over_heads_that_have_both(ours, theirs):
    rng = np.random.default_rng(3)
    one = rng.normal(size=40)
    other = one + rng.normal(size=40)
    found = correlation(ours, np.append(one, np.nan), np.append(other, 1.0))
    assert found.value == pytest.approx(float(theirs(one, other).statistic))
    assert found.low < found.value < found.high
    assert found.n == 40
    assert np.isnan(correlation(ours, one, np.ones(40)).value)


def layers(count: int) -> pd.DataFrame:
    values = np.arange(float(count))
    return pd.DataFrame({"layer": range(count), "value": values, "ci_low": values, "ci_high": values + 1})


@pytest.mark.parametrize(("count", "found"), [(12, [5, 6, 7, 8, 9]), (6, [2, 3, 4]), (4, [1, 2])])
def test_layers_6_to_10_of_12_are_found_in_models_of_another_depth(count, found):
    assert list(by_depth(layers(count), 5 / 12, 10 / 12).layer) == found


def test_an_average_has_the_mean_of_both_ends_and_is_missing_without_a_row():
    assert average(layers(3)) == Estimate(1.0, 1.0, 2.0, 3)
    assert np.isnan(minus(average(layers(3).iloc[:0]), Estimate(1.0, 0.5, 1.5, 9)).value)
