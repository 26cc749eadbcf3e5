"""Gradient importance of heads: how much a behaviour changes with a head's gate, item by item (Michel et al. 2019)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from mha.causal.interventions import gated
from mha.causal.sweep import TextBatch
from mha.parallel import in_order
from probes.causal.ablation import BATCH_PIECES
from probes.causal.behaviours import Behaviour, Embedding, embeddings, of_items
from probes.scoring.hashed_random import draws

DIRECTIONS = 8
"Random directions in which the embedding of a text is followed; the standard error over n texts is in the interval."


@dataclass(frozen=True)
class Slopes:
    """The derivative of what is measured of every item with respect to the gate of every head, at gates of 1."""

    slopes: Float[Tensor, "direction item layer head"]
    """Of the value, in its unit: one direction. Of a sentence embedding the value has no slope, for nothing is nearer
    to the intact embedding than itself: what is followed is the embedding of length 1, in random directions."""
    directed: bool
    "Whether directions are random."

    @property
    def importance(self) -> Float[Tensor, "item layer head"]:
        """The length of the derivative, per item: |d value / d gate| (Michel et al. 2019, equation 2).

        The mean over items is the importance of a head. Of an embedding it is ||d e / d gate||, without bias: the mean
        length of a projection on directions drawn from a normal distribution is sqrt(2 / pi) of it.
        """
        found = self.slopes.abs().mean(0)
        return found * math.sqrt(math.pi / 2) if self.directed else found

    @property
    def predicted(self) -> Float[Tensor, "item layer head"]:
        """What an item is to lose where a head's gate goes from 1 to 0, by Taylor's series.

        Of a value its first term, the slope, with its sign. Of the cosine with the intact embedding the second, half
        the squared length of the derivative, for the first is 0; without bias too.
        """
        return (self.slopes**2).mean(0) / 2 if self.directed else self.slopes[0]


def slopes(
    behaviour: Behaviour,
    layers: int,
    heads: int,
    *,
    directions: int = DIRECTIONS,
    seed: int = 0,
    batch_pieces: int = BATCH_PIECES,
    step: Callable[[int], None] = lambda texts: None,
) -> Slopes:
    """Return the slopes of all items, in double precision: one pass and one backward pass a batch.

    Every text has gates of its own, so each has its own gradient, whatever batch it is in; those of an item of several
    texts are summed before anything else, for its value is the sum of theirs. Gradients are taken with respect to the
    gates alone: nothing is accumulated, no parameter gets one, and no parameter's `requires_grad` is touched.
    `directions` and `seed` are those of an embedding, with a backward pass a direction.
    """
    directed = isinstance(behaviour, Embedding)
    count = directions if directed else 1
    batches = behaviour.batches(batch_pieces)
    work = partial(_of_batch, behaviour, (layers, heads), count, seed)

    def found() -> Iterator[tuple[Sequence[int], Tensor]]:
        for batch, values in zip(batches, in_order(work, batches), strict=True):
            yield batch, values
            step(len(batch))

    flat = of_items(behaviour, found(), count * layers * heads)
    return Slopes(flat.view(count, layers, heads, -1).permute(0, 3, 1, 2).contiguous(), directed)


def _of_batch(
    behaviour: Behaviour, shape: tuple[int, int], directions: int, seed: int, batch: Sequence[int]
) -> Float[Tensor, "slope text"]:
    """Return the slopes of each text, for all directions, layers and heads one after the other."""
    texts = behaviour.texts(batch)
    with torch.enable_grad():
        gates = torch.ones(len(batch), *shape, requires_grad=True)
        with gated(behaviour.reader.module, gates):
            output = behaviour.reader.read(texts.ids, texts.real, texts.selected)
        told = followed(behaviour, batch, texts, output, directions, seed)
        found = [torch.autograd.grad(one.sum(), gates, retain_graph=True)[0] for one in told]
    return torch.stack(found).flatten(2).permute(0, 2, 1).flatten(0, 1)


def followed(
    behaviour: Behaviour, batch: Sequence[int], texts: TextBatch, output: Tensor, directions: int, seed: int
) -> Float[Tensor, "direction text"]:
    """Return the numbers of each text whose derivatives tell how much its value changes, from what the model gives.

    They are the value alone, or of embeddings the parts of the embedding of length 1 in so many directions, which
    depend on the seed and the text alone.
    """
    if not isinstance(behaviour, Embedding):
        return behaviour.values(batch, texts, output[None], output.detach())
    return _along(F.normalize(embeddings(output, texts), dim=-1), behaviour, batch, directions, seed)


def _along(
    unit: Float[Tensor, "text model"], behaviour: Behaviour, batch: Sequence[int], directions: int, seed: int
) -> Float[Tensor, "direction text"]:
    """Return the parts of embeddings of length 1 in random directions."""
    drawn = []
    for text in batch:
        random = np.random.default_rng(draws(seed, "directions", behaviour.prompts[text].text.ids.tobytes()))
        drawn.append(torch.from_numpy(random.standard_normal((directions, unit.shape[-1]))).to(unit))
    return torch.einsum("tm,tdm->dt", unit, torch.stack(drawn))


def by_layer(importance: Float[Tensor, "*item layer head"]) -> Float[Tensor, "*item layer head"]:
    """Divide by the length (L2) of each layer's numbers, so that layers can be compared (Michel et al. 2019, 4.1).

    A layer of zeros stays one.
    """
    return F.normalize(importance, dim=-1)
