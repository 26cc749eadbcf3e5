"""All measures of mixing of a model on texts, as two tables: by depth, and by head."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from mha.models.circuits import encoder_of
from mha.models.model import Model
from mha.pieces import Pieces
from mha.reading.attention_blocks import AttentionBlock, attention_blocks, states_without
from probes.corpora.corpus import MemoryTexts, Texts
from probes.evidence.question import Effort
from probes.evidence.results import named_heads
from probes.evidence.statistics import Bootstrap
from probes.mixing.texts import (
    WHOLE,
    LinearMap,
    Recovery,
    effective_measures,
    in_sizes,
    mixing_ratios,
    relative_residual,
    states_of_passes,
)
from probes.scoring.aligned import Aligned, name_of, sample_texts

IDENTIFIED = "identified pieces"
"Share of the pieces that a linear map finds again (`probes.mixing.texts.Recovery`)."

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
        encoder, recovery = encoder_of(model), Recovery()
        for text in select.pieces:
            recovery.add(states_without(encoder, _ids(text), skips=True, feed_forward=True))
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
        states = states_of_passes(encoder_of(self.model), _ids(text))
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
