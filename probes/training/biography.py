"""The biography of the heads of one training: what each did on every question, checkpoint by checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from probes.evidence.statistics import Bootstrap
from probes.scoring.baselines import LEXICAL
from probes.scoring.tally import Numbers, Pooled, Question, Sums, reported_questions
from reports.tables.biographies import MAIN, TABLES

GROUPS = 100
"Clusters are put into at most so many groups, of which sums are kept and resamples drawn."


@dataclass(frozen=True)
class Trajectory:
    """What all heads of a training did on one question."""

    n: Numbers
    "[group] Number of items."
    hits: npt.NDArray[np.float32]
    "[step, group, head]"
    mass: Numbers
    "[step, head] Mean attention on gold."
    baseline: str
    "The strongest baseline on the same items; empty where there is none."
    beaten: Numbers
    "[group] Hits of that baseline, NaN where there is none."

    @property
    def accuracy(self) -> Numbers:
        """[step, head] Fraction of the items whose most attended candidate is gold."""
        accuracy: Numbers = self.hits.sum(1, dtype=np.float64) / self.n.sum()
        return accuracy

    @property
    def baseline_accuracy(self) -> float:
        """Accuracy of the strongest baseline; NaN where there is none."""
        return float(self.beaten.sum() / self.n.sum())

    @property
    def margins(self) -> Numbers:
        """[step, head] Accuracy minus that of the strongest baseline."""
        return self.accuracy - self.baseline_accuracy

    def best(self) -> npt.NDArray[np.int64]:
        """[step] The head with the highest accuracy, the first of equals."""
        best: npt.NDArray[np.int64] = self.accuracy.argmax(1)
        return best

    def best_hits(self) -> Numbers:
        """[step, group] Hits of the best head of each step, which is selected on the other half of the groups.

        The best of many heads looks better than it is on the items that chose it. So groups with items are dealt into
        two halves, and each half is told of the head that is best on the other one. NaN where there are fewer than two.
        """
        asked = np.flatnonzero(self.n)
        hits = np.full(self.hits.shape[:2], np.nan)
        if len(asked) < 2:
            return hits
        hits[:] = 0
        for chosen_on, told in ((asked[::2], asked[1::2]), (asked[1::2], asked[::2])):
            best = self.hits[:, chosen_on].sum(1, dtype=np.float64).argmax(1)
            hits[:, told] = np.take_along_axis(self.hits[:, told], best[:, None, None], 2)[:, :, 0]
        return hits

    def best_margins(self, weights: Numbers | None = None) -> Numbers:
        """Return [replicate, step], the margin of the best head (`best_hits`) in resamples of the groups.

        `weights` is [replicate, group], how often each group is drawn; one row of ones if None. NaN where a resample
        has no item.
        """
        drawn = np.ones((1, len(self.n))) if weights is None else weights
        with np.errstate(invalid="ignore"):
            margins: Numbers = (drawn @ (self.best_hits() - self.beaten).T) / (drawn @ self.n)[:, None]
        return margins


@dataclass(frozen=True)
class Biography:
    """All courses of one training, its checkpoints in ascending order."""

    seed: int
    steps: tuple[int, ...]
    tokens: tuple[int, ...]
    corpus: str
    layers: int
    heads: int
    courses: Mapping[Question, Trajectory]

    def weights(self, replicates: int, seed: int) -> Numbers:
        """Return [replicate, group], how often groups are drawn: the same for all questions, which are so paired."""
        bootstrap = self._bootstrap(replicates, seed)
        weights = np.zeros((len(bootstrap.weights), GROUPS))
        weights[:, list(bootstrap.clusters)] = bootstrap.weights
        return weights

    def _bootstrap(self, replicates: int, seed: int) -> Bootstrap:
        groups = {int(group) for course in self.courses.values() for group in np.flatnonzero(course.n)}
        return Bootstrap.draw(sorted(groups), replicates, seed)

    def table(self, replicates: int, seed: int) -> pd.DataFrame:
        """Return one row a step, question and head; intervals are bootstrapped over groups of clusters.

        margin: accuracy minus that of the strongest baseline on the same items. excess: accuracy minus that of the same
        head at the first checkpoint, which at step 0 has the weights that training starts from.
        """
        drawn = self._bootstrap(replicates, seed)
        frames = [self._rows(question, course, drawn) for question, course in self.courses.items()]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[*TABLES[MAIN].names])

    def _rows(self, question: Question, course: Trajectory, drawn: Bootstrap) -> pd.DataFrame:
        accuracy, (steps, count) = course.accuracy, (len(self.steps), self.layers * self.heads)
        groups = np.flatnonzero(course.n)
        resamples = drawn.of(groups.tolist(), course.n[groups])
        bounds = [resamples.interval(resamples.means(hits[groups].astype(np.float64))) for hits in course.hits]
        low, high = np.stack(bounds, 1)
        layer, head = np.divmod(np.tile(np.arange(count), steps), self.heads)
        return pd.DataFrame(
            {
                "seed": self.seed,
                "step": np.repeat(self.steps, count),
                "tokens": np.repeat(self.tokens, count),
                "corpus": self.corpus,
                **dict(zip(("probe", "variant", "label"), question, strict=True)),
                "layer": layer,
                "head": head,
                "name": [f"{one + 1}-{other + 1}" for one, other in zip(layer, head, strict=True)],
                "n": int(course.n.sum()),
                "accuracy": accuracy.ravel(),
                "ci_low": low.ravel(),
                "ci_high": high.ravel(),
                "mass": course.mass.ravel(),
                "baseline": course.baseline,
                "baseline_accuracy": course.baseline_accuracy,
                "margin": course.margins.ravel(),
                "excess": (accuracy - accuracy[0]).ravel(),
            }
        )[[*TABLES[MAIN].names]]


@dataclass(frozen=True)
class Marks:
    """What is kept of one checkpoint on one question."""

    n: Numbers
    "[group]"
    hits: npt.NDArray[np.float32]
    "[group, head]"
    mass: Numbers
    "[head] Mean attention on gold."


def marks(pooled: Pooled, labels: Sequence[str] | None = None) -> dict[Question, Marks]:
    """Return what is kept of the sums of one checkpoint: of questions with one of `labels`, of all if None."""
    return {
        question: Marks(
            _grouped(sums, sums.n[:, None])[:, 0],
            _grouped(sums, sums.hits).astype(np.float32),
            sums.mass.sum(0) / sums.n.sum(),
        )
        for question, sums in pooled.items()
        if labels is None or question[2] in labels
    }


def courses(
    checkpoints: Sequence[Mapping[Question, Marks]], baselines: Mapping[str, Pooled]
) -> dict[Question, Trajectory]:
    """Return the course of every question; `baselines` are those of the same prepared targets.

    The lexical table is a yardstick, not a baseline.
    """
    questions = reported_questions(checkpoints[0].keys())
    return {question: _course([one[question] for one in checkpoints], question, baselines) for question in questions}


def _course(found: Sequence[Marks], question: Question, baselines: Mapping[str, Pooled]) -> Trajectory:
    rivals = {name: pooled[question] for name, pooled in sorted(baselines.items()) if question in pooled}
    rivals.pop(LEXICAL, None)
    strongest = max(rivals, key=lambda name: rivals[name].hits.sum(), default="")
    beaten = _grouped(rivals[strongest], rivals[strongest].hits)[:, 0] if rivals else np.full(GROUPS, np.nan)
    hits, mass = np.stack([one.hits for one in found]), np.stack([one.mass for one in found])
    return Trajectory(found[0].n, hits, mass, strongest, beaten)


def _grouped(sums: Sums, values: Numbers) -> Numbers:
    """Return [group, scored] of values [cluster, scored]."""
    grouped = np.zeros((GROUPS, values.shape[1]))
    np.add.at(grouped, np.array(sums.clusters, np.int64) % GROUPS, values)
    return grouped
