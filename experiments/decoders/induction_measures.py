"""What is measured of a decoder for the claim about induction heads, at each checkpoint and at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from experiments.claims.trained import TrainedSection
from experiments.decoders.in_context import held_out_batches, in_context_score
from experiments.decoders.repeated_pieces import DUPLICATE, INDUCTION, PREVIOUS, Head, RepeatedPieces
from experiments.decoders.sinks import sink_share
from experiments.training.checkpoints import Checkpoint
from mha import load_encoder, load_model
from mha.encoder.masked_lm import MaskedBatch
from mha.training.vocabulary import Vocabulary

LOSS, SCORE, COPIED, SINKS = "loss", "in-context", "copied", "sinks"

LEFT = "left"
"Key of what is left of the attention of the best induction head."

ROLES = (INDUCTION, PREVIOUS, DUPLICATE)

HAS_ROLE = 0.5
"A head that attends to what a role asks for at that share of queries has the role here."


class InductionSection(TrainedSection):
    """The config of the claim."""

    sequences: int = Field(default=64, ge=2)
    "Rows of random pieces that come twice: as many to select heads on, and as many to evaluate them on."
    sequence_length: int = Field(default=128, ge=16)
    "Pieces in such a row."
    sequence_seed: int = 41
    "Of their pieces."
    draws: int = Field(default=5, ge=1)
    "Random sets of as many other heads, which are taken out to compare with."


@dataclass(frozen=True)
class Texts:
    """What is read at every checkpoint."""

    select: RepeatedPieces
    report: RepeatedPieces
    held_out: Sequence[MaskedBatch]

    @classmethod
    def of(cls, section: InductionSection, checkpoint: Path) -> Texts:
        """Return the texts for the tokenizer of a checkpoint."""
        vocabulary = Vocabulary(load_model(str(checkpoint)).tokenizer)
        select, report = (
            RepeatedPieces.draw(vocabulary, section.sequences, section.sequence_length, section.sequence_seed + part)
            for part in range(2)
        )
        return cls(select, report, held_out_batches(section.train))


def course_of(checkpoints: Sequence[Checkpoint], texts: Texts) -> dict[str, list[float]]:
    """Return what is measured of every checkpoint, a list a measure, and their steps."""
    found = [{"steps": float(one.step), **examine(one, texts)} for one in checkpoints]
    return {name: [one[name] for one in found] for name in found[0]}


def examine(checkpoint: Checkpoint, texts: Texts) -> dict[str, float]:
    """Return what is measured of a checkpoint; the head of each role is selected on other sequences."""
    encoder = load_encoder(checkpoint.folder)
    selected, evaluated = (part.patterns(encoder).strongest for part in (texts.select, texts.report))
    heads = {role: int(selected[role].argmax()) for role in ROLES}
    return {
        LOSS: checkpoint.evaluation_loss,
        SCORE: in_context_score(encoder, texts.held_out),
        COPIED: texts.report.copied(encoder),
        SINKS: sink_share(encoder, texts.held_out),
        **{role: float(evaluated[role].flatten()[head]) for role, head in heads.items()},
    }


def taken_out(checkpoint: Checkpoint, texts: Texts, draws: int, seed: int) -> dict[str, Any]:
    """Return which heads have which role at the end, and what happens without those of a role and without others.

    Induction heads are taken out to see what becomes of in-context learning, heads for the token before to see what
    becomes of the attention of induction heads; of other heads as many of the same layers, or all that there are.
    """
    encoder = load_encoder(checkpoint.folder)
    selected, evaluated = (part.patterns(encoder) for part in (texts.select, texts.report))
    every = [(layer, head) for layer in range(encoder.config.layers) for head in range(encoder.config.heads)]
    having = {role: [at for at in every if selected.strongest[role][at] > HAS_ROLE] for role in ROLES}
    random = np.random.default_rng(seed)
    found: dict[str, Any] = {
        "heads": {
            role: [[*at, float(evaluated.strongest[role][at]), float(evaluated.attention[role][at])] for at in heads]
            for role, heads in having.items()
        }
    }
    if induction := having[INDUCTION]:
        sets = [induction, *others(induction, every, draws, random)]
        scores = [in_context_score(encoder, texts.held_out, heads) for heads in sets]
        copies = [texts.report.copied(encoder, heads) for heads in sets]
        found |= {SCORE: [scores[0], float(np.mean(scores[1:]))], COPIED: [copies[0], float(np.mean(copies[1:]))]}
        if before := [at for at in having[PREVIOUS] if at[0] < induction[-1][0]]:
            best = max(induction, key=lambda at: float(selected.strongest[INDUCTION][at]))
            sets = [before, *others(before, every, draws, random)]
            left = [float(texts.report.patterns(encoder, heads).strongest[INDUCTION][best]) for heads in sets]
            found[LEFT] = [left[0], float(np.mean(left[1:]))]
    return found


def others(heads: Sequence[Head], every: Sequence[Head], draws: int, random: np.random.Generator) -> list[list[Head]]:
    """Return random sets of other heads, from each layer as many as `heads` has there, or all others it has."""
    sets = []
    for _ in range(draws):
        drawn: list[Head] = []
        for layer in sorted({at[0] for at in heads}):
            left = [at for at in every if at[0] == layer and at not in heads]
            count = min(len(left), sum(at[0] == layer for at in heads))
            drawn += [left[place] for place in random.permutation(len(left))[:count]]
        sets.append(drawn)
    return sets
