"""How much a behaviour changes with single attention weights: where they do not matter, attention is a no-op.

Clark et al. (2019) hold the gradients of the weights on [SEP] against those on other tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from mha.hooks import watch
from mha.pieces import CLS, SEP
from mha.watches import Seen
from probes.causal.behaviours import BATCH_PIECES, Behaviour, Embedding
from probes.causal.importance import DIRECTIONS, flat, followed, value_of
from probes.evidence.question import Effort
from probes.evidence.results import named_heads

TOKENS: Final = ("[CLS]", "[SEP]", "other")
"What is attended to; [CLS] and [SEP] stand for the special tokens before and after the words of any model."


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
    `directions` as in `probes.causal.importance`. NaN where a text has no such token. No parameter gets a gradient.
    """
    count = directions if isinstance(behaviour, Embedding) else 1
    work, kinds = partial(_of_batch, behaviour, count, seed), len(TOKENS)
    of_all = behaviour.measured(work, kinds * (layers * heads + 1), batch_pieces, step)
    sums, weights = of_all[:-kinds].view(kinds, layers, heads, -1), of_all[-kinds:]
    mean = (sums / weights[:, None, None]).permute(3, 0, 1, 2)
    return mean * math.sqrt(math.pi / 2) if isinstance(behaviour, Embedding) else mean


def _of_batch(behaviour: Behaviour, directions: int, seed: int, batch: Sequence[int]) -> Float[Tensor, "number text"]:
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
