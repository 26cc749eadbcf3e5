"""What is measured of a decoder for the claim about induction heads, at each checkpoint and at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import Field, model_validator

from experiments.config.train_config import TextsSection
from experiments.interventions.in_context import early_and_late, score_batches, sink_share
from experiments.interventions.repeated_pieces import DUPLICATE, INDUCTION, PREVIOUS, Head, RepeatedPieces
from experiments.statements.trained import TrainedSection
from experiments.training.checkpoints import Checkpoint
from mha import Encoder, load_encoder, load_model
from mha.encoder.masked_lm import MaskedBatch
from mha.training.vocabulary import Vocabulary

LOSS, EARLY, SCORE, COPIED, SINKS = "loss", "early", "in-context", "copied", "sinks"

MATCHING = "prefix matching"
"Key of the mean attention that the selected induction head gives to what followed before."

LEFT = "left"
"Key of what is left of the attention of the induction head."

ROLES = (INDUCTION, PREVIOUS, DUPLICATE)

HAS_ROLE = 0.5
"A head that attends to what a role asks for at that share of queries has the role here."


class InductionSection(TrainedSection):
    """The config of the claim."""

    texts: TextsSection
    "Texts, none of which is trained on, for the in-context learning score and for sinks."
    sequences: int = Field(default=64, ge=2)
    "Rows of random pieces that come twice: as many to select heads on, and as many to evaluate them on."
    sequence_length: int = Field(default=128, ge=16)
    "Pieces in such a row."
    sequence_seed: int = 41
    "Of their pieces."

    @model_validator(mode="after")
    def _fits_decoders(self) -> Self:
        if not self.train.encoder.causal:
            raise ValueError("train.encoder.causal is false, but the claim is about decoders")
        positions = self.train.encoder.positions or self.train.length
        if self.sequence_length > positions:
            raise ValueError(f"sequence_length is {self.sequence_length}, more than the {positions} positions")
        return self


@dataclass(frozen=True)
class DecoderTexts:
    """What is read at every checkpoint."""

    select: RepeatedPieces
    report: RepeatedPieces
    rows: Sequence[MaskedBatch]
    "Of the texts for the in-context learning score."

    @classmethod
    def of(cls, section: InductionSection, checkpoint: Path) -> DecoderTexts:
        """Return the texts for the tokenizer of a checkpoint."""
        vocabulary = Vocabulary(load_model(str(checkpoint)).tokenizer)
        select, report = (
            RepeatedPieces.draw(vocabulary, section.sequences, section.sequence_length, section.sequence_seed + part)
            for part in range(2)
        )
        return cls(select, report, score_batches(section.texts, vocabulary, section.train.length))


def course_of(checkpoints: Sequence[Checkpoint], texts: DecoderTexts) -> dict[str, list[float]]:
    """Return what is measured of every checkpoint, a list a measure, and their steps."""
    found = [{"steps": float(one.step), **examine(one, texts)} for one in checkpoints]
    return {name: [one[name] for one in found] for name in found[0]}


def examine(checkpoint: Checkpoint, texts: DecoderTexts) -> dict[str, float]:
    """Return what is measured of a checkpoint; the head of each role is selected on other sequences."""
    encoder = load_encoder(checkpoint.folder)
    selected, evaluated = (part.patterns(encoder) for part in (texts.select, texts.report))
    heads = {role: int(selected.strongest[role].argmax()) for role in ROLES}
    losses = early_and_late(encoder, texts.rows)
    return {
        LOSS: checkpoint.evaluation_loss,
        EARLY: losses.early,
        SCORE: losses.score,
        COPIED: texts.report.copied(encoder),
        SINKS: sink_share(encoder, texts.rows),
        MATCHING: float(evaluated.attention[INDUCTION].flatten()[heads[INDUCTION]]),
        **{role: float(evaluated.strongest[role].flatten()[head]) for role, head in heads.items()},
    }


def ablations(checkpoint: Checkpoint, texts: DecoderTexts) -> dict[str, Any]:
    """Return the selected head of each role at the end, and what ablating it does beside other heads.

    A selected head is its layer and number from 0, its accuracy and its mean attention. Of each role there is the
    number of heads that have it, too.

    Of a pair of numbers the first is without the selected head, the second without another head of its layer, the mean
    over these. Without the induction head: the loss early in texts, the in-context learning score, and what is copied.
    Without the head for the token before, of a layer below: how often the induction head attends to what followed
    before.
    """
    encoder = load_encoder(checkpoint.folder)
    selected, evaluated = (part.patterns(encoder) for part in (texts.select, texts.report))
    every = [(layer, head) for layer in range(encoder.config.layers) for head in range(encoder.config.heads)]
    best = {role: every[int(selected.strongest[role].argmax())] for role in ROLES}
    induction = best[INDUCTION]
    found: dict[str, Any] = {
        "selected": {
            role: [*at, float(evaluated.strongest[role][at]), float(evaluated.attention[role][at])]
            for role, at in best.items()
        },
        "heads": {role: sum(bool(selected.strongest[role][at] > HAS_ROLE) for at in every) for role in ROLES},
        EARLY: beside_others(encoder, induction, lambda heads: early_and_late(encoder, texts.rows, heads).early),
        SCORE: beside_others(encoder, induction, lambda heads: early_and_late(encoder, texts.rows, heads).score),
        COPIED: beside_others(encoder, induction, lambda heads: texts.report.copied(encoder, heads)),
    }
    if below := [at for at in every if at[0] < induction[0]]:
        before = max(below, key=lambda at: float(selected.strongest[PREVIOUS][at]))
        found[LEFT] = beside_others(
            encoder, before, lambda heads: float(texts.report.patterns(encoder, heads).strongest[INDUCTION][induction])
        )
    return found


def beside_others(encoder: Encoder, head: Head, measured: Callable[[Sequence[Head]], float]) -> list[float]:
    """Return what is measured without a head, and the mean of what is measured without each other one of its layer."""
    others = [(head[0], other) for other in range(encoder.config.heads) if other != head[1]]
    return [measured([head]), float(np.mean([measured([other]) for other in others]))]
