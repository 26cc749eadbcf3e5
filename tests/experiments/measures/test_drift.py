"""Drift: what a page says of invented cosines; `tests/experiments/training/test_train.py` has it of a training."""

from types import SimpleNamespace

import pandas as pd

from experiments.measures.drift import DriftMeasure
from reports.tables.table import last_step


def test_heads_that_moved_most_are_named_and_layers_have_their_mean() -> None:
    heads = pd.DataFrame({"name": ["1-1", "1-2", "2-1", "2-2"], "layer": [0, 0, 1, 1], "cosine": [0.9, 0.5, 1.0, 0.8]})
    last = heads.merge(pd.DataFrame({"text": [0, 1]}), how="cross").assign(step=9)
    table = pd.concat([last, last.assign(step=1, cosine=0.1)]).astype({"step": "Int64"})
    text, layers, _ = DriftMeasure.page(SimpleNamespace(last=lambda name: last_step(table)))
    assert text.text.startswith(
        "On 2 sentences of the report split the maps moved most in these heads: 1-2 (0.500), 2-"
    )
    assert layers.table.texts == (
        ("1", "0.700", "1-2 (0.500)", "1-1 (0.900)"),
        ("2", "0.900", "2-2 (0.800)", "2-1 (1.000)"),
    )
