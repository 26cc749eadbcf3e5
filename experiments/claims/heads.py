"""Claim: several heads are better than one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from experiments.statements.claim import Claim, ClaimError, Work, claim_measure, rows_of
from experiments.statements.estimates import difference, mean_of
from experiments.statements.rule import Rule
from experiments.statements.trained import (
    ScoredSection,
    agreement_accuracy,
    by_seed,
    each_training,
    heads_of,
    parameters,
    specialised,
)
from experiments.training.checkpoints import read_checkpoints
from mha import load_model
from reports.statements.claim_record import ClaimMeasure, ClaimRecord
from reports.statements.statement import JudgedStatement, judged

Seeds = Mapping[int, Mapping[str, float]]
"Seed -> what was measured of its model."


class HeadCountSection(ScoredSection):
    """The config of the claim."""

    heads: tuple[int, ...] = Field(default=(1, 2, 4, 8, 16), min_length=2)
    "Numbers of heads in a layer."
    compare: tuple[int, int] = (1, 8)
    "The two of them that the statements about loss and agreement hold against each other."
    pairs: int = Field(default=2000, ge=1)
    "Minimal pairs of the grammar that are drawn; those with attractors are asked."
    pairs_seed: int = 71
    "Of these pairs."

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if missing := set(self.compare) - set(self.heads):
            raise ValueError(f"compare: {min(missing)} heads are not among {list(self.heads)}")
        for heads in self.heads:
            if self.train.encoder.model % heads:
                raise ValueError(f"heads: {heads} heads do not divide a model of size {self.train.encoder.model}")
        return self


def folder_of(heads: int) -> str:
    """Return the name of the folder of the trainings with so many heads, which other claims look at."""
    return f"heads-{heads}"


def measure(section: HeadCountSection, work: Work) -> ClaimRecord:
    """Train encoders that differ in the number of heads alone, and measure every one."""
    examined = partial(examine, section)
    found = {heads: each_training(section, work, folder_of(heads), examined, heads=heads) for heads in section.heads}
    size = check_equal_size(found)
    return ClaimRecord(
        _measures(found, section), _statements(found, section), [f"Every model has {size:,} parameters."]
    )


def examine(section: HeadCountSection, training: Path) -> dict[str, float]:
    """Return what is measured of the last checkpoint of a training."""
    last = read_checkpoints(training)[-1]
    model = load_model(str(last.folder))
    return {
        "parameters": parameters(model),
        "loss": last.evaluation_loss,
        "agreement": agreement_accuracy(model, section.pairs, section.pairs_seed).across,
        "specialised": heads_of(specialised(section, model, last.folder)),
        "all": model.layers * model.heads,
    }


def check_equal_size(models: Mapping[int, Seeds]) -> int:
    """Return the number of parameters that all models share; raises ClaimError where they differ."""
    sizes = {heads: int(one["parameters"]) for heads, seeds in models.items() for one in seeds.values()}
    if len({*sizes.values()}) > 1:
        raise ClaimError(f"heads: models should be equally large, got parameters by heads {sizes}")
    return next(iter(sizes.values()))


def _measures(found: Mapping[int, Seeds], section: HeadCountSection) -> list[ClaimMeasure]:
    told = (
        ("loss", "evaluation loss", "nats"),
        ("agreement", "agreement accuracy with attractors", "%"),
        ("specialised", "heads specialised in a label", "heads"),
    )
    size = f"d_model {section.train.encoder.model}"
    measures = [
        claim_measure(
            *(title, unit, tuple(row for h, seeds in found.items() for row in rows_of(by_seed(seeds, name), size, h))),
            axis="heads in a layer",
        )
        for name, title, unit in told
    ]
    shares = tuple(row for heads, seeds in found.items() for row in rows_of(share(seeds), size, heads))
    return [*measures, claim_measure("share of all heads that are specialised", "%", shares, axis="heads in a layer")]


def share(seeds: Seeds) -> dict[int, float]:
    """Return the share of all heads that are specialised, by seed."""
    return {seed: one["specialised"] / one["all"] for seed, one in seeds.items()}


def slopes(values: Mapping[int, Mapping[int, float]]) -> list[float]:
    """Return, for every seed, how much a number rises when the number of heads doubles: `values` is heads -> seed.

    The slope of a least-squares line over log2 of the number of heads.
    """
    doublings = [math.log2(heads) for heads in values]
    seeds = sorted(set.intersection(*(set(one) for one in values.values())))
    return [float(np.polyfit(doublings, [values[heads][seed] for heads in values], 1)[0]) for seed in seeds]


def _statements(found: Mapping[int, Seeds], section: HeadCountSection) -> list[JudgedStatement]:
    few, many = section.compare
    numbers = {heads: by_seed(seeds, "specialised") for heads, seeds in found.items()}
    shares = {heads: share(seeds) for heads, seeds in found.items()}
    return [
        judged(
            f"Encoders with {_said(many)} a layer reach a lower loss than with {_said(few)}",
            f"evaluation loss with {_said(many)} − with {_said(few)}, paired by seed",
            difference(by_seed(found[many], "loss"), by_seed(found[few], "loss")),
            Rule(below=0.0, unit="nats"),
        ),
        judged(
            f"Encoders with {_said(many)} a layer are better at agreement with attractors than with {_said(few)}",
            f"accuracy with {_said(many)} − with {_said(few)}, paired by seed",
            difference(by_seed(found[many], "agreement"), by_seed(found[few], "agreement")),
            Rule(above=0.0),
        ),
        judged(
            "With more heads, more heads are specialised",
            "rise of the number of specialised heads when the number of heads doubles, mean slope over seeds",
            mean_of(slopes(numbers)),
            Rule(above=0.0, unit="heads"),
        ),
        judged(
            "With more heads, a larger share of them is specialised",
            "rise of the share of specialised heads when the number of heads doubles, mean slope over seeds",
            mean_of(slopes(shares)),
            Rule(above=0.0),
        ),
    ]


def _said(heads: int) -> str:
    return f"{heads} head{'' if heads == 1 else 's'}"


CLAIM = Claim(
    name="heads",
    title="Several heads or one",
    sentence="Several heads are better than one of the same size together: each can learn a role of its own.",
    source="Vaswani et al. 2017, section 3.2.2 and table 3 (A); doubted by Michel et al. 2019",
    about=(
        "Encoders are trained from scratch as masked language models on the embedded grammar. They differ in the "
        "number of heads alone: d_model, the number of parameters (checked), texts, masks and steps are the same. "
        "The loss is that on held-out sentences.",
        "Agreement: the verb is masked, and the model has to prefer its correct form, in sentences with a noun of "
        "the other number between subject and verb. A head counts as specialised in a label as in every run of "
        "headscope: by a stable grade in a linguistic role, a tested lead over all baselines and controls.",
    ),
    limits=(
        "A small encoder, a generated language and a short training: a larger model of real text may differ.",
        "More heads are more chances to be called specialised; the correction for all heads of a label counters that.",
        "Labels that were not probed cannot be found: a head may have a role that no probe knows.",
    ),
    section=HeadCountSection,
    measure=measure,
)
