"""Sinks: what heads give of their attention to special tokens, and what of it they write from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float64
from torch import Tensor

from mha.batches import Batch, collate
from mha.device import exact
from mha.models.maps import stream_lengths, stream_outputs
from mha.models.model import Model
from mha.parallel import in_order
from mha.pieces import SEP
from probes.evidence.results import named_heads
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from reports.tables.grades import SPREADS, WRITES_LITTLE

SINK: Final = 0.5
"A head is a sink if special tokens get at least this share of the attention of words. The limit is ours."

LITTLE: Final = 0.5
"A sink writes little if values of special tokens are at most this long, relative to those of words. The limit is ours."

MEASURES: Final = ("attention", "written", "length", "pieces")
"""What is summed over the pieces attended to: the attention that words give them; this attention times ||f(x)||, the
length of the transformed value (Kobayashi et al. 2020, section 3.1); ||f(x)|| alone; and 1."""

Sums = Float64[np.ndarray, "measure 2 layer head"]
"By MEASURES, over pieces of words and over special tokens."

Ranks = Float64[np.ndarray, "text layer head"]
"""(sum of s^2)^2 / sum of s^4 over the singular values s of a head's outputs [word, head_dim] in a text: the directions
that they take up, from 1, where all words get multiples of one vector, to head_dim. NaN where the outputs are 0."""


def read_sinks(
    model: Model, aligned: Aligned, settings: Settings, progress: Callable[[int], None] = lambda texts: None
) -> pd.DataFrame:
    """Return one row a head, see `sink_table`, from one pass over texts; every word counts the same.

    `progress` is called with the number of texts after each batch. Raises HookError where W_O is not known.
    """
    shape, batches = (model.layers, model.heads), aligned.batches(settings.batch_pieces)
    sums, ranks = np.zeros((len(MEASURES), 2, *shape)), [np.empty((0, *shape))]

    def read(chosen: list[int]) -> tuple[Sums, Ranks]:
        texts = [aligned.pieces[i] for i in chosen]
        batch = collate(texts, reduce=settings.reduce, padding=model.padding).to(model.device)
        return batch_sums(model, batch), text_ranks(model, batch)

    for chosen, (more, ranked) in zip(batches, in_order(read, batches, settings.workers), strict=True):
        sums += more
        ranks.append(ranked)
        progress(len(chosen))
    return sink_table(sums, np.concatenate(ranks))


def text_ranks(model: Model, batch: Batch) -> Ranks:
    """Return how many directions the outputs of every head take up in each text of a batch."""
    ranks = np.full((len(batch.ids), model.layers, model.heads), np.nan)

    def see(layer: int, outputs: Tensor) -> None:
        outputs = outputs.to(exact(outputs.device))
        products = torch.einsum("bwhd,bwhe->bhde", outputs, outputs)
        length = products.diagonal(dim1=-2, dim2=-1).sum(-1)
        ranks[:, layer] = (length**2 / products.square().sum((-2, -1))).cpu().numpy()

    stream_outputs(model, batch, see)
    return ranks


def batch_sums(model: Model, batch: Batch) -> Sums:
    """Return the sums of one batch."""
    sums = np.zeros((len(MEASURES), 2, model.layers, model.heads))
    queries = batch.from_words.sum(1)
    kinds = torch.stack([batch.to_words[:, :, :SEP].sum(2), batch.to_words[:, :, SEP:].sum(2)])
    kinds = kinds.to(exact(batch.device))

    def see(layer: int, pattern: Tensor, lengths: Tensor) -> None:
        given = torch.einsum("bq,bhqk->bhk", queries, pattern)
        measures = torch.stack([given, given * lengths, lengths, torch.ones_like(lengths)])
        sums[:, :, layer] = torch.einsum("mbhk,tbk->mth", measures.to(kinds.dtype), kinds).cpu().numpy()

    stream_lengths(model, batch, see)
    return sums


def sink_table(sums: Sums, ranks: Ranks) -> pd.DataFrame:
    """Return one row a head: how far it is a sink, and of which kind.

    `special` and `written` are the shares of special tokens in the attention of words and in what it writes, sums of
    ||alpha f(x)|| (Kobayashi et al. 2020, section 4.2). `length` is the mean ||f(x)|| of special tokens, each weighted
    by the attention that it gets, divided by that of pieces of words: without weights a sink at [CLS] would be judged
    by [SEP] as well. `rank` is the mean of `ranks` over texts: low where a sink gives all words the same, as one that
    broadcasts does (arXiv 2606.08105, abstract), and where attention is spread evenly. Numbers are NaN where nothing
    was read, `written` and `rank` where a head writes nothing.
    """
    attention, written, length, pieces = sums.reshape(len(MEASURES), 2, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        special = attention[1] / attention.sum(0)
        relative = written[1] / attention[1] / (length[0] / pieces[0])
        share = written[1] / written.sum(0)
        rank = np.nansum(ranks, 0) / np.isfinite(ranks).sum(0)
    kind = np.select([~(special >= SINK), relative > LITTLE], ["", SPREADS], WRITES_LITTLE).astype(object)
    return pd.DataFrame(
        named_heads((sums.shape[2], sums.shape[3]))
        | {"special": special, "written": share, "length": relative, "rank": rank.ravel(), "kind": kind}
    )
