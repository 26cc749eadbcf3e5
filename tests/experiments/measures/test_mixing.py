"""Mixing: its key, the names of its measures, and numbers of the page."""

from collections.abc import Callable

import pandas as pd
import pytest

from experiments.measures.mixing import IDENTIFIED, RATIOS, STATES, MixingMeasure
from probes.states import mixing
from reports import Run
from tests.experiments.measures.conftest import told


@pytest.mark.slow
def test_it_reads_as_many_texts_as_the_config_says(scored: Callable[..., Run]) -> None:
    few, more = (scored(f"mixing.texts={texts}").tables["mixing"] for texts in (4, 8))
    assert few.n.max() < more.n.max()


def test_measures_are_called_as_they_are_measured() -> None:
    assert (RATIOS, STATES, IDENTIFIED) == (mixing.RATIOS, mixing.PASSES, mixing.IDENTIFIED)


def test_the_page_has_means_over_layers_and_over_heads_by_length(measured: Callable[..., Run]) -> None:
    rows = [(name, depth, value) for name in RATIOS for depth, value in ((1, 0.2), (2, 0.3))]
    rows += [(name, depth, 1 - depth / 4) for name in (*STATES, IDENTIFIED) for depth in (0, 1, 2)]
    by_depth = pd.DataFrame(rows, columns=["measure", "depth", "value"])
    by_depth = by_depth.assign(low=by_depth.value - 0.1, high=by_depth.value + 0.1, n=9)
    by_head = pd.DataFrame({"layer": 0, "head": [0, 1, 0, 1], "name": ["1-1", "1-2"] * 2, "sizes": [1, 1, 2, 2]})
    by_head = by_head.assign(n=[5, 5, 4, 4], pearson=[1.0, 1.0, 0.4, 0.6], removed=0.25)
    for name in ("cls", "sep", "words"):
        by_head = by_head.assign(**{name: 0.3, f"{name}_effective": -0.02})
    page = told(MixingMeasure, measured(mixing=by_depth, effective_attention=by_head))
    assert page.startswith("On 9 texts attention blocks mix 25.0 % from other pieces")
    assert "relative residual of the last states is 0.50" in page
    assert f"| {RATIOS[-1]} |  | 0.20 [0.10, 0.30] | 0.30 [0.20, 0.40] |" in page
    assert "| 2 | 4 | 0.50 | 0.25 |" in page
