"""All measures of mixing of a model on texts, as two tables: by depth, and by head."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from mha.models.model import Model
from mha.pieces import CLS, SEP, Pieces
from mha.reading.attention_blocks import AttentionBlock, attention_blocks, states_without
from probes.corpora.corpus import MemoryTexts, Texts
from probes.evidence.question import Effort
from probes.evidence.results import named_heads
from probes.evidence.statistics import Bootstrap
from probes.scoring.aligned import Aligned, name_of, sample_texts

WEIGHTS, HALF, NORMS, RESIDUAL, BLOCK = RATIOS = (
    "weights",
    "weights, residual",
    "norms",
    "norms, residual",
    "norms, residual, LayerNorm",
)
"""What is taken into account: attention weights, averaged over heads; half of them, half the piece itself (Abnar and
Zuidema 2020); the vectors that heads write; these and the residual; and LayerNorm too, all of the block."""


def mixing_ratios(block: AttentionBlock) -> dict[str, Float[Tensor, " piece"]]:
    """Return each of RATIOS for every piece, in [0, 1]: 0 where nothing comes from other pieces.

    Of vectors it is |c| / (|c| + |o|), c the sum of what comes from other pieces and o what comes from the piece itself
    (Kobayashi et al. 2021, equation 13). The biases of W_O and LayerNorm come from no piece and are left out.
    """
    own = torch.diagonal(block.pattern, dim1=1, dim2=2)
    context = block.written(block.pattern - torch.diag_embed(own))
    itself = block.written(torch.diag_embed(own))
    with_residual = itself + block.x
    others = 1 - own.mean(0)
    return {
        WEIGHTS: others,
        HALF: others / 2,
        NORMS: _ratio(context, itself),
        RESIDUAL: _ratio(context, with_residual),
        BLOCK: _ratio(block.scaled(context), block.scaled(with_residual)),
    }


def _ratio(context: Float[Tensor, "piece model"], itself: Float[Tensor, "piece model"]) -> Float[Tensor, " piece"]:
    mixed, kept = context.norm(dim=-1), itself.norm(dim=-1)
    ratio: Tensor = mixed / (mixed + kept)
    return ratio


LONGEST = 4
"Texts of as many sizes of a head, or more, are one group."

RANK = 1e-5
"Singular values below this part of the largest are zero."


def effective_attention(
    pattern: Float[Tensor, "head query key"], value: Float[Tensor, "head key head_dim"]
) -> Float[Tensor, "head query key"]:
    """Return attention without its part in the left null space of the values: V^T of any text of like rows is kept.

    What a head writes is pattern V W_O, so that rows a with a V = 0 change nothing. With more keys than the head's size
    there are such rows. Rows do not sum to 1, and entries may be negative (Brunner et al. 2020, section 3.2).
    """
    left, sizes, _ = torch.linalg.svd(value.double(), full_matrices=False)
    kept = left * (sizes > RANK * sizes[:, :1])[:, None]
    return torch.einsum("hqk,hkr,hjr->hqj", pattern.double(), kept, kept)


def effective_measures(block: AttentionBlock, text: Pieces) -> dict[str, Float[Tensor, " head"]]:
    """Return the measures of every head of a layer on one text.

    pearson: correlation of attention and effective attention over all cells of the map. removed: share of the squared
    norm of attention that lies in the null space, in [0, 1]. cls, sep and words: mean attention of a query to [CLS],
    to [SEP] and to all words together, and the same of effective attention.
    """
    pattern, word = block.pattern.double(), torch.from_numpy(text.word).long()
    effective = effective_attention(block.pattern, block.value)
    squares = pattern.square().sum((1, 2))
    found = {
        "pearson": _pearson(pattern.flatten(1), effective.flatten(1)),
        "removed": ((pattern - effective).square().sum((1, 2)) / squares).clamp(0, 1),
    }
    for name, keys in (("cls", word == CLS), ("sep", word == SEP), ("words", word >= 0)):
        for kind, maps in ((name, pattern), (f"{name}_effective", effective)):
            found[kind] = maps[..., keys].sum(-1).mean(-1)
    return found


def _pearson(one: Float[Tensor, "head cell"], other: Float[Tensor, "head cell"]) -> Float[Tensor, " head"]:
    one, other = (part - part.mean(1, keepdim=True) for part in (one, other))
    return (one * other).sum(1) / (one.square().sum(1) * other.square().sum(1)).sqrt()


def in_sizes(pieces: int, head_dim: int) -> int:
    """Return the length of a text in sizes of a head, rounded up; LONGEST for all that are longer.

    >>> in_sizes(32, 32), in_sizes(33, 32), in_sizes(500, 32)
    (1, 2, 4)
    """
    return min(-(-pieces // head_dim), LONGEST)


WHOLE, NO_FEED_FORWARD, NO_SKIPS, ATTENTION_ALONE = PASSES = (
    "states: all parts",
    "states: no feed-forward nets",
    "states: no skip connections",
    "states: attention alone",
)
"The passes of which states are compared; attention alone has neither feed-forward nets nor skip connections."

PARTS = {WHOLE: (True, True), NO_FEED_FORWARD: (True, False), NO_SKIPS: (False, True), ATTENTION_ALONE: (False, False)}
"Pass -> whether it has skip connections, and feed-forward nets."


def relative_residual(states: Float[Tensor, "*layer piece model"]) -> Float[Tensor, " *layer"]:
    """Return the norm of the states minus their mean over pieces, relative to that of the states; 0 at rank one.

    The norm is the composite one, sqrt(|X|_1 |X|_inf): of the largest sums of absolute values of a column and of a row
    (Dong et al. 2021, section 2).

    >>> import torch
    >>> relative_residual(torch.tensor([[1.0, 2.0], [1.0, 2.0]]))
    tensor(0.)
    """
    return _composite(states - states.mean(-2, keepdim=True)) / _composite(states)


def _composite(states: Tensor) -> Tensor:
    sizes = states.abs()
    return (sizes.sum(-2).amax(-1) * sizes.sum(-1).amax(-1)).sqrt()


def states_of_passes(model: Model, ids: Int[Tensor, " piece"]) -> dict[str, Float[Tensor, "depth piece model"]]:
    """Return for each of PASSES the input of the first layer and the output of every layer, in double precision."""
    return {
        name: states_without(model, ids, skips=skips, feed_forward=feed_forward).double()
        for name, (skips, feed_forward) in PARTS.items()
    }


PENALTY = 1e-3
"Of the ridge regression, relative to the mean variance of the states."


@dataclass
class Recovery:
    """A linear map from states of each depth back to the embeddings they began as; fitted on texts seen so far."""

    count: int = 0
    sums: dict[str, Tensor] = field(default_factory=dict)
    "Sums over pieces in double precision: x, y [depth, model], xx, xy [depth, model, model]."

    def add(self, states: Float[Tensor, "depth piece model"]) -> None:
        """Learn from a text; its embeddings are the states at depth 0."""
        x = states.double()
        y = x[:1].expand_as(x)
        seen = {"x": x.sum(1), "y": y.sum(1), "xx": x.mT @ x, "xy": x.mT @ y}
        self.sums = {name: self.sums[name] + part for name, part in seen.items()} if self.sums else seen
        self.count += states.shape[1]

    def fitted(self) -> LinearMap:
        """Return the ridge regression of embeddings on states, with an intercept."""
        mean_x, mean_y = self.sums["x"] / self.count, self.sums["y"] / self.count
        xx = self.sums["xx"] / self.count - torch.einsum("dm,dn->dmn", mean_x, mean_x)
        xy = self.sums["xy"] / self.count - torch.einsum("dm,dn->dmn", mean_x, mean_y)
        ridge = PENALTY * xx.diagonal(dim1=1, dim2=2).mean(1).clamp(min=1e-12)
        penalised = xx + ridge[:, None, None] * torch.eye(xx.shape[-1], dtype=xx.dtype)
        slope = torch.cholesky_solve(xy, torch.linalg.cholesky(penalised))  # torch.linalg.solve: pytorch issue 142815
        return LinearMap(mean_x, mean_y, slope)


@dataclass(frozen=True)
class LinearMap:
    """Recovers embeddings from states, for each depth."""

    mean_x: Float[Tensor, "depth model"]
    mean_y: Float[Tensor, "depth model"]
    slope: Float[Tensor, "depth model model"]

    def identified(self, states: Float[Tensor, "depth piece model"]) -> Float[Tensor, " depth"]:
        """Return the share of pieces whose recovered embedding is nearest, by cosine, to their own of the text's.

        In [0, 1]; one over the number of pieces by chance (Brunner et al. 2020, section 4.1, 1-NN with a linear map).
        """
        x = states.double()
        recovered = (x - self.mean_x[:, None]) @ self.slope + self.mean_y[:, None]
        unit = torch.nn.functional.normalize(x[0], dim=-1)
        nearest = (recovered @ unit.T).argmax(-1)
        return (nearest == torch.arange(x.shape[1])).double().mean(-1)


IDENTIFIED = "identified pieces"
"Share of the pieces that a linear map finds again (`probes.states.mixing.Recovery`)."

FEWEST = 8
"Texts of fewer words are left out."

ByDepth = dict[tuple[str, int], float]
"Measure and depth -> value of one text."


def mixing_texts(model: Model, scopes: Sequence[Texts], count: int) -> Aligned:
    """Return `count` texts of every scope, those with the smallest hash of their ids; shorter ones than FEWEST not."""
    sample = [text for texts in scopes for text in sample_texts(texts, count)]
    aligned = Aligned.of(model, MemoryTexts([text for text in sample if len(text) >= FEWEST]))
    for text in sample:
        if len(text) < FEWEST:
            aligned.dropped.add(f"fewer than {FEWEST} words", name_of(text))
    return aligned


@dataclass(frozen=True)
class Mixing:
    """Measures texts of one model."""

    model: Model
    recovery: LinearMap

    @classmethod
    @torch.inference_mode()
    def learned(cls, model: Model, select: Aligned, step: Callable[[], None] = lambda: None) -> Mixing:
        """Fit what finds pieces again on texts of the selection split."""
        model = model.on_cpu()
        recovery = Recovery()
        for text in select.pieces:
            recovery.add(states_without(model, _ids(text), skips=True, feed_forward=True))
            step()
        return cls(model, recovery.fitted())

    @torch.inference_mode()
    def tables(
        self, report: Aligned, effort: Effort, step: Callable[[], None] = lambda: None
    ) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """Return three tables: by depth with intervals over documents, by head and length of text, by head and text."""
        of_texts, of_heads = [], []
        _, documents = np.unique(np.array(report.names), return_inverse=True)
        for number, text in enumerate(report.pieces):
            blocks = attention_blocks(self.model, _ids(text))
            of_texts.append(self._by_depth(blocks, text))
            of_heads.append(_by_head(blocks, text).assign(text=number, document=documents[number]))
            step()
        by_text = pd.concat(of_heads, ignore_index=True)
        return _with_intervals(of_texts, report, effort), effective_table(by_text), by_text

    def _by_depth(self, blocks: Sequence[AttentionBlock], text: Pieces) -> ByDepth:
        found: ByDepth = {}
        for depth, block in enumerate(blocks, 1):
            found |= {(name, depth): float(ratio.mean()) for name, ratio in mixing_ratios(block).items()}
        states = states_of_passes(self.model, _ids(text))
        by_depth = {name: relative_residual(one) for name, one in states.items()}
        for name, values in (by_depth | {IDENTIFIED: self.recovery.identified(states[WHOLE])}).items():
            found |= {(name, depth): float(value) for depth, value in enumerate(values)}
        return found


def _ids(text: Pieces) -> Tensor:
    return torch.from_numpy(text.ids).long()


def _by_head(blocks: Sequence[AttentionBlock], text: Pieces) -> pd.DataFrame:
    """Return one row a head of the measures of effective attention on a text."""
    layers = [effective_measures(block, text) for block in blocks]
    columns = {name: torch.cat([layer[name] for layer in layers]).numpy() for name in layers[0]}
    heads, _, head_dim = blocks[0].value.shape
    sizes = in_sizes(len(text), head_dim)
    return pd.DataFrame({"sizes": sizes} | named_heads((len(blocks), heads)) | columns)


def _with_intervals(of_texts: Sequence[ByDepth], report: Aligned, effort: Effort) -> pd.DataFrame:
    """Return means over texts with intervals over their documents."""
    values = pd.DataFrame(of_texts).groupby(np.array(report.names))
    n, totals = values.size().to_numpy().astype(np.float64), values.sum().to_numpy()
    clusters = tuple(range(len(n)))
    resamples = Bootstrap.draw(clusters, effort.replicates, effort.seed).of(clusters, n)
    low, high = resamples.interval(resamples.means(totals))
    return pd.DataFrame(_rows(of_texts[0], totals.sum(0) / n.sum(), low, high)).assign(n=len(of_texts))


def _rows(
    keys: Mapping[tuple[str, int], float], values: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Iterator[dict[str, object]]:
    for (measure, depth), *ends in zip(keys, values, low, high, strict=True):
        yield {"measure": measure, "depth": depth} | dict(zip(("value", "low", "high"), ends, strict=True))


def effective_table(by_text: pd.DataFrame) -> pd.DataFrame:
    """Return the means over texts of each length, of rows of single texts: one row a head and length."""
    rows = by_text.drop(columns=["text", "document"])
    key = ["sizes", "layer", "head", "name"]
    return (
        rows.groupby(key, as_index=False)
        .mean()
        .merge(rows.groupby(key, as_index=False).size())
        .rename(columns={"size": "n"})
    )
