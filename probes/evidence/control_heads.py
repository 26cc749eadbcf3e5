"""What controls reach: the accuracy of their best heads, and the level that 95 % of a kind stay below."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from probes.evidence.leads import TINY, ControlLevel, Documents
from probes.records import IntArray
from probes.registry import WORDS
from probes.scoring.tally import Numbers, Pooled, Sums

QUANTILE = 1.6448536269514722
"Standard deviations between the mean of a normal distribution and the number that 95 % of it is below."


def away(kind: str) -> float:
    """Return how many standard deviations of its models the level of a kind of control lies above their mean.

    Word orders are no population of models: their mean counts.
    """
    return 0.0 if kind == WORDS else QUANTILE


def best_heads(models: Sequence[Pooled]) -> Pooled:
    """Return the sums of the best head of each model, [document, model], for every question.

    Half of the documents select a model's head and the other half score it, and the other way round: so its accuracy is
    not inflated by the selection. A single document does both.
    """
    return {
        question: Sums.of_hits(sums.clusters, sums.n, np.stack([_best(one[question]) for one in models], axis=1))
        for question, sums in (models[0] if models else {}).items()
    }


def _best(sums: Sums) -> Numbers:
    """Return [document], the hits of the head that is best on the other half of the documents."""
    half = np.arange(len(sums.n)) % 2
    best = [sums.hits[half != side if len(half) > 1 else half == 0].sum(0).argmax() for side in (0, 1)]
    hits: Numbers = np.where(half == 0, sums.hits[:, best[0]], sums.hits[:, best[1]])
    return hits


class ControlHeads:
    """How accurate the best heads of the models of one kind of control are on one question.

    The spread of the models is what their accuracies vary by, less what the sample of documents adds to that: what one
    model has more of in some documents than the mean of all models.
    """

    def __init__(self, best: Sums, away: float = QUANTILE, seed: int = 0) -> None:
        """Measure models by `best`, the sums of their best heads, [document, model].

        The level lies `away` standard deviations from the mean: none where models differ in nothing but chance.
        """
        self.away, self.seed = away, seed
        documents, mean = Documents.of(best.n), best.hits.mean(1, keepdims=True)
        count = best.hits.shape[1]
        self.accuracies: Numbers = best.hits.sum(0) / best.n.sum()
        self.noise: Numbers = documents.error(best.hits - mean) ** 2 * count / max(count - 1, 1)
        "[model] Squared error of how far each accuracy lies from the mean of all, for the documents that were sampled."
        self._of_documents = documents.error(mean)[0] ** 2
        "Squared error of the mean of all models, for the documents that were sampled."
        self._freedom = documents.freedom

    def level(self, models: IntArray | None = None) -> ControlLevel:
        """Return the level of such models: of 95 %, where their accuracies are normal and `away` is QUANTILE.

        `models`, [..., model], are draws of them with replacement; the level is an array then. Its squared error has
        three parts: for the models that were drawn, for the spread as estimated from so few of them, and for the
        documents that they read. Degrees of freedom are Satterthwaite's.
        """
        drawn = self.accuracies if models is None else self.accuracies[models]
        noise = self.noise if models is None else self.noise[models]
        count = drawn.shape[-1]
        varied = drawn.var(-1, ddof=1)
        spread, unsure = np.maximum(varied - noise.mean(-1), 0), varied * np.sqrt(2 / (count - 1))
        # the variance errs by `unsure`, its root by half of that over the root, which counts as no less than it errs
        of_root = unsure**2 / (4 * np.maximum(np.maximum(spread, unsure), TINY))
        of_models = spread / count + self.away**2 * of_root
        square = of_models + self._of_documents
        shares = of_models**2 / (count - 1) + self._of_documents**2 / self._freedom
        freedom = np.maximum(square**2 / np.maximum(shares, TINY**4), 1)
        return ControlLevel(np.minimum(drawn.mean(-1) + self.away * np.sqrt(spread), 1), np.sqrt(square), freedom)

    def redrawn(self, redraws: int) -> ControlLevel:
        """Return the levels of as many models, drawn from these with replacement, [redraw, 1]."""
        count = len(self.accuracies)
        one = self.level(np.random.default_rng(self.seed).integers(count, size=(redraws, count)))
        accuracy, error, freedom = (np.asarray(part)[:, None] for part in (one.accuracy, one.error, one.freedom))
        return ControlLevel(accuracy, error, freedom)
