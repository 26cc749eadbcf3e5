"""The questions about one batch, laid out once for all models that cut texts into the same pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from mha.batches import Batch
from mha.models.maps import SeeBoth, stream_maps
from mha.models.model import Model
from probes.scoring.scorer import MEASURES, BatchScorer
from probes.scoring.tally import Numbers, Segments
from probes.targets import Items


@dataclass(frozen=True)
class Sheet:
    """A batch with its questions; nothing in it depends on the model's weights."""

    batch: Batch
    scorer: BatchScorer
    parts: tuple[Segments, ...]
    "The segments of each part of the questions, such as those about gold and those about control arcs."
    segment: Tensor
    "[item] Number of every item's segment, counted through all parts."

    @classmethod
    def of(cls, parts: Sequence[tuple[list[Items], Segments]], batch: Batch) -> Sheet:
        """Lay out the questions of every part of a batch."""
        scorer = BatchScorer([group for groups, _ in parts for group in groups], batch.words.numpy())
        segments = tuple(one for _, one in parts)
        start = np.cumsum([0, *map(len, segments)])[:-1]
        of_item = np.concatenate([one.of_item + first for one, first in zip(segments, start, strict=True)])
        return cls(batch, scorer, segments, torch.from_numpy(of_item))

    def sums(
        self, model: Model, also: Sequence[SeeBoth] = (), *, maps: str = "weights", hits_alone: bool = False
    ) -> list[tuple[Segments, Numbers]]:
        """Return the sums [segment, measure, layer * head] of all heads on every part; `also` see the same maps.

        `maps` is one of `mha.models.maps.MAPS`. With `hits_alone` other measures are not looked at.
        """
        count = sum(map(len, self.parts))
        sums = np.empty((count, len(MEASURES), model.layers, model.heads))

        def see(layer: int, of_layer: Tensor) -> None:
            options = {"shares": maps == "norms", "hits_alone": hits_alone}
            sums[:, :, layer] = self.scorer.sums(of_layer, self.segment, count, **options).numpy()

        stream_maps(model, self.batch, see, also, maps=maps)
        flat = sums.reshape(count, len(MEASURES), -1)
        border = np.cumsum([len(segments) for segments in self.parts])[:-1]
        return list(zip(self.parts, np.split(flat, border), strict=True))
