"""How much a behaviour changes with the gates of heads, and with single attention weights: gradients, item by item.

The importance of heads is that of Michel et al. 2019; its tables have it beside what the heads truly cost, and how far
Taylor's series tells the one from the other. Where single weights do not matter, attention is a no-op
(Clark et al. 2019, who hold the gradients of the weights on [SEP] against those on other tokens).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from mha.causal.interventions import gated
from mha.causal.sweep import TextBatch
from mha.hooks import watch
from mha.pieces import CLS, SEP
from mha.watches import Seen
from probes.causal.ablation_table import AblatedMeasure, measures
from probes.causal.behaviours import BATCH_PIECES, Behaviour, BehaviourError, Embedding, embeddings
from probes.evidence.question import Effort
from probes.evidence.results import named_heads
from probes.evidence.statistics import pearson, spearman
from probes.scoring.hashed_random import draws
from probes.scoring.tally import Numbers
from reports.tables.effects import TOKENS
from reports.tables.shared_columns import VALUE

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
    work = partial(_of_batch, behaviour, (layers, heads), count, seed)
    found = behaviour.measured(work, count * layers * heads, batch_pieces, step)
    return Slopes(found.view(count, layers, heads, -1).permute(0, 3, 1, 2).contiguous(), directed)


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
        values = behaviour.values(batch, texts, output[None], output.detach())
        if not values.requires_grad:
            raise BehaviourError(f"{behaviour.name}: what is measured has no gradient, such as a share that is right")
        return values
    return _along(F.normalize(embeddings(output, texts), dim=-1), behaviour, batch, directions, seed)


def _along(
    unit: Float[Tensor, "text model"], behaviour: Behaviour, batch: Sequence[int], directions: int, seed: int
) -> Float[Tensor, "direction text"]:
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


FIRST, SECOND = "first order", "second order"


def importance_table(
    behaviour: Behaviour, slopes: Slopes, values: Numbers | None, shape: tuple[int, int], effort: Effort
) -> pd.DataFrame:
    """Return one row a head; `shape` is (layers, heads).

    `importance` is the mean over items, in the unit of the value, with an interval of resampled clusters; `of_layer`
    divides it by the length of its layer's numbers. `predicted` is what Taylor's series says that the head costs and
    `cost` what it does: `values` are [1 + head, item], of the intact model and of each head ablated by zero; NaN where
    they were not measured.
    """
    importance, mean = flat(slopes.importance), slopes.importance.mean(0)
    value = value_of(behaviour, importance)
    numbers = value.estimate(importance, effort, "importance")
    numbers |= {"of_layer": by_layer(mean).flatten().numpy(), "predicted": flat(slopes.predicted).mean(1)}
    cost = np.nan if values is None else value_of(behaviour, values).cost.mean(1)
    return pd.DataFrame(named_heads(shape) | value.about | numbers | {"cost": cost})


def taylor_table(behaviour: Behaviour, slopes: Slopes, values: Numbers, effort: Effort) -> pd.DataFrame:
    """Return one row: how alike, over heads, what Taylor's series predicts and what ablation by zero costs.

    Spearman's rho and Pearson's r of the signed costs, in [-1, 1], with intervals of resampled clusters: predictions
    and costs of a resample are means over the same items. NaN where one of both does not vary.
    """
    predicted, cost = flat(slopes.predicted), value_of(behaviour, values).cost
    value = value_of(behaviour, cost)
    resamples = value.resamples(effort)
    drawn = [resamples.means(value.sums(one)) for one in (predicted, cost)]
    row = value.about | {"series": SECOND if slopes.directed else FIRST, "heads": len(cost)}
    told = [one.mean(1)[None] for one in (predicted, cost)]
    for name, correlation in (("spearman", spearman), ("pearson", pearson)):
        found = correlation(*drawn)
        low, high = resamples.interval(found[:, None])[:, 0] if np.isfinite(found).all() else (np.nan, np.nan)
        row |= {name: correlation(*told)[0], f"{name}_low": low, f"{name}_high": high}
    return pd.DataFrame([row])


def flat(of_items: Tensor) -> Numbers:
    """Return [head, item] of a tensor [item, layer, head]."""
    found: Numbers = np.asarray(of_items.flatten(1).T, np.float64)
    return found


def value_of(behaviour: Behaviour, of_items: Numbers) -> AblatedMeasure:
    """Return the measure of a behaviour's value, which knows the clusters of its items."""
    return next(one for one in measures(behaviour, of_items) if one.name == VALUE)


def weight_slopes(
    behaviour: Behaviour,
    layers: int,
    heads: int,
    *,
    directions: int = DIRECTIONS,
    seed: int = 0,
    batch_pieces: int = BATCH_PIECES,
    step: Callable[[int], None] = lambda texts: None,
) -> Float[Tensor, "item token layer head"]:
    """Return the mean of |d value / d alpha| over the weights alpha of each head on each of TOKENS.

    Every weight is moved alone: its row no longer sums to 1. In the unit of the value, in double precision; of a
    sentence embedding, whose value has no slope, the length of the derivative of the embedding of length 1, from random
    `directions` as in `slopes`. NaN where a text has no such token. No parameter gets a gradient.
    """
    count = directions if isinstance(behaviour, Embedding) else 1
    work, kinds = partial(_weight_sums, behaviour, count, seed), len(TOKENS)
    of_all = behaviour.measured(work, kinds * (layers * heads + 1), batch_pieces, step)
    sums, weights = of_all[:-kinds].view(kinds, layers, heads, -1), of_all[-kinds:]
    mean = (sums / weights[:, None, None]).permute(3, 0, 1, 2)
    return mean * math.sqrt(math.pi / 2) if isinstance(behaviour, Embedding) else mean


def _weight_sums(
    behaviour: Behaviour, directions: int, seed: int, batch: Sequence[int]
) -> Float[Tensor, "number text"]:
    """Return the sums of absolute slopes of each text by token, layer and head, then the number of weights by token."""
    texts = behaviour.texts(batch)
    moved: list[Tensor] = []

    def move(seen: Seen) -> Tensor:
        moved.append(torch.zeros_like(seen.tensor, requires_grad=True))
        return seen.tensor + moved[-1]

    with torch.enable_grad():
        with watch(behaviour.reader.module, move):
            output = behaviour.reader.read(texts.ids, texts.real, texts.selected)
        followed_values = followed(behaviour, batch, texts, output, directions, seed)
        found = sum(
            torch.stack(torch.autograd.grad(one.sum(), moved, retain_graph=True)).abs() for one in followed_values
        )
    assert isinstance(found, Tensor)
    keys = _tokens(behaviour, batch, texts.ids.shape[1]).to(found)
    rows = keys.sum(1)
    sums = torch.einsum("lthqk,tq,tsk->slht", found / len(followed_values), rows, keys)
    return torch.cat([sums.flatten(0, 2), keys.sum(2).T * rows.sum(1)])


def _tokens(behaviour: Behaviour, batch: Sequence[int], width: int) -> Float[Tensor, "text token piece"]:
    """Return 1 where a piece is one of TOKENS; padding is none."""
    found = torch.zeros(len(batch), len(TOKENS), width)
    for row, text in enumerate(batch):
        word = torch.from_numpy(behaviour.prompts[text].text.word)
        for place, here in enumerate((word == CLS, word == SEP, word >= 0)):
            found[row, place, : len(word)] = here.to(found)
    return found


def slope_table(
    behaviour: Behaviour, slopes: Float[Tensor, "item token layer head"], shape: tuple[int, int], effort: Effort
) -> pd.DataFrame:
    """Return one row a token and head; `shape` is (layers, heads).

    `slope` is the mean over items, with an interval of resampled clusters. Tokens that not all texts have are left out:
    a model that puts no [CLS] before its texts has no rows of it.
    """
    frames = []
    for place, token in enumerate(TOKENS):
        of_items = flat(slopes[:, place])
        if bool(torch.isnan(slopes[:, place]).any()):
            continue
        value = value_of(behaviour, of_items)
        told = {"token": token, **value.about, **value.estimate(of_items, effort, "slope")}
        frames.append(pd.DataFrame(named_heads(shape) | told))
    return pd.concat(frames, ignore_index=True)
