"""Claim: W_O is the only place where heads interact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from pydantic import Field, model_validator
from torch import Tensor

from experiments.claims.heads import folder_of
from experiments.statements.claim import Claim, Work, claim_measure, rows_of
from experiments.statements.estimates import mean_of
from experiments.statements.rule import Rule
from experiments.statements.trained import TrainedSection, by_seed, each_training
from experiments.training.checkpoints import read_checkpoints
from mha import Ablate, Batch, Encoder, Model, align, collate, intervene, load_model, record
from mha.hooks import leaving
from probes import Corpus
from reports.statements.claim_record import ClaimRecord
from reports.statements.statement import JudgedStatement, judged

STAGES = {
    "W_O": "right after W_O",
    "norm": "after the residual and LayerNorm",
    "feed_forward": "after the feed-forward net",
}
"Where two heads are asked for what they do together."

SMALL = 0.01
"An interaction of less than this share of the effect counts as none: far more than rounding, far less than an effect."


class MixingSection(TrainedSection):
    """The config of the claim."""

    heads: int = Field(default=8, ge=2)
    "Heads in a layer of the encoders that are looked at."
    documents: int = Field(default=30, ge=1)
    "Documents of the grammar whose sentences the encoders read."
    documents_seed: int = 91
    "Of these documents."

    @model_validator(mode="after")
    def _post_norm(self) -> Self:
        if self.train.encoder.norm != "post":
            raise ValueError('train.encoder.norm: the claim is measured on post-norm encoders, expected "post"')
        return self


def measure(section: MixingSection, work: Work) -> ClaimRecord:
    """Switch heads and pairs of heads off in every trained encoder, and see what changes where."""
    examined = partial(_examine, section)
    found = each_training(section, work, folder_of(section.heads), examined, heads=section.heads)
    told = {name: by_seed(found, name) for name in (*STAGES, "maps", "fan_in")}
    stages = tuple(row for name, said in STAGES.items() for row in rows_of(told[name], said))
    measures = [
        claim_measure("interaction of two heads, as a share of their effect", "%", stages),
        claim_measure("change of later heads’ maps when one head is off", "%", rows_of(told["maps"], "later layers")),
        claim_measure("heads from which a coordinate takes", "heads", rows_of(told["fan_in"], STAGES["W_O"])),
    ]
    return ClaimRecord(measures, _statements({name: mean_of([*one.values()]) for name, one in told.items()}))


def _statements(found: dict[str, Any]) -> list[JudgedStatement]:
    interaction = "norm of what does not add up when two heads are ablated, over that of their effect together"
    apart, none = f"; below {100 * SMALL:g} % counts as none", Rule(below=SMALL, unit="%")
    return [
        judged(
            "W_O mixes heads: a coordinate after it takes from several of them",
            "effective number of heads from which a coordinate takes (1 before W_O), over coordinates and layers",
            found["fan_in"],
            Rule(above=2.0, unit="heads"),
            kind="measurement",
            why="any matrix without zeros mixes",
        ),
        judged(
            "In W_O heads interact: what one adds depends on another",
            f"{interaction}; {STAGES['W_O']}",
            found["W_O"],
            Rule(above=SMALL, unit="%"),
            kind="identity",
            why="W_O is linear, so what heads add through it adds up",
        ),
        *(
            judged(text, f"{interaction}; {STAGES[stage]}{apart}", found[stage], none)
            for stage, text in (
                ("norm", "W_O is the only place: residual and LayerNorm add no interaction"),
                ("feed_forward", "W_O is the only place: the feed-forward net adds no interaction"),
            )
        ),
        judged(
            "W_O is the only place: maps of later heads do not depend on single earlier ones",
            f"total variation between later heads’ maps with and without one earlier head{apart}",
            found["maps"],
            none,
        ),
    ]


def _examine(section: MixingSection, training: Path) -> dict[str, float]:
    model = load_model(str(read_checkpoints(training)[-1].folder))
    texts = Corpus.generated(section.documents, section.documents_seed).sentences()
    cut = align(model.tokenizer, [text.words for text in texts.take(range(len(texts)))])
    kept = [pieces for pieces in cut if 0 < len(pieces) <= model.max_pieces]
    return examine(model, collate(kept, padding=model.padding))


@torch.inference_mode()
def examine(model: Model, batch: Batch) -> dict[str, float]:
    """Return the interaction of heads at every stage, the change of later maps, and from how many a coordinate takes.

    Means over layers and over pairs of heads (stages), or over heads (maps).
    """
    encoder = model.module
    assert isinstance(encoder, Encoder)
    watched = Watched(encoder, partial(model.run, batch.ids, batch.mask), _real(batch))
    shares = [
        watched.shares(layer, pair) for layer in range(model.layers) for pair in combinations(range(model.heads), 2)
    ]
    result = {stage: float(np.nanmean([one[stage] for one in shares])) for stage in STAGES}
    changes = [watched.change(layer, head) for layer in range(model.layers - 1) for head in range(model.heads)]
    return result | {"maps": float(np.mean(changes)) if changes else float("nan"), "fan_in": watched.fan_in()}


def _real(batch: Batch) -> Tensor:
    """Return [batch, piece], True at pieces that are no padding."""
    return torch.ones_like(batch.ids, dtype=torch.bool) if batch.mask is None else batch.mask


@dataclass
class Watched:
    """An encoder that reads one batch again and again, with heads off."""

    encoder: Encoder
    run: Callable[[], Tensor]
    real: Tensor
    "[batch, piece] True at pieces that are no padding."
    _kept: dict[tuple[int, tuple[int, ...]], dict[str, Tensor]] = field(default_factory=dict)

    def shares(self, layer: int, pair: tuple[int, int]) -> dict[str, float]:
        """Return the interaction of two heads of a layer as a share of their effect, by stage; NaN without one."""
        one, other = pair
        whole, first, second, both = (self.at(layer, off) for off in ((), (one,), (other,), (one, other)))
        return {
            stage: interaction(whole[stage], first[stage], second[stage], both[stage]) for stage in STAGES
        }  # fmt: skip

    def at(self, layer: int, off: tuple[int, ...]) -> dict[str, Tensor]:
        """Return the vectors at every stage of a layer while the heads `off` are ablated (zero)."""
        if (layer, off) not in self._kept:
            with intervene(self.encoder, *(Ablate(layer, head) for head in off)), stages(self.encoder, layer) as seen:
                self.run()
            self._kept[layer, off] = seen
        return self._kept[layer, off]

    def change(self, layer: int, head: int) -> float:
        """Return the mean total variation of the maps of all later layers when a head is ablated. In [0, 1]."""
        maps = []
        for changes in ((), (Ablate(layer, head),)):
            with intervene(self.encoder, *changes), record(self.encoder, ["pattern"]) as seen:
                self.run()
            maps.append(seen["pattern"][layer + 1 :])
        rows = [(one - other).abs().sum(-1).transpose(1, 2)[self.real] / 2 for one, other in zip(*maps, strict=True)]
        return float(torch.stack([row.mean() for row in rows]).mean())

    def fan_in(self) -> float:
        """Return the effective number of heads from which a coordinate takes after W_O, over coordinates and layers.

        (sum of s)² / sum of s², where s is the mean square of what a head writes to the coordinate. From 1 to heads.
        """
        with record(self.encoder, ["head_write"]) as seen:
            self.run()
        means = []
        for write in seen["head_write"]:
            share = write.transpose(1, 2)[self.real].square().mean(0)
            means.append((share.sum(0).square() / share.square().sum(0)).mean())
        return float(torch.stack(means).mean())


def interaction(whole: Tensor, first: Tensor, second: Tensor, both: Tensor) -> float:
    """Return how far the effects of two heads do not add up, as a share of their effect together; 0 where they do.

    `first` is without the one, `second` without the other, `both` without either.
    """
    effect = float((whole - both).norm())
    return float((whole - first - second + both).norm()) / effect if effect else float("nan")


@contextmanager
def stages(encoder: Encoder, layer: int) -> Iterator[dict[str, Tensor]]:
    """Keep the vectors [token, model] of a layer at every stage while the block runs."""
    chosen: Any = encoder.layers[layer]
    modules = {"W_O": chosen.attention.output, "norm": chosen.attention_norm, "feed_forward": chosen.feed_forward_norm}
    seen: dict[str, Tensor] = {}

    def keep(stage: str, vectors: Tensor) -> None:
        seen[stage] = vectors

    with ExitStack() as stack:
        for stage, module in modules.items():
            stack.enter_context(leaving(module, partial(keep, stage)))
        yield seen


CLAIM = Claim(
    name="mixing",
    title="Is W_O the only place where heads interact?",
    sentence="Heads work apart from each other; only the output projection W_O brings them together.",
    source="Vaswani et al. 2017, section 3.2.2 (Concat, then W_O); the other view: Elhage et al. 2021",
    about=(
        "Trained encoders read sentences of the grammar with one head, another, or both ablated (their output before "
        "W_O set to zero). Where the effects of both add up, they do not interact. What does not add up is given as a "
        "share of their effect together, right after W_O, after the residual connection with LayerNorm, and after the "
        "feed-forward net; means over all pairs of heads of a layer and over layers.",
        "Later heads read what earlier ones wrote: how far their maps move when one earlier head is ablated is given "
        "as total variation, 0 for the same map, 100 % for one that has nothing in common with it.",
    ),
    limits=(
        "Zero is only one way of switching a head off; means would give other sizes of effects.",
        "Interactions within a layer are measured for pairs of heads; three heads may do more together.",
        "Post-norm encoders as BERT; with pre-norm LayerNorm stands in another place.",
    ),
    section=MixingSection,
    measure=measure,
)
