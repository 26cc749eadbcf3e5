"""All measures of attention as explanation, for several classifiers that differ in their seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd
import torch

from mha.models.model import Model
from probes.explanation.classifier import (
    Attention,
    AttentionDecisions,
    TrainedClassifier,
    accuracy,
    fit,
    uniform,
)
from probes.explanation.counterfactual import (
    adversarial,
    erased_before_flip,
    flips_without,
    permuted_change,
    random_piece,
)
from probes.explanation.importance import importance, rank_table
from probes.explanation.sentences import SubjectNumberTask

EPSILON = 0.01
"How far adversarial attention may move the output (Jain and Wallace 2019, for classification)."

GUIDES = ("trained", "uniform", "adversarial")
"Attention that a network without context is given."

Measures = Iterator[tuple[str, float]]


def explanation_tables(
    model: Model,
    train: SubjectNumberTask,
    test: SubjectNumberTask,
    seeds: int,
    seed: int,
    step: Callable[[], None] = lambda: None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a row a measure and classifier, and a row a rank correlation and classifier; seeds are from 0.

    The measure `explanation` has their meaning. Every classifier has its own part of `train` and of `test`, which
    `model` has read, so that what they have is independent.
    """
    rows: list[dict[str, object]] = []
    ranks, parts = [], zip(*(torch.arange(len(one.plural)).chunk(seeds) for one in (train, test)), strict=True)
    for number, (trained, tested) in enumerate(parts):
        generator = torch.Generator().manual_seed(1000 * seed + number)
        own, held_out = train.take(trained), test.take(tested)
        classifier = TrainedClassifier.fitted(own.states, own.real, own.plural, 1000 * seed + number)
        found = measures(classifier, own, held_out, 1000 * seed + number, generator)
        rows += [{"seed": number, "measure": measure, "value": value} for measure, value in found]
        ranks.append(rank_table(importance(model, classifier, held_out.texts)).assign(seed=number))
        step()
    return pd.DataFrame(rows), pd.concat(ranks, ignore_index=True)


def measures(
    classifier: TrainedClassifier,
    train: SubjectNumberTask,
    test: SubjectNumberTask,
    seed: int,
    generator: torch.Generator,
) -> Measures:
    """Yield the name and value of every measure of one classifier, which was trained on `train` with `seed`."""
    flat = TrainedClassifier.fitted(train.states, train.real, train.plural, seed, uniform(train.real))
    with torch.no_grad():
        learned, decided = (classifier(one.states, one.real) for one in (train, test))
        even = flat(test.states, test.real).odds(uniform(test.real))
    yield "accuracy", accuracy(decided.odds(decided.attention), test.plural)
    yield "accuracy, uniform attention", accuracy(even, test.plural)
    yield "highest weight", float(decided.attention.amax(-1).mean())
    yield "change, permuted", float(permuted_change(decided, generator).median())
    other, distance = adversarial(decided, EPSILON, generator)
    yield "divergence, adversarial", float(distance.mean())
    yield from _erasure(decided, generator)
    learned_other, _ = adversarial(learned, EPSILON, generator)
    guides = {
        "trained": (learned.attention, decided.attention),
        "uniform": (uniform(train.real), uniform(test.real)),
        "adversarial": (learned_other, other),
    }
    for name in GUIDES:
        yield f"accuracy, guided: {name}", _guided(train, test, seed, *guides[name])


def _erasure(decided: AttentionDecisions, generator: torch.Generator) -> Measures:
    most, random = (
        flips_without(decided, piece) for piece in (decided.attention.argmax(-1), random_piece(decided, generator))
    )
    yield "flips, most attended alone", float((most & ~random).float().mean())
    yield "flips, random alone", float((random & ~most).float().mean())
    yield "flips, most attended", float(most.float().mean())
    towards = decided.odds(decided.attention).sign()[:, None]
    orders = {
        "by attention": decided.attention,
        "at random": torch.rand(decided.real.shape, generator=generator),
        "by attention and gradient": decided.attention * decided.scores * towards,
    }
    for name, order in orders.items():
        yield f"erased, {name}", float(erased_before_flip(decided, order).mean())


def _guided(
    train: SubjectNumberTask, test: SubjectNumberTask, seed: int, learned: Attention, given: Attention
) -> float:
    """Return the accuracy of a network that sees pieces without context, weighted by attention of another."""
    scale = train.embeddings[train.real].std() + 1e-6
    guided = fit(train.embeddings / scale, train.real, train.plural, seed, learned, tokens=True)
    with torch.no_grad():
        return accuracy(guided(test.embeddings / scale, test.real).odds(given), test.plural)
