"""Claim: without the division by sqrt(d_k) the softmax becomes sharp and its gradients small."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch.nn.functional as F
from pydantic import Field

from experiments.claims.heads import folder_of
from experiments.statements.claim import Claim, Work, claim_measure, rounds_of, rows_of
from experiments.statements.estimates import difference, mean_of, ratio
from experiments.statements.rule import Rule
from experiments.statements.trained import TrainedSection, by_seed, each_training, held_out
from experiments.training.checkpoints import read_checkpoints
from mha import Encoder, load_model
from mha.encoder.masked_lm import MaskedBatch
from mha.reading.sharpness import entropy, random_scores, score_gradient, sharpness
from reports.statements.claim_record import ClaimMeasure, ClaimRecord, Row
from reports.statements.statement import JudgedStatement, judged

WITH, WITHOUT = "divided by √d_k", "not divided"
START, END = "before training", "after training"


class ScalingSection(TrainedSection):
    """The config of the claim."""

    heads: int = Field(default=8, ge=1)
    "Heads in a layer of the encoders that are trained."
    dimensions: tuple[int, ...] = Field(default=(16, 64, 256, 512), min_length=2)
    "Sizes of random queries and keys."
    queries: int = Field(default=64, ge=1)
    "Random queries a draw."
    keys: int = Field(default=64, ge=2)
    "Random keys a draw."
    draws: int = Field(default=50, ge=2)
    "How often they are drawn."
    batches: int = Field(default=4, ge=1)
    "Held-out batches on which trained encoders are looked at."


def measure(section: ScalingSection, work: Work) -> ClaimRecord:
    """Look at random scores first, then at encoders trained in both ways."""
    drawn = {dimension: _draw(section, dimension) for dimension in section.dimensions}
    _, batches = held_out(section.train)
    label, examined = folder_of(section.heads), partial(_examine, batches=batches[: section.batches])
    found = {
        WITH: each_training(section, work, label, examined, heads=section.heads),
        WITHOUT: each_training(section, work, f"{label}-unscaled", examined, heads=section.heads, scale=False),
    }
    measures = [*_drawn_measures(drawn), *_trained_measures(found)]
    return ClaimRecord(measures, [*_drawn_statements(section, drawn), *_trained_statements(found)])


def _draw(section: ScalingSection, dimension: int) -> dict[str, list[float]]:
    """Return the numbers of every draw, by what and by whether scores are divided."""
    result: dict[str, list[float]] = {"variance": []}
    for seed in range(section.draws):
        scores = random_scores(dimension, section.queries, section.keys, seed)
        result["variance"].append(float(scores.var()))
        for way, own in ((WITH, scores / math.sqrt(dimension)), (WITHOUT, scores)):
            result.setdefault(f"entropy {way}", []).append(float(entropy(F.softmax(own, -1)).mean()))
            result.setdefault(f"gradient {way}", []).append(score_gradient(own, seed))
    return result


def _examine(training: Path, batches: list[MaskedBatch]) -> dict[str, float]:
    """Return loss, entropy and gradient of the first and the last checkpoint of a training."""
    checkpoints = read_checkpoints(training)
    result = {"loss": checkpoints[-1].evaluation_loss}
    for when, checkpoint in ((START, checkpoints[0]), (END, checkpoints[-1])):
        encoder = load_model(str(checkpoint.folder)).module
        assert isinstance(encoder, Encoder)
        result[f"entropy {when}"], result[f"gradient {when}"] = sharpness(encoder, batches)
    return result


def _drawn_measures(drawn: Mapping[int, Mapping[str, list[float]]]) -> list[ClaimMeasure]:
    told = (
        ("entropy", "entropy of patterns of random scores", "nats"),
        ("gradient", "gradient for random scores", "norm"),
    )
    return [
        claim_measure(
            title,
            unit,
            tuple(
                row
                for way in (WITH, WITHOUT)
                for size, one in drawn.items()
                for row in rounds_of(one[f"{name} {way}"], way, size)
            ),
            "round",
            "d_k",
            geometric=name == "gradient",
        )
        for name, title, unit in told
    ]


def _trained_measures(found: Mapping[str, Mapping[int, Mapping[str, float]]]) -> list[ClaimMeasure]:
    told = (
        ("entropy", "entropy of an encoder’s patterns", "nats"),
        ("gradient", "gradient of the loss for scores", "norm"),
    )
    measures = []
    for name, title, unit in told:
        rows: list[Row] = []
        for when in (START, END):
            for way, seeds in found.items():
                rows += rows_of(by_seed(seeds, f"{name} {when}"), f"{way}, {when}")
        measures.append(claim_measure(title, unit, rows, geometric=name == "gradient"))
    losses = tuple(row for way, seeds in found.items() for row in rows_of(by_seed(seeds, "loss"), way))
    return [*measures, claim_measure("evaluation loss", "nats", losses)]


def _drawn_statements(section: ScalingSection, drawn: Mapping[int, Mapping[str, list[float]]]) -> list[JudgedStatement]:
    least, most = min(section.dimensions), max(section.dimensions)

    def change(way: str) -> Any:
        return ratio(drawn[most][f"gradient {way}"], drawn[least][f"gradient {way}"])

    number = f"gradient for random scores, d_k = {most} / d_k = {least}"
    return [
        judged(
            "The product of a random query and key of d_k components has variance d_k",
            f"variance of scores / d_k, d_k = {most}",
            mean_of([variance / most for variance in drawn[most]["variance"]]),
            Rule(above=0.95, below=1.05, unit="times"),
            kind="identity",
            why="variances of independent products add up",
        ),
        judged(
            "Without the division a larger d_k leaves a smaller gradient",
            f"{number}, {WITHOUT}",
            change(WITHOUT),
            Rule(below=1.0, unit="times"),
            kind="measurement",
            why="of random vectors, which no training has seen",
        ),
        judged(
            "With the division the gradient does not depend on d_k",
            f"{number}, {WITH}",
            change(WITH),
            Rule(above=0.95, below=1.05, unit="times"),
            kind="identity",
            why="divided scores have the same distribution for every d_k",
        ),
    ]


def _trained_statements(found: Mapping[str, Mapping[int, Mapping[str, float]]]) -> list[JudgedStatement]:
    def of(way: str, name: str) -> dict[int, float]:
        return by_seed(found[way], name)

    gradients = [[*of(way, f"gradient {END}").values()] for way in (WITHOUT, WITH)]
    return [
        judged(
            "Encoders trained without the division end with sharper patterns",
            "entropy of patterns after training, without − with the division, paired by seed",
            difference(of(WITHOUT, f"entropy {END}"), of(WITH, f"entropy {END}")),
            Rule(below=0.0, unit="nats"),
        ),
        judged(
            "Encoders trained without the division end with smaller gradients for their scores",
            "gradient of the loss for all scores after training, without / with the division, paired by seed",
            ratio(*gradients),
            Rule(below=1.0, unit="times"),
        ),
        judged(
            "Encoders trained without the division end with a higher loss",
            "evaluation loss, without − with the division, paired by seed",
            difference(of(WITHOUT, "loss"), of(WITH, "loss")),
            Rule(above=0.0, unit="nats"),
        ),
    ]


CLAIM = Claim(
    name="scaling",
    title="The division by √d_k",
    sentence="Without the division by √d_k large d_k push the softmax to where its gradients are extremely small.",
    source="Vaswani et al. 2017, section 3.2.1 and footnote 4",
    about=(
        "First without any training: queries and keys whose components are drawn with mean 0 and variance 1, the "
        "pattern of their scores, and the gradient of a random function of it for the scores.",
        "Then encoders trained from scratch on the embedded grammar with and without the division, with the same first "
        "weights, texts, masks and steps: entropy of patterns, gradient of the held-out loss for the scores, and loss.",
    ),
    limits=(
        "First weights are small (normal, standard deviation 0.02, as BERT), so that scores begin near 0 in both ways: "
        "the claim supposes components of variance 1.",
        "d_k of the trained encoders is small (d_model / heads), and Adam divides every weight’s gradient by its size.",
        "One learning rate for both ways; another may suit an encoder without the division better.",
    ),
    section=ScalingSection,
    measure=measure,
)
