"""Regressions that are fitted together are those that scikit-learn fits one by one."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from probes.trained.classifier import logistic_regressions

MODELS = 5


def examples(count: int, apart: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    right = (random.random(count) < 0.3).astype(float)
    features = random.standard_normal((MODELS, 2, count)) * 10.0 ** random.integers(-2, 3, (MODELS, 2, 1))
    features[:, 0] += apart * right
    return features, right


@pytest.mark.parametrize(("count", "apart"), [(4, 0), (40, 0), (400, 1), (400, 10)])
def test_slopes_and_intercepts_are_those_of_scikit_learn(count: int, apart: float) -> None:
    features, right = examples(count, apart)
    right[:2] = 0, 1
    slopes, intercepts = logistic_regressions(features, right)
    for one, slope, intercept in zip(features, slopes, intercepts, strict=True):
        theirs = LogisticRegression(solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(one.T, right)
        assert slope == pytest.approx(theirs.coef_[0], rel=1e-4, abs=1e-6)
        assert intercept == pytest.approx(theirs.intercept_[0], rel=1e-4, abs=1e-5)


def test_the_intercept_is_not_penalised_and_the_slopes_are() -> None:
    slopes, intercepts = logistic_regressions(np.zeros((1, 2, 10)), np.array([1.0] * 8 + [0.0] * 2))
    assert slopes.tolist() == [[0, 0]]
    assert intercepts[0] == pytest.approx(np.log(8 / 2))
    separable = np.array([[[-1.0, 1.0]]])
    slope, _ = logistic_regressions(separable, np.array([0.0, 1.0]))
    best = minimize(lambda w: 2 * np.log1p(np.exp(-w[0])) + 0.5 * w[0] ** 2, [0.0], tol=1e-12)
    assert slope[0, 0] == pytest.approx(best.x[0], abs=1e-6)
