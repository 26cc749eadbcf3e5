"""Logistic regressions of a few features, very many at a time, by Newton's method."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.special import expit

from probes.records import IntArray
from probes.scoring.tally import Numbers

STEPS, HALVINGS = 100, 30
"Newton steps at the most, and how often one that goes too far is halved."

TOLERANCE = 1e-9
"Largest gradient, divided by the number of examples, at which a regression is done."


def logistic_regressions(
    features: Float[np.ndarray, "model feature example"], right: Float[np.ndarray, " example"]
) -> tuple[Float[np.ndarray, "model feature"], Float[np.ndarray, " model"]]:
    """Return the slopes and intercepts of one regression a model, each on its own features of the same examples.

    Each minimises sum(log loss) + 0.5 |slopes|^2, as scikit-learn's LogisticRegression does with C = 1; `right` is 1 or
    0. All take their Newton steps together: fitted one by one, small ones cost more in calls than in arithmetic.
    """
    fits = _Fits(features, right)
    for _ in range(STEPS):
        if not fits.step():
            break
    return fits.weights[:, :-1], fits.weights[:, -1]


class _Fits:
    """Regressions that are being fitted; the last weight of each is its intercept."""

    def __init__(self, features: Numbers, right: Numbers) -> None:
        models, width, examples = features.shape
        self.x = np.concatenate([features, np.ones((models, 1, examples))], axis=1)
        self.right = right
        self.penalty = np.append(np.ones(width), 0.0)
        self.weights = np.zeros((models, width + 1))
        self.left = np.arange(models)
        "Models that are not done."
        self.loss, self.chance = self._losses(self.left, self.weights)

    def _losses(self, models: IntArray, weights: Numbers) -> tuple[Numbers, Numbers]:
        """Return [model] what is minimised, and [model, example] the chance that an example is right."""
        odds = np.matmul(weights[:, None], self.x[models])[:, 0]
        losses = np.logaddexp(0, odds) - self.right * odds
        chance: Numbers = expit(odds)
        return losses.sum(1) + 0.5 * (self.penalty * weights**2).sum(1), chance

    def step(self) -> bool:
        """Take one Newton step in every model that is not done; return whether there was any."""
        x, chance = self.x[self.left], self.chance[self.left]
        gradient = np.matmul(x, (chance - self.right)[..., None])[..., 0] + self.penalty * self.weights[self.left]
        steep = np.abs(gradient).max(1) > TOLERANCE * x.shape[2]
        self.left, x, chance, gradient = self.left[steep], x[steep], chance[steep], gradient[steep]
        spread = (chance * (1 - chance))[:, None]
        hessian = np.matmul(x * spread, x.transpose(0, 2, 1)) + np.diag(self.penalty)
        self._descend(np.linalg.solve(hessian, gradient[..., None])[..., 0])
        return len(self.left) > 0

    def _descend(self, steps: Numbers) -> None:
        """Take each model's step, halved until its loss does not rise; one that cannot take any is done."""
        waiting, size = np.arange(len(self.left)), 1.0
        for _ in range(HALVINGS):
            models = self.left[waiting]
            tried = self.weights[models] - size * steps[waiting]
            loss, chance = self._losses(models, tried)
            lower = loss <= self.loss[models]
            taken = models[lower]
            self.weights[taken], self.loss[taken], self.chance[taken] = tried[lower], loss[lower], chance[lower]
            waiting, size = waiting[~lower], size / 2
            if not len(waiting):
                break
        self.left = np.delete(self.left, waiting)
