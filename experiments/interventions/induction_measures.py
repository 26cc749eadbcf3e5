"""What is measured of a decoder for the claim about induction heads, at each checkpoint and at the end.

Of random pieces that come twice: what heads attend to, and what is predicted of the second time. Of whole texts: the
in-context learning score, and attention sinks (Gu et al. 2025).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor

from experiments.config.train_config import TextsSection
from experiments.statements.trained import TrainedSection
from experiments.training.checkpoints import Checkpoint
from experiments.training.texts import open_texts
from mha import Ablate, Encoder, intervene, load_encoder, load_model, record
from mha.encoder.masked_lm import MaskedBatch, masked_logits
from mha.training.masking import MaskedRows, next_rows
from mha.training.packing import pack
from mha.training.vocabulary import Vocabulary

INDUCTION, PREVIOUS, DUPLICATE = "induction", "previous token", "duplicate token"


Head = tuple[int, int]
"Layer and head, from 0."


@contextmanager
def ablated(encoder: Encoder, heads: Sequence[Head]) -> Iterator[None]:
    """Replace the outputs of some heads by their means over the texts that are read together."""
    if not heads:
        yield
        return
    with intervene(encoder, *(Ablate(layer, head, how="mean") for layer, head in heads)):
        yield


@dataclass(frozen=True)
class Patterns:
    """What the heads of a model attend to in repeated pieces, every array [layer, head]; shares in [0, 1]."""

    strongest: Mapping[str, Float[Tensor, "layer head"]]
    "How often the most attended piece, neither the query nor the first piece, is the one a role asks for."
    attention: Mapping[str, Float[Tensor, "layer head"]]
    'Mean attention to that piece (Olsson et al. 2022 call that of INDUCTION the "prefix matching score").'


@dataclass(frozen=True)
class RepeatedPieces:
    """Rows of [CLS], some random pieces, others, the first ones again, and others to the end; no other comes twice.

    How many come twice, and how many stand between, is drawn for each row, so that no fixed distance finds them.
    """

    ids: Int[Tensor, "row place"]
    first: Int[Tensor, " query"]
    "Place of a piece that comes twice, the first time."
    second: Int[Tensor, " query"]
    "Its place the second time: the query."
    row: Int[Tensor, " query"]

    @classmethod
    def draw(cls, vocabulary: Vocabulary, rows: int, length: int, seed: int) -> RepeatedPieces:
        """Draw `rows` rows of `length` places, a quarter to three eighths of which come twice.

        Raises ValueError for a vocabulary with fewer ordinary pieces than a row has places.
        """
        pieces = vocabulary.ordinary
        if len(pieces) < length:
            raise ValueError(f"{len(pieces)} ordinary pieces are too few for rows of {length}")
        draws = np.random.default_rng(seed)
        ids = np.full((rows, length), vocabulary.special["[CLS]"])
        queries: list[tuple[int, int, int]] = []
        for row in range(rows):
            twice = int(draws.integers(length // 4, 3 * length // 8 + 1))
            between = int(draws.integers(0, length - 2 * twice))
            ids[row, 1:] = draws.permutation(pieces)[: length - 1]
            again = 1 + twice + between
            ids[row, again : again + twice] = ids[row, 1 : 1 + twice]
            # the last one is not asked: what followed it the first time does not follow it again
            queries += [(1 + place, again + place, row) for place in range(twice - 1)]
        first, second, number = torch.tensor(queries).unbind(1)
        return cls(torch.from_numpy(ids), first, second, number)

    @cached_property
    def gold(self) -> Mapping[str, Int[Tensor, " query"]]:
        """The place that each role asks for: after the piece the first time, before the query, the piece itself."""
        return {INDUCTION: self.first + 1, PREVIOUS: self.second - 1, DUPLICATE: self.first}

    @torch.inference_mode()
    def patterns(self, encoder: Encoder, without: Sequence[Head] = ()) -> Patterns:
        """Return what the heads attend to, with the outputs of heads `without` replaced by their means."""
        with record(encoder) as seen, ablated(encoder, without):
            encoder(self.ids)
        maps = torch.stack([pattern[self.row, :, self.second] for pattern in seen["pattern"]]).transpose(1, 2)
        others = maps.clone()
        others[..., 0] = -1
        others.scatter_(-1, self.second.expand(maps.shape[:3]).unsqueeze(-1), -1)
        best = others.argmax(-1)
        at = {role: gold.expand(maps.shape[:3]).unsqueeze(-1) for role, gold in self.gold.items()}
        return Patterns(
            {role: (best == gold).double().mean(-1) for role, gold in self.gold.items()},
            {role: maps.gather(-1, places).squeeze(-1).double().mean(-1) for role, places in at.items()},
        )

    @torch.inference_mode()
    def copied(self, encoder: Encoder, without: Sequence[Head] = ()) -> float:
        """Return how often the likeliest next piece is the one that followed the first time; in [0, 1]."""
        assert encoder.lm_head is not None
        with ablated(encoder, without):
            states = encoder(self.ids, selected=self.row * self.ids.shape[1] + self.second)
        guess = encoder.lm_head(states).argmax(-1)
        return float((guess == self.ids[self.row, self.first + 1]).double().mean())

    def commonest_offset(self) -> float:
        """Return how often the commonest distance from query to gold of INDUCTION is right: a rule by position."""
        distance = self.second - self.gold[INDUCTION]
        return int(distance.bincount().max()) / len(distance)


BATCH = 24
"Rows that are read together."

SINK_AT = 0.3
"Mean attention to the first token above which a head has a sink in a text (Gu et al. 2025, section 3)."


def score_batches(texts: TextsSection, vocabulary: Vocabulary, length: int) -> list[MaskedBatch]:
    """Return texts cut into rows of `length` pieces, for the score.

    Of a piece whose next one is special nothing is predicted: [SEP] ends every full row, so that its place gives it
    away. Rows are left out that hold several texts, or one that ends before their last eighth.
    """
    special = [*vocabulary.special.values()]
    rows = np.stack([*pack(vocabulary.encode(open_texts(texts)), vocabulary, length)])
    asked = next_rows(rows, vocabulary)
    np.copyto(asked.masked, False, where=np.isin(asked.gold, special))
    whole = np.flatnonzero((asked.blocks <= 0).all(1) & ((asked.blocks == 0).sum(1) >= 7 * length / 8))
    asked = MaskedRows(
        asked.pieces[whole], asked.places[whole], asked.blocks[whole], asked.masked[whole], asked.gold[whole]
    )
    return [asked.batch(slice(at, at + BATCH)) for at in range(0, len(whole), BATCH)]


@dataclass(frozen=True)
class EarlyLate:
    """Mean losses in nats, at pieces early and late in texts; NaN where there are none."""

    early: float
    late: float

    @property
    def score(self) -> float:
        """The in-context learning score; below 0 the text so far helps."""
        return self.late - self.early


@torch.inference_mode()
def early_and_late(encoder: Encoder, batches: Sequence[MaskedBatch], without: Sequence[Head] = ()) -> EarlyLate:
    """Return the losses in the second eighth of rows and in their last quarter.

    Olsson et al. 2022 take the 50th and the 500th of 512 pieces. The outputs of the heads `without` are replaced by
    their means.
    """
    totals, counts = torch.zeros(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    for batch in batches:
        length = batch.pieces.shape[1]
        with ablated(encoder, without):
            logits = masked_logits(encoder, batch)
        losses = torch.nn.functional.cross_entropy(logits, batch.gold, reduction="none").double()
        places = batch.places.flatten().index_select(0, batch.masked)
        for number, (start, end) in enumerate(((length // 8, length // 4), (3 * length // 4, length))):
            chosen = (places >= start) & (places < end)
            totals[number] += losses[chosen].sum()
            counts[number] += chosen.sum()
    return EarlyLate(*(totals / counts).tolist())


@torch.inference_mode()
def sink_share(encoder: Encoder, batches: Sequence[MaskedBatch]) -> float:
    """Return the share of heads and texts in which the first token, [CLS], is a sink; in [0, 1].

    Texts are those that fill a row; attention is the mean over all tokens after the first. NaN where none fills one.
    """
    sinks: list[torch.Tensor] = []
    for batch in batches:
        whole = (batch.blocks == 0).all(1)
        if whole.any():
            with record(encoder) as seen:
                encoder(batch.pieces[whole])
            sinks.append(
                torch.stack([pattern[:, :, 1:, 0].mean(-1) > SINK_AT for pattern in seen["pattern"]]).flatten()
            )
    return float(torch.cat(sinks).double().mean()) if sinks else float("nan")


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


def examine(texts: DecoderTexts, checkpoint: Checkpoint) -> dict[str, float]:
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
