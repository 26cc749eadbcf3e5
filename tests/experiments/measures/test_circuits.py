"""Weights alone: what is read and refused, and numbers of the page."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.measures.circuits import CircuitsMeasure
from experiments.run.config import load_config
from experiments.run.run import run
from mha.models.circuits import CircuitError
from reports import Run
from tests.experiments.measures.conftest import told

ASK = ("circuits.enabled=true", "circuits.words=30", "circuits.sentences=4", 'probes.names=["position"]')
LAYERS, HEADS, REACH = 2, 3, 2
NAMES = [f"{layer + 1}-{head + 1}" for layer in range(LAYERS) for head in range(HEADS)]


@pytest.mark.slow
def test_a_run_that_asks_has_a_row_a_head_and_says_what_was_left_out(scored: Callable[..., Run]) -> None:
    found = scored(*ASK)
    assert len(found.tables["circuits"]) == 4
    facts = found.facts("circuits")
    assert facts["words"] == 30
    dropped = [part for part in found.record.dropped or () if part.reason.startswith("weights alone: ")]
    assert any("vocabulary does not have whole" in part.reason for part in dropped)
    too_long = sum(part.count for part in dropped if "longer than the model" in part.reason)
    assert facts["sentences"] + too_long == 4


def test_relations_of_ones_own_are_read_relative_to_the_config(base: Path, tmp_path: Path) -> None:
    config = tmp_path / "base.toml"
    config.write_bytes(base.read_bytes())
    (tmp_path / "pairs.tsv").write_text("a\tb\n")
    with pytest.raises(CircuitError, match=r"pairs\.tsv:1: expected a relation and two words"):
        run(load_config(config, [*ASK, "circuits.relations=pairs.tsv"]), tmp_path)


def circuit_tables() -> dict[str, pd.DataFrame]:
    """Tables of six heads, of which 1-2 looks back by weights and on text, and 2-3 by weights alone."""
    cell = np.arange(LAYERS * HEADS)
    places = {"layer": cell // HEADS, "head": cell % HEADS, "name": NAMES}
    kernel = np.array([0.2, 0.93, 0.3, 0.25, 0.4, 0.71])
    heads = pd.DataFrame(places).assign(
        **{"kernel_offset": -1, "kernel_attention": kernel, "same_word": 0.5, "related_words": 0.6},
        **{"copying": [0.8, 0.1, -0.9, 0, 0, np.nan], "positive_eigenvalues": 0.5, "own_word": 0.4},
        **{"text_offset": [0, -1, 0, 0, 0, 1], "text_attention": 0.6, "text_at_kernel": kernel / 2},
        **{"text_same_word": -0.02, "text_related": 0.1, "text_copying": 0.3, "write_norm": 1.25},
    )
    rows = pd.DataFrame(places).loc[np.repeat(cell, 2 * REACH + 1)].reset_index(drop=True)
    offsets = np.tile(np.arange(-REACH, REACH + 1), len(cell))
    kernels = rows.assign(offset=offsets, score=0.0, attention=0.2, text_attention=np.where(offsets, 0.1, np.nan))
    kernels.loc[(rows["name"] == "1-2") & (offsets == -1), "attention"] = 0.93
    relations = pd.DataFrame(places).assign(relation="plural", pairs=16, chance=0.0005)
    relations = relations.assign(static=[0, 0, 0.25, 0, 0, 0], suppressed=[0, 0, 0, 0.5, 0, 0], dynamic=0.125)
    links = pd.DataFrame(
        [
            ("", "kernel_attention", "text_at_kernel", 1.0, 0.9, 1.0, 6),
            ("", "copying", "text_copying", -0.2, -0.7, 0.4, 6),
            ("", "own_word", "text_copying", -0.6, -0.8, -0.3, 6),
            ("plural", "static", "dynamic", np.nan, np.nan, np.nan, 6),
        ],
        columns=["relation", "weights", "text", "rho", "low", "high", "heads"],
    )
    return {"circuits": heads, "circuit_kernels": kernels, "circuit_relations": relations, "circuit_links": links}


def test_the_page_counts_names_and_compares(measured: Callable[..., Run]) -> None:
    page = told(CircuitsMeasure, measured(**circuit_tables()))
    assert (
        "From position embeddings alone, 2 of 6 heads give half of the attention or more to one offset: 1-2 (offset "
        "-1: 93.0 %, on text 46.5 %), 2-3 (offset -1: 71.0 %, on text 35.5 %). In 1 of them it is also the most "
        "attended offset on text." in page
    )
    assert "copying score of 0.50 or more: 1; of -0.50 or less, which lower what they attend to: 1." in page
    assert (
        "Of 3 comparisons of weights alone with text 1 have a rank correlation whose interval lies above 0: attention "
        "to the preferred offset, by position embeddings with attention to that offset (1.00). In 1 it lies below 0: "
        "rank of a word’s effect on its own logit with correlation of output and attended logits (-0.60)." in page
    )
    assert "| 1-2 | -1 | 93.0 | 46.5 | -1 | 50.0 | -2.0 | 60.0 | " in page
    assert "| plural | 16 | 1-3 | 25.0 | 12.5 | 2-1 | 50.0 | 0.05 | – | – |\n" in page
