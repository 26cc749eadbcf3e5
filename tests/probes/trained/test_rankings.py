import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from probes.evidence.metrics import METRICS
from probes.trained.rankings import FEWEST, TOP, agreement

QUESTION = {"probe": "dependency", "label": "obj", "variant": "dependent->head"}
NAMES = [f"{layer}-{head}" for layer in (1, 2, 3) for head in (1, 2, 3, 4)]


def heads(n: int = FEWEST, seed: int = 0, **numbers: object) -> pd.DataFrame:
    """Rows of 12 heads with random metrics but for `numbers`."""
    random = np.random.default_rng(seed)
    values = {metric: random.random(len(NAMES)).round(1) for metric in METRICS}
    return pd.DataFrame({**QUESTION, "name": NAMES, "n": n, **values, **numbers})


def pair(found: pd.DataFrame, one: str, other: str) -> pd.Series:
    return found[(found["one"] == one) & (found["other"] == other)].iloc[0]


def test_the_same_order_and_the_reverse_are_the_ends_of_the_scale() -> None:
    up = np.arange(12) / 12
    found = agreement(heads(accuracy=up, mass=up**2, auc=1 - up))
    same, reverse = pair(found, "accuracy", "mass"), pair(found, "accuracy", "auc")
    assert (same.tau, same.same_best, same.overlap) == (pytest.approx(1), True, 1)
    assert (reverse.tau, reverse.same_best, reverse.overlap) == (pytest.approx(-1), False, 0)


def test_heads_that_tie_for_the_best_are_all_best() -> None:
    accuracy, mass = np.zeros(12), np.zeros(12)
    accuracy[[2, 7]], mass[7] = 1, 1
    assert pair(agreement(heads(accuracy=accuracy, mass=mass)), "accuracy", "mass").same_best


def test_questions_with_few_items_are_left_out() -> None:
    both = pd.concat([heads(FEWEST - 1), heads(FEWEST).assign(label="det")])
    assert set(agreement(both)["label"]) == {"det"}
    assert agreement(heads(FEWEST - 1)).empty


def classifiers(**changes: object) -> pd.DataFrame:
    rows = {"probe": "classifier", "label": "obj", "variant": "dependency/dependent->head", "split": "report"}
    random = np.random.default_rng(5)
    return pd.DataFrame({**rows, "name": NAMES, "n": 100, "accuracy": random.random(12), **changes})


def test_a_trained_classifier_is_a_metric_of_the_question_with_its_label() -> None:
    metrics, trained = heads(), classifiers()
    others = trained.assign(split="select", accuracy=0.0)
    shuffled = pd.concat([others, trained.sample(frac=1, random_state=0)])
    found = agreement(metrics, shuffled)
    assert len(found) == 10
    expected = kendalltau(metrics["accuracy"], trained["accuracy"]).statistic
    assert pair(found, "accuracy", "classifier").tau == pytest.approx(expected)


def test_the_overlap_is_a_fraction_of_the_top_heads() -> None:
    up = np.arange(12) / 12
    found = agreement(heads(accuracy=up, mass=np.roll(up, 2)))
    assert pair(found, "accuracy", "mass").overlap == pytest.approx((TOP - 2) / TOP)


@pytest.mark.parametrize(
    "changes",
    [{"label": "det"}, {"variant": "dependency/head->dependent"}, {"variant": "agreement/dependent->head"}, {"n": 40}],
)
def test_other_classifiers_are_no_metric_of_it(changes: dict[str, object]) -> None:
    assert "classifier" not in set(agreement(heads(), classifiers(**changes))["other"])
    assert len(agreement(heads(), pd.DataFrame())) == 6
