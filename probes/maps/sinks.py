"""Sinks: what heads give of their attention to special tokens, and what of it they write from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from torch import Tensor

from mha.batches import Batch
from mha.pieces import SEP
from probes.evidence.results import named_heads
from probes.records import Document
from probes.scoring.observers import Look
from probes.scoring.tally import Numbers
from probes.targets import Items

SINK: Final = 0.5
"A head is a sink if special tokens get at least this share of the attention of words. The limit is ours."

LITTLE: Final = 0.5
"A sink writes little if attention to special tokens writes less than this, per attention to words. The limit is ours."

WRITES_LITTLE, SPREADS = KINDS = ("writes little", "spreads")
'Kinds of sinks; a head that is none has the kind "".'


class SpecialShare:
    """Sums the maps of words, and their part on special tokens (an Observer)."""

    def __init__(self, layers: int, heads: int) -> None:
        """Look at heads of that many layers."""
        self.special, self.all = np.zeros((2, layers, heads))

    def look(self, documents: Sequence[Document], batch: Batch, asked: Sequence[Items]) -> SpecialLook:
        """Return what looks at a batch."""
        return SpecialLook(self.special.shape)

    def add(self, look: Look) -> None:
        """Take in a batch."""
        assert isinstance(look, SpecialLook)
        self.special += look.special
        self.all += look.all

    @property
    def share(self) -> Numbers:
        """[layer * head] The share on special tokens, in [0, 1]; NaN without words."""
        share: Numbers = np.divide(self.special, self.all, out=np.full(self.all.shape, np.nan), where=self.all > 0)
        return share.ravel()


@dataclass
class SpecialLook:
    """The sums of one batch."""

    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        """Start at 0."""
        self.special, self.all = np.zeros((2, *self.shape))

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Sum the maps of a layer; keys are the words, then the special tokens."""
        by_key = maps.double().sum((0, 2)).numpy()
        self.special[layer] = by_key[:, SEP:].sum(1)
        self.all[layer] = by_key.sum(1)


def sink_table(attention: Numbers, written: Numbers, shape: tuple[int, int]) -> pd.DataFrame:
    """Return one row a head of `shape` (layers, heads): how far it is a sink, and of which kind.

    `attention` and `written` [layer * head] are the shares of special tokens in attention and in what it writes, sums
    of ||alpha f(x)|| (Kobayashi et al. 2020, section 4.2). `per_attention` is what attention to special tokens writes,
    divided by what as much attention to words does: 1 where values are equally long; NaN without attention to one.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        per_attention = written * (1 - attention) / (attention * (1 - written))
    per_attention = np.where(np.isfinite(per_attention), per_attention, np.nan)
    kind = np.select([~(attention >= SINK), per_attention < LITTLE], ["", WRITES_LITTLE], SPREADS)
    measured = {"special": attention, "written": written, "per_attention": per_attention, "kind": kind.astype(object)}
    return pd.DataFrame(named_heads(shape) | measured)
