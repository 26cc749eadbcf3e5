"""The trained probe: a logistic regression on what a head gives to two words, beside a control task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.special import expit

from mha.models.model import Model
from probes.corpora.corpus import Texts
from probes.evidence.results import COLUMNS, SPLITS, named_heads
from probes.evidence.statistics import Bootstrap
from probes.records import IntArray
from probes.registry import Probe
from probes.scoring.aligned import Aligned
from probes.scoring.arcs import TASKS, Arc, ControlTask, sample_arcs
from probes.scoring.score import Settings
from probes.scoring.tally import Numbers, Question
from probes.trained.codelength import block_ends, coding_order, mixed
from probes.trained.pair_attention import PairAttention
from probes.trained.selectivity import accuracy_beside_control
from reports.tables.scores import SCORES

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


NAME, BASELINE = "classifier", "control task"

CODING = ("codelength", "compression", "control_compression")
"Bits of the labels on the selection split, how many times less that is than 1 bit each, and so in the control task."

FEWEST = 20
"A label with fewer arcs than this on either split is not asked."

Columns = dict[str, object]
Hits = Numbers
"[task, arc, head] How many of an arc's two pairs each head's classifier tells right, for each of TASKS."


def fit_classifiers(
    model: Model,
    select: Texts,
    report: Texts,
    probes: Sequence[Probe],
    settings: Settings,
    *,
    pairs: int,
    replicates: int,
    seed: int,
    codelength: bool = False,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> pd.DataFrame:
    """Fit a logistic regression for every head and relation on `select`; return its scores on both splits.

    What is classified is a pair of words, by two numbers: a head's attention from the first to the second, and back.
    Each query comes once with a gold key and once with another candidate, so chance is 0.5. Every probe that needs more
    than words is asked, in the first of its variants, with pooled labels. At most `pairs` queries a label and split
    are drawn; the sample is a function of `seed` and of the set of texts.

    One row a question, head and split, in the columns of `probes.evidence.results.score_table`: the probe is
    "classifier", the variant "<probe>/<variant>". `n` is the number of pairs and `accuracy` the fraction told right; on
    the split "select" these are the pairs that it was fitted on. `baseline_accuracy` is that of the same head, fitted
    alike, on the control task, and `margin` their difference: selectivity (Hewitt and Liang 2019, section 2).
    `selected` is the head with the highest accuracy on "select". A label with fewer than FEWEST arcs on either split
    has n = 0 and NaN; without any label the table is empty. `progress` is called with the number of labels done and of
    all.

    With `codelength` the columns CODING follow: what the answers of the pairs of "select" cost when they are coded
    online, in the task and in the control task (`probes.trained.codelength`).
    """
    both = [Aligned.of(model, texts) for texts in (select, report)]
    samples = [sample_arcs(aligned, probes, pairs=pairs, seed=seed) for aligned in both]
    questions = sorted(set(samples[0]) | set(samples[1]))
    asked = [question for question in questions if all(len(arcs.get(question, ())) >= FEWEST for arcs in samples)]
    control = {question: ControlTask.of(samples[0][question], seed) for question in asked}
    seen = [
        PairAttention.of(model, aligned, {question: arcs[question] for question in asked}, control, settings)
        for aligned, arcs in zip(both, samples, strict=True)
    ]
    bootstraps = [_bootstrap(one, replicates, seed + number) for number, one in enumerate(seen)]
    frames: list[pd.DataFrame] = []
    for number, (question, numbers) in enumerate(_measure(questions, seen, bootstraps, codelength)):
        frames.extend(_rows(question, numbers, model, codelength))
        progress(number + 1, len(questions))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


@dataclass(frozen=True)
class HeadClassifiers:
    """A logistic regression for each head, on values that are standardised as they were in training."""

    mean: Float[np.ndarray, "head way"]
    scale: Float[np.ndarray, "head way"]
    slope: Float[np.ndarray, "head way"]
    intercept: Float[np.ndarray, " head"]

    @classmethod
    def fit(cls, values: Float[np.ndarray, "pair head way"]) -> HeadClassifiers:
        """Fit logistic regressions with the penalty 0.5 |slope|^2 on standardised values; right and wrong alternate."""
        mean, scale = values.mean(0), values.std(0)
        scale[scale == 0] = 1
        right = np.tile([1.0, 0.0], len(values) // 2)
        return cls(mean, scale, *logistic_regressions(((values - mean) / scale).transpose(1, 2, 0), right))

    def predict(self, values: Float[np.ndarray, "*pair head way"]) -> Bool[np.ndarray, "*pair head"]:
        """Return whether each head's classifier calls each pair right."""
        called: Bool[np.ndarray, "*pair head"] = self.odds(values) > 0
        return called

    def odds(self, values: Float[np.ndarray, "*pair head way"]) -> Float[np.ndarray, "*pair head"]:
        """Return the log-odds, by each head's classifier, that a pair is right."""
        odds: Numbers = ((values - self.mean) / self.scale * self.slope).sum(-1) + self.intercept
        return odds


def _measure(
    questions: Sequence[Question], seen: Sequence[PairAttention], bootstraps: Sequence[Bootstrap], codelength: bool
) -> Iterator[tuple[Question, list[Columns]]]:
    """Yield the measured columns of every question for both splits; empty ones where it is not asked.

    Labels that pool the same arcs ("obj" and "obj:*" in a corpus without subtypes) share one fit.
    """
    known: dict[tuple[Arc, ...], list[Columns]] = {(): [{}, {}]}
    for question in questions:
        arcs = tuple(arc for one in seen for arc in one.arcs.get(question, ()))
        if arcs not in known:
            hits = _fit_and_apply(*(one.pairs(question) for one in seen))
            coded = _coded(seen[0].pairs(question), seen[0].blocks(question)) if codelength else {}
            known[arcs] = [
                coded
                | {"selected": np.arange(hits[0].shape[2]) == hits[0][0].sum(0).argmax()}
                | accuracy_beside_control(one.blocks(question), part, bootstrap, per=2)
                for one, part, bootstrap in zip(seen, hits, bootstraps, strict=True)
            ]
        yield question, known[arcs]


def _fit_and_apply(
    select: Float[np.ndarray, "task arc end head way"], report: Float[np.ndarray, "task other end head way"]
) -> list[Hits]:
    """Fit both tasks on `select`; return the hits on both splits."""
    hits = []
    fitted = [HeadClassifiers.fit(select[task].reshape(-1, *select.shape[3:])) for task in range(len(TASKS))]
    for part in (select, report):
        called = np.stack([one.predict(values) for one, values in zip(fitted, part, strict=True)])
        hits.append(called[:, :, 0].astype(np.float64) + ~called[:, :, 1])
    return hits


def _coded(values: Float[np.ndarray, "task arc end head way"], blocks: Int[np.ndarray, " arc"]) -> Columns:
    """Return the columns CODING; `blocks` are clusters, of which the code has whole ones in a block."""
    order = coding_order(blocks, 0)
    bits = np.stack([_bits(task[order], block_ends(blocks[order])) for task in values])
    short = 2 * len(blocks) / bits
    return dict(zip(CODING, (bits[0], *short), strict=True))


def _bits(values: Float[np.ndarray, "arc end head way"], ends: Sequence[int]) -> Float[np.ndarray, " head"]:
    """Return the bits of each head's online code for which pairs are right, 1 bit each in the first block."""
    bits = np.full(values.shape[2], 2.0 * ends[0])
    for begin, end in pairwise(ends):
        odds = HeadClassifiers.fit(values[:begin].reshape(-1, *values.shape[2:])).odds(values[begin:end])
        sure = expit(np.stack([odds[:, 0], -odds[:, 1]]))
        bits -= np.log2(mixed(sure, 2 * begin, 2)).sum((0, 1))
    return bits


def _bootstrap(seen: PairAttention, replicates: int, seed: int) -> Bootstrap:
    clusters = {int(block) for question in seen.arcs for block in seen.blocks(question)}
    return Bootstrap.draw(tuple(sorted(clusters)), replicates, seed)


def _rows(question: Question, numbers: Sequence[Columns], model: Model, codelength: bool) -> Iterator[pd.DataFrame]:
    """Yield the rows of one question for both splits."""
    rows: Columns = SCORES.missing | {"probe": NAME, "label": question[2], "variant": f"{question[0]}/{question[1]}"}
    rows |= named_heads((model.layers, model.heads)) | {"baseline": BASELINE} | dict.fromkeys(CODING, np.nan)
    columns = [*COLUMNS, *(CODING if codelength else ())]
    for split, measured in zip(SPLITS, numbers, strict=True):
        yield pd.DataFrame(rows | measured | {"split": split})[columns]
