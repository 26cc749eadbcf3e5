"""Sinks, against attention and values in float64, and by hand."""

import math

import numpy as np
import pytest
import torch

from mha import Model
from mha.planted.heads import plant_weights  # noqa: F401
from probes.maps.sinks import SPREADS, WRITES_LITTLE, sink_table


def test_kinds_by_hand() -> None:
    """Heads: no sink; one whose special tokens have 90 % of attention and half of what it writes; as much of both."""
    table = sink_table(np.array([0.4, 0.9, 0.8, 1.0]), np.array([0.1, 0.5, 0.8, 1.0]), (2, 2)).set_index("name")
    assert table.kind.tolist() == ["", WRITES_LITTLE, SPREADS, SPREADS]
    assert table.per_attention.tolist() == pytest.approx([1 / 6, 1 / 9, 1, math.nan], nan_ok=True)
