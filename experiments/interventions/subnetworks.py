"""Claim: the heads that matter least can be trained to do nearly what those do that matter most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import Field

from experiments.interventions.syntax import NONE, condition_measures, folder_of
from experiments.statements.claim import Claim, ClaimError, Work
from experiments.statements.estimates import difference, mean_of
from experiments.statements.rule import Rule
from experiments.statements.trained import (
    TRAININGS,
    AgreementSection,
    agreement_accuracy,
    by_seed,
    held_out,
    held_out_loss,
    trainings,
)
from experiments.training.checkpoints import read_checkpoints
from experiments.training.train import training_settings
from mha import Encoder, Model, load_model
from mha.causal.pruning import smaller, zeroed
from mha.encoder.masked_lm import MaskedBatch
from mha.encoder.weights import load_encoder
from mha.models.circuits import layers_of
from mha.training.train import train
from reports.statements.claim_record import ClaimRecord
from reports.statements.statement import JudgedStatement, judged

FULL, GOOD, RANDOM, BAD = "all heads", "good half", "random half", "bad half"
RESET = "bad half, heads randomly initialised"
BEFORE, AFTER = "before retraining", "after retraining"

KEPT = 0.9
"Share of the agreement beyond chance that a subnetwork is to keep of the whole encoder's, as the paper prunes to."

CHANCE = 0.5
"Accuracy on minimal pairs without any knowledge."

Head = tuple[int, int]
"Layer and head, from 0."


class SubnetworksSection(AgreementSection):
    """The config of the claim."""

    retrain: int = Field(default=300, ge=1)
    "Steps that a subnetwork is trained further."
    learning_rate: float = Field(default=1e-3, gt=0)
    "Of these steps, the highest."
    batches: int = Field(default=4, ge=2)
    "Held-out batches: the importance of heads is measured on the first half of them, the loss on the others."


def measure(section: SubnetworksSection, work: Work) -> ClaimRecord:
    """Take half of the heads out of every trained encoder in three ways, and train what is left further."""
    retraining = Retraining(section, work.out / work.name / TRAININGS)
    folders = trainings(section, work, folder_of(NONE))
    found: dict[int, Any] = {}
    for seed, folder in folders.items():
        found[seed] = work.part(f"subnetworks seed {seed}", partial(retraining.follow, seed, folder))
        work.progress("subnetworks", len(found), len(folders))
    by_condition = {way: {seed: one[way] for seed, one in found.items()} for way in next(iter(found.values()))}
    measured = (("loss", "evaluation loss", "nats"), ("agreement", "agreement", "%"))
    return ClaimRecord(condition_measures(by_condition, measured), _statements(by_condition))


def ranked(encoder: Encoder, batches: Sequence[MaskedBatch]) -> list[Head]:
    """Return all heads, that first whose absence costs most: the held-out loss without it alone."""
    shape = encoder.config
    lost = {}
    for head in np.ndindex(shape.layers, shape.heads):
        gates = torch.ones(shape.layers, shape.heads)
        gates[head] = 0
        lost[head[0], head[1]] = held_out_loss(smaller(zeroed(encoder, gates)), batches)
    return sorted(lost, key=lambda head: -lost[head])


def halves(order: Sequence[Head], seed: int) -> Iterator[tuple[str, Sequence[Head]]]:
    """Yield the name of each subnetwork and the heads that are left in it; `seed` draws those of the random one."""
    half = len(order) // 2
    drawn = np.random.default_rng(seed).permutation(len(order))[:half]
    yield FULL, order
    yield GOOD, order[:half]
    yield RANDOM, [order[at] for at in drawn]
    yield BAD, order[half:]


def with_random_heads(encoder: Encoder, seed: int) -> Encoder:
    """Return a copy whose heads have weights as before any training; all else stays, the bias of W_O too."""
    made, generator = deepcopy(encoder), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for layer in layers_of(made):
            for weight in (layer.attention.project.weight, layer.attention.output.weight):
                weight.normal_(std=0.02, generator=generator)
            layer.attention.project.bias.zero_()
    return made


class Retraining:
    """What all subnetworks are measured and trained on."""

    def __init__(self, section: SubnetworksSection, out: Path) -> None:
        """Open the texts of the training; subnetworks that are trained lie in `out`."""
        self.section, self.out = section, out
        self.task, batches = held_out(section.train)
        held, half = batches[: section.batches], section.batches // 2
        if len(held) <= half:
            raise ClaimError(f"batches = {section.batches}, but there are {len(held)} held-out batches")
        self.ranking, self.batches = held[:half], held[half:]

    def follow(self, seed: int, training: Path) -> dict[str, dict[str, float]]:
        """Return loss and agreement of every subnetwork of a training, before and after it is trained further."""
        model = load_model(str(read_checkpoints(training)[-1].folder))
        whole, found = model.module, dict[str, dict[str, float]]()
        assert isinstance(whole, Encoder)
        for name, left in halves(ranked(whole, self.ranking), seed):
            gates = torch.zeros(whole.config.layers, whole.config.heads)
            for head in left:
                gates[head] = 1
            small = smaller(zeroed(whole, gates))
            begun = {name: small, RESET: with_random_heads(small, seed)} if name == BAD else {name: small}
            for condition, encoder in begun.items():
                found[f"{condition}, {BEFORE}"] = self._examine(encoder, model)
                found[f"{condition}, {AFTER}"] = self._examine(self._trained(encoder, condition, seed), model)
        return found

    def _trained(self, encoder: Encoder, name: str, seed: int) -> Encoder:
        section = self.section
        update = {"steps": section.retrain, "learning_rate": section.learning_rate, "warmup": section.retrain // 10}
        settings = training_settings(section.train.model_copy(update=update), self.task.rows, seed)
        task = replace(self.task, encoder=encoder.config, start=encoder)
        folder = self.out / name.replace(",", "").replace(" ", "-") / f"seed-{seed}"
        return load_encoder(train(folder, task, settings, resume=True))

    def _examine(self, encoder: Encoder, of: Model) -> dict[str, float]:
        ones = torch.ones(encoder.config.layers, encoder.config.heads)
        model = replace(of, module=zeroed(encoder.eval(), ones))  # of full size, with the same outputs
        return {
            "loss": held_out_loss(encoder, self.batches),
            "agreement": agreement_accuracy(model, self.section.pairs, self.section.pairs_seed).every,
        }


Results = Mapping[str, Mapping[int, Mapping[str, float]]]
"Condition -> seed -> what was measured."


def _of(found: Results, condition: str, when: str, name: str) -> dict[int, float]:
    return by_seed(found[f"{condition}, {when}"], name)


def _kept(found: Results, condition: str) -> list[float]:
    """Return the share of the accuracy beyond chance of the whole encoder, by seed; NaN where that has none."""
    ours, whole = (_of(found, one, AFTER, "agreement") for one in (condition, FULL))
    known = {seed: whole[seed] - CHANCE if whole[seed] > CHANCE else float("nan") for seed in ours}
    return [(ours[seed] - CHANCE) / known[seed] for seed in sorted(ours)]


def _statements(found: Results) -> list[JudgedStatement]:
    differences = (
        (
            "Before retraining the bad half of the heads has a higher loss than the good half",
            (BAD, GOOD, BEFORE),
            Rule(above=0.0, unit="nats"),
        ),
        (
            "After retraining the bad half still has a higher loss than the good half",
            (BAD, GOOD, AFTER),
            Rule(above=0.0, unit="nats"),
        ),
        (
            "After retraining a random half has a higher loss than the good half",
            (RANDOM, GOOD, AFTER),
            Rule(above=0.0, unit="nats"),
        ),
        (
            "The bad half, trained further, has a lower loss than randomly initialised heads in its place",
            (BAD, RESET, AFTER),
            Rule(below=0.0, unit="nats"),
        ),
    )
    statements = [
        judged(
            f"The {name}, trained further, keeps nine tenths of the agreement beyond chance of all heads",
            f"accuracy − 50 % after retraining, {name} / {FULL}, mean over seeds",
            mean_of(_kept(found, name)),
            Rule(above=KEPT, unit="times"),
        )
        for name in (GOOD, BAD)
    ]
    for text, (ours, theirs, when), rule in differences:
        estimate = difference(_of(found, ours, when, "loss"), _of(found, theirs, when, "loss"))
        number = f"evaluation loss {when}, {ours} − {theirs}, paired by seed"
        statements.append(judged(text, number, estimate, rule))
    return statements


CLAIM = Claim(
    name="subnetworks",
    title="Good and bad halves of the heads",
    sentence="Half of the heads do nearly what all do, and even the least important half can be trained to do much.",
    source="Prasanna et al. 2020, When BERT Plays the Lottery, All Tickets Are Winning (structured pruning)",
    about=(
        "The encoders without a term of “Does grammar need attention to syntax?”. Heads are ranked by how much higher "
        "the held-out masked-LM loss is without each alone. The good half are those first in that order, the bad half "
        "the others, a random half is drawn for each seed. The other half is taken out, and what is left is trained "
        "further on the same texts, as are all heads; so is the encoder of the bad half whose heads were given "
        "randomly initialised weights, which shows what is in the weights of these heads, and not in all others.",
    ),
    limits=(
        "The paper prunes heads and feed-forward nets of BERT after fine-tuning, until 90 % of the score is left, and "
        "fine-tunes again from pre-trained weights; here feed-forward nets stay and half of the heads go.",
        "Ranks are of single heads: two that stand in for each other may both rank low.",
        "Magnitude pruning of single weights, the paper’s other half, is not tested.",
    ),
    section=SubnetworksSection,
    measure=measure,
)
