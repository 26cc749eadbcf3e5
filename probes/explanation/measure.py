"""All measures of attention as explanation, for several classifiers that differ in their seed.

They decide on the number of the main subject, in sentences whose verb is masked: else one word would tell the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from mha.batches import collate
from mha.models.circuits import encoder_of
from mha.models.masked_prediction import hidden_piece
from mha.models.model import Model
from mha.models.packages import ModelError
from mha.pieces import Pieces, align
from probes.explanation.classifier import (
    AttentionDecisions,
    TrainedClassifier,
    accuracy,
    adversarial,
    erased_before_flip,
    fit,
    flips_without,
    permuted_change,
    random_piece,
    uniform,
)
from probes.explanation.importance import importance, rank_table
from probes.pairs.number_swaps import NumberSwap, number_swapped

BATCH = 64

LONGEST = 20
"Words of the longest sentence."

MAIN = "main clause"
"The condition of subjects that are asked about: a sentence has one of them."


@dataclass(frozen=True)
class SubjectNumberTask:
    """Sentences with their states, padded; pieces of words alone, [CLS] and [SEP] are left out."""

    states: Float[Tensor, "sentence piece model"]
    "Of the last layer, frozen; 0 at padding."
    embeddings: Float[Tensor, "sentence piece size"]
    "Of the pieces by themselves, without position or context."
    real: Bool[Tensor, "sentence piece"]
    plural: Float[Tensor, " sentence"]
    "1 where the main subject is plural, else 0."
    texts: tuple[Pieces, ...] = ()
    "What the model read, the verb masked; empty where states were made without a model."

    def take(self, indices: Tensor) -> SubjectNumberTask:
        """Return some of the sentences."""
        texts = tuple(self.texts[place] for place in indices.tolist()) if self.texts else ()
        return SubjectNumberTask(
            self.states[indices], self.embeddings[indices], self.real[indices], self.plural[indices], texts
        )


@dataclass(frozen=True)
class NumberedSentence:
    """A sentence with a verb that shows the number of its subject."""

    words: tuple[str, ...]
    verb: int
    "Place of the verb."
    plural: bool


def numbered_sentences(count: int, seed: int) -> list[NumberedSentence]:
    """Return sentences with one verb that shows the number of its subject.

    Of every second sentence subject and verb are put into the other number, so that no noun tells the answer.
    """
    found: list[NumberedSentence] = []
    for one in number_swapped(seed):
        if isinstance(one, NumberSwap) and one.kind.condition == MAIN and len(one.clean) <= LONGEST:
            plural = one.kind.number == "plural"
            if len(found) % 2:
                words = list(one.corrupted)
                words[one.verb] = one.wrong
                found.append(NumberedSentence(tuple(words), one.verb, not plural))
            else:
                found.append(NumberedSentence(one.clean, one.verb, plural))
        if len(found) == count:
            break
    return found


@torch.no_grad()
def read_task(model: Model, count: int, seed: int) -> SubjectNumberTask:
    """Have the model read `count` sentences whose verb is masked, by the unknown piece where there is no mask.

    Raises CircuitError for a model that is not of the BERT family.
    """
    model = model.on_cpu()
    encoder = encoder_of(model, "attention as explanation")
    drawn, mask = numbered_sentences(2 * count, seed), hidden_piece(model)
    every = zip(align(model.tokenizer, [one.words for one in drawn]), drawn, strict=True)
    fitting = [(text, one) for text, one in every if len(text) <= model.max_pieces][:count]
    if len(fitting) < count:
        fit = f"{len(fitting)} of {len(drawn)} sentences fit into {model.max_pieces} pieces"
        raise ModelError(f"{model.name}: {fit}, expected {count}")
    pieces = [
        replace(text, ids=np.where(text.word == one.verb, mask, text.ids).astype(text.ids.dtype))
        for text, one in fitting
    ]
    longest = max(map(len, pieces)) - 2
    states = torch.zeros(count, longest, encoder.config.model)
    embeddings = torch.zeros(count, longest, encoder.pieces.embedding_dim)
    real = torch.zeros(count, longest, dtype=torch.bool)
    for start in range(0, count, BATCH):
        batch = collate(pieces[start : start + BATCH], padding=model.padding)
        vectors = model.run(batch.ids, batch.mask)
        for place, text in enumerate(pieces[start : start + BATCH], start):
            size = len(text) - 2
            states[place, :size] = vectors[place - start, 1 : size + 1]
            embeddings[place, :size] = encoder.pieces.weight[batch.ids[place - start, 1 : size + 1]]
            real[place, :size] = True
    plural = torch.tensor([float(one.plural) for _, one in fitting])
    return SubjectNumberTask(states, embeddings, real, plural, tuple(pieces))


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
    train: SubjectNumberTask,
    test: SubjectNumberTask,
    seed: int,
    learned: Float[Tensor, "train piece_of_train"],
    given: Float[Tensor, "test piece_of_test"],
) -> float:
    """Return the accuracy of a network that sees pieces without context, weighted by attention of another."""
    scale = train.embeddings[train.real].std() + 1e-6
    guided = fit(train.embeddings / scale, train.real, train.plural, seed, learned, tokens=True)
    with torch.no_grad():
        return accuracy(guided(test.embeddings / scale, test.real).odds(given), test.plural)
