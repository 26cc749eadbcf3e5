"""The attention statistics: how broad heads are, which places and tokens they attend to, and what their maps look like.

All of it is measured of the pattern of pieces, text by text, in the pass in which heads are scored; what is kept are
sums by cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from mha.batches import Batch
from mha.device import exact
from mha.models.model import Model
from mha.pieces import CLS, SEP
from probes.evidence.leads import EXACT, Documents, holm
from probes.evidence.question import Effort
from probes.evidence.results import SPLITS, named_heads, stacked
from probes.evidence.statistics import Bootstrap, adjust
from probes.maps.cells import ATTENTION, BETWEEN, CELLS, OFFSETS, SIEVES, CellWeights, Layout, sieve_weights
from probes.maps.classes import CLASSES, ClassRule, EvenParts, MapParts, classify
from probes.records import Document, IntArray
from probes.scoring.tally import BLOCKS, Numbers, cluster_blocks
from probes.targets import Items

SMOOTHING = 1e-4
"Uniform attention replaces this part of a row before its entropy is measured (Clark et al. 2019, their code)."

NOTHING = 1e-30
"Stands for no attention where there must not be a 0."

PAIRED: Final = (
    *((kind, f"words of {text}") for kind in ("entropy", "confidence") for text in "AB"),
    *(("pair", name) for name in BETWEEN),
)
"What is measured of pairs of texts alone, from one to the other and by text."

MEASURES: Final = (
    *(("entropy", name) for name in ("all tokens", "[CLS]")),
    ("confidence", "without [SEP]"),
    *(("attention", name) for name in ATTENTION),
    *(("offset", name) for name in OFFSETS),
    ("distance", "words"),
    *(("sieve", name) for name in (*SIEVES, "block")),
    *PAIRED,
    *(("class", name) for name in CLASSES),
)
"Kind and name of everything that is measured of a map, in the order in which it is kept."

KINDS: Final = tuple(dict.fromkeys(kind for kind, _ in MEASURES))

_SIGNS = tuple(mark + sign for mark in ("", "Ġ", "▁") for sign in (".", ","))
"A period and a comma as vocabularies write them, some with a mark where a word begins."


class Shapes:
    """An observer that adds up the shapes of all heads, cluster by cluster (`probes.scoring.observers.Observer`)."""

    def __init__(self, model: Model, clusters: Iterable[str], rule: ClassRule | None = None) -> None:
        """Look at the heads of `model` on texts whose ids are among `clusters`."""
        self.rule = rule or ClassRule()
        self.layers, self.heads = model.layers, model.heads
        known = (model.tokenizer.token_to_id(sign) for sign in _SIGNS)
        self.signs = torch.tensor([number for number in known if number is not None], dtype=torch.int64)
        self.block_of = cluster_blocks(clusters)
        self.n = np.zeros((BLOCKS, len(MEASURES)), np.int64)
        "[block, measure] Texts that have what is measured."
        self.sums = np.zeros((BLOCKS, len(MEASURES), model.layers * model.heads))
        "[block, measure, layer * head]"
        self.even = np.zeros((BLOCKS, len(MEASURES)))
        "[block, measure] Sums of a map that gives all tokens the same."
        self.near_ties = np.zeros(model.layers * model.heads, np.int64)
        "[layer * head] Texts in which the class of the map hangs on rounding."

    def observe(self, documents: Sequence[Document], batch: Batch, items: Sequence[Items] = ()) -> ShapesObservation:
        """Return what measures the maps of a batch."""
        blocks = np.array([self.block_of[document.id] for document in documents], np.int64)
        return ShapesObservation(
            _Lens(Layout(batch, documents, self.signs), self.rule), blocks, self.layers, self.heads
        )

    def add(self, observation: ShapesObservation) -> None:
        """Add the sums of a batch."""
        self.n[observation.present] += observation.n
        self.sums[observation.present] += observation.sums.reshape(*observation.sums.shape[:2], -1)
        self.even[observation.present] += observation.even
        self.near_ties += observation.near.reshape(-1)


class ShapesObservation:
    """What one batch contributes: sums of its texts, cluster by cluster."""

    def __init__(self, lens: _Lens, blocks: IntArray, layers: int, heads: int) -> None:
        """Lay out the sums; `blocks` [text] are the clusters."""
        self.lens = lens
        self.present, of_text = np.unique(blocks, return_inverse=True)
        self._cluster = torch.from_numpy(of_text).to(lens.layout.batch.device)
        self.n = self._by_cluster(lens.counted).astype(np.int64)
        "[cluster, measure], as `even`"
        self.even = self._by_cluster(lens.measure(lens.even)[0][:, :, 0])
        self.sums = np.zeros((*self.n.shape, layers, heads))
        "[cluster, measure, layer, head]"
        self.near = np.zeros((layers, heads), np.int64)

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Add up what is measured of a layer."""
        values, near = self.lens.measure(pattern)
        self.sums[:, :, layer] = self._by_cluster(values)
        self.near[layer] = near.sum(0).cpu().numpy()

    def _by_cluster(self, values: Tensor) -> Numbers:
        """Return the sums over the texts of each cluster (`mha.device.exact`)."""
        sums = values.new_zeros(len(self.present), *values.shape[1:], dtype=exact(values.device))
        summed: Numbers = sums.index_add_(0, self._cluster, values.to(sums.dtype)).cpu().double().numpy()
        return summed


@dataclass(frozen=True)
class _Lens:
    """Measures maps of one batch; what depends on its texts alone is laid out once."""

    layout: Layout
    rule: ClassRule

    @cached_property
    def cells(self) -> CellWeights:
        return CellWeights.of(self.layout)

    @cached_property
    def length(self) -> Float[Tensor, " text"]:
        """Tokens of each text."""
        return self.layout.tokens.sum(1)

    @cached_property
    def of_tokens(self) -> Float[Tensor, "text piece"]:
        """Weights of a mean over tokens."""
        return self.layout.tokens / self.length[:, None]

    @cached_property
    def of_words(self) -> Float[Tensor, "text piece"]:
        """Weights of a mean over the pieces of words."""
        return self.layout.words / self.layout.words.sum(1, keepdim=True).clamp(min=1)

    @cached_property
    def first(self) -> Float[Tensor, "text piece"]:
        """1 at the first piece where that is [CLS]."""
        return self.layout.special(CLS) * (
            torch.arange(self.layout.tokens.shape[1], device=self.layout.batch.device) == 0
        )

    @cached_property
    def blocks(self) -> Float[Tensor, "text query key"] | None:
        """Weights of the sieve of blocks before its rows' entropies; None where no text has several sentences."""
        if not bool(self.layout.within.any()):
            return None
        return sieve_weights(self.layout, self.layout.words, self.layout.within)[0]

    @cached_property
    def between(self) -> CellWeights | None:
        return CellWeights.between(self.layout)

    @cached_property
    def of_texts(self) -> tuple[Float[Tensor, "text piece"], ...]:
        """Weights of a mean over the pieces of the words of each text of a pair; 0 where it is none."""
        texts = self.layout.texts or (torch.zeros_like(self.layout.tokens),) * 2
        return tuple(text / text.sum(1, keepdim=True).clamp(min=1) for text in texts)

    @cached_property
    def even(self) -> Float[Tensor, "text 1 query key"]:
        """Maps that give all tokens the same."""
        return (self.layout.tokens[:, :, None] * self.of_tokens[:, None])[:, None]

    @cached_property
    def even_parts(self) -> EvenParts:
        even = self.even
        within = self.cells.sums(even)[:, CELLS.index("within"), 0]
        alone = ~self.cells.counted[:, CELLS.index("within")]
        return EvenParts(self._columns(even)[:, 0], self._band(even)[:, 0], torch.where(alone, 1.0, within))

    @cached_property
    def counted(self) -> Bool[Tensor, "text measure"]:
        """Whether a text has what is measured."""
        cells = self.cells.counted
        every, several = torch.ones_like(self.length, dtype=torch.bool), cells[:, CELLS.index("distance")]
        words, blocks = self.layout.words.sum(1) > 0, cells[:, CELLS.index("within")]
        classed = (self.length >= self.rule.fewest)[:, None].expand(-1, len(CLASSES))
        simple = cells[:, : len((*ATTENTION, *OFFSETS))]
        sieves = cells[:, [CELLS.index(name) for name in SIEVES]]
        few = torch.stack([every, self.first.sum(1) > 0, words], 1)
        by_text = torch.stack([text.sum(1) > 0 for text in self.of_texts * 2], 1)
        paired = by_text[:, :1].expand(-1, len(BETWEEN)) if self.between is None else self.between.counted
        return torch.cat([few, simple, several[:, None], sieves, blocks[:, None], by_text, paired, classed], 1)

    def measure(self, pattern: Tensor) -> tuple[Float[Tensor, "text measure head"], Bool[Tensor, "text head"]]:
        """Return MEASURES, 0 where a text has none, and whether the class of a map is a near-tie."""
        cells = self.cells.sums(pattern)
        at = {name: cells[:, CELLS.index(name)] for name in ("distance", "words", "within")}
        entropy = self._entropies(pattern)
        kept = (1 - self.layout.special(SEP))[:, None, None]
        highest = (pattern * kept).amax(-1)
        of_map = MapParts(self._columns(pattern), self._band(pattern), at["within"], self.even_parts)
        classes, near = classify(of_map, self.rule)
        few = [_over_rows(entropy, self.of_tokens), _over_rows(entropy, self.first), _over_rows(highest, self.of_words)]
        distance = at["distance"] / at["words"].clamp(min=NOTHING)
        count = len((*ATTENTION, *OFFSETS))
        sieves = cells[:, count : count + len(SIEVES)]
        block = self._block(pattern, entropy)
        by_text = [_over_rows(rows, text) for rows in (entropy, highest) for text in self.of_texts]
        paired = pattern.new_zeros(len(pattern), len(BETWEEN), pattern.shape[1])
        paired = paired if self.between is None else self.between.sums(pattern)
        simple = [torch.stack(few, 1), cells[:, :count], distance[:, None], sieves, block]
        parts = [*simple, torch.stack(by_text, 1), paired, classes]
        return torch.cat(parts, 1) * self.counted[:, :, None], near & self.counted[:, -1, None]

    def _entropies(self, pattern: Tensor) -> Float[Tensor, "text head query"]:
        """Return the entropy of every row, in nats, smoothed."""
        even = SMOOTHING * self.of_tokens.clamp(min=NOTHING)
        smooth = torch.add(even[:, None, None], pattern, alpha=1 - SMOOTHING)
        return -(smooth.log().mul_(smooth)).sum(-1)

    def _block(self, pattern: Tensor, entropy: Tensor) -> Float[Tensor, "text 1 head"]:
        """Return the sieve of blocks, which also asks that rows be broad: each counts by its entropy's part of log n.

        Pande et al. (2021) multiply by the entropy itself, so that their score grows with the length of a text; this
        way uniform attention scores 1, as it does in the other sieves.
        """
        if self.blocks is None:
            return pattern.new_zeros(pattern.shape[0], 1, pattern.shape[1])
        rows = (pattern * self.blocks[:, None]).sum(-1)
        return (rows * entropy).sum(-1)[:, None] / self.length.clamp(min=2).log()[:, None, None]

    def _columns(self, pattern: Tensor) -> Float[Tensor, "text head piece"]:
        """Return the mean attention to every piece."""
        return torch.matmul(self.of_tokens[:, None, None], pattern)[:, :, 0]

    def _band(self, pattern: Tensor) -> Float[Tensor, "text head piece"]:
        """Return the part of it that comes from the piece itself and its two neighbours."""
        rows = self.of_tokens[:, None]
        band = pattern.diagonal(dim1=2, dim2=3) * rows
        band[..., 1:] += pattern.diagonal(1, 2, 3) * rows[..., :-1]
        band[..., :-1] += pattern.diagonal(-1, 2, 3) * rows[..., 1:]
        return band


def _over_rows(values: Float[Tensor, "text head query"], weights: Float[Tensor, "text query"]) -> Tensor:
    """Return the weighted sums [text, head] over rows."""
    return (values * weights[:, None]).sum(-1)


def shape_table(select: Shapes, report: Shapes, effort: Effort, threshold: float) -> pd.DataFrame:
    """Return one row a measure, head and split, in the columns of the table `shapes`.

    PAIRED has rows where there are pairs. A value is the mean over the texts that have what is measured, its interval
    95 % of resamples of clusters. On the report split sieves are tested: p is that of a mean above `threshold`, by
    cluster, as that of leads (`probes.evidence.leads.Means`; Pande et al. 2021 take a t test over sentences), p_label
    is corrected for all heads (Holm 1979); what depends on all sieves of a run is left to `add_adjusted`.
    """
    blocks: list[Mapping[str, object]] = []
    asked = [
        (place, *measure)
        for place, measure in enumerate(MEASURES)
        if measure not in PAIRED or select.n[:, place].any() or report.n[:, place].any()
    ]
    for number, (split, shapes) in enumerate(zip(SPLITS, (select, report), strict=True)):
        clusters = np.flatnonzero(shapes.n.any(1)).tolist()
        bootstrap = effort.resamples(clusters, number)
        for place, kind, measure in asked:
            limit = threshold if kind == "sieve" and split == "report" else np.nan
            rows = named_heads((shapes.layers, shapes.heads)) | _numbers(shapes, place, bootstrap, limit)
            near_ties = shapes.near_ties if kind == "class" else 0
            told = {"kind": kind, "measure": measure, "split": split, "near_ties": near_ties}
            blocks.append(rows | told | {"p_adjusted": np.nan})
    return stacked(blocks, shapes.layers * shapes.heads, [*blocks[0]])


def _numbers(shapes: Shapes, place: int, bootstrap: Bootstrap, threshold: float) -> dict[str, object]:
    """Return the measured columns of one measure; NaN and n = 0 where no text has it."""
    clusters = np.flatnonzero(shapes.n[:, place])
    n, sums = shapes.n[clusters, place].astype(np.float64), shapes.sums[clusters, place]
    nothing = np.full(sums.shape[1], np.nan)
    if not len(clusters):
        missing = dict.fromkeys(("value", "ci_low", "ci_high", "even", "threshold", "p", "p_label"), nothing)
        return missing | {"n": 0, "clusters": 0}
    resamples = bootstrap.of(clusters.tolist(), n)
    low, high = resamples.interval(resamples.means(sums))
    p = nothing
    if not np.isnan(threshold):
        p = Documents.of(n).measured(sums - threshold * n[:, None]).p_above(0, EXACT, -threshold)
    return {
        "n": int(n.sum()),
        "clusters": len(clusters),
        "value": sums.sum(0) / n.sum(),
        "ci_low": low,
        "ci_high": high,
        "even": shapes.even[clusters, place].sum() / n.sum(),
        "threshold": threshold,
        "p": p,
        "p_label": holm(p),
    }


def add_adjusted(shapes: pd.DataFrame) -> pd.DataFrame:
    """Return the shapes of a whole run with `p_adjusted`: p_label corrected once more for all sieves and scopes."""
    shapes = shapes.copy()
    tested = shapes["p_label"].notna()
    groups = shapes[tested].groupby(["scope", "measure", "split"], sort=True).indices
    rows = [np.flatnonzero(tested)[places] for places in groups.values()]
    p_label, p_adjusted = shapes["p_label"].to_numpy(), np.full(len(shapes), np.nan)
    for place, adjusted in zip(rows, adjust([p_label[place] for place in rows], dependent=False), strict=True):
        p_adjusted[place] = adjusted
    shapes["p_adjusted"] = p_adjusted
    return shapes
