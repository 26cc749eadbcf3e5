"""Attention statistics: measured in the passes that score heads, and what a page says of invented numbers."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from experiments.measures.shapes import SHAPES, ShapesMeasure
from probes.maps.shapes import MEASURES
from reports import Run
from reports.blocks.block import Block, Points, TableBlock

LAYERS, HEADS = 6, 12
PLANTED = {("attention", "[SEP]"): ((4, 1), 0.8), ("offset", "-1"): ((2, 3), 0.9), ("class", "diagonal"): ((2, 3), 0.7)}
"Measure -> a head, and its value."


def rows(scopes: tuple[str, ...] = ("sentence", "window")) -> pd.DataFrame:
    """Return invented shapes of all measures; blocks are measured in windows alone."""
    splits = [(scope, split) for scope in scopes for split in ("select", "report")]
    frames = [measure_rows(*where, *measure) for where in splits for measure in MEASURES]
    return SHAPES.validated(pd.concat(frames, ignore_index=True), "shapes.parquet")


def measure_rows(scope: str, split: str, kind: str, name: str) -> pd.DataFrame:
    cell = np.arange(LAYERS * HEADS)
    layer, head = cell // HEADS, cell % HEADS
    there = name != "block" or kind == "class" or scope == "window"
    value = 2.5 - 0.2 * layer + 0.02 * head if kind == "entropy" else np.full(len(cell), 0.1)
    value = np.where(cell == 5, 4.0, 1.5) if kind == "sieve" else value
    if kind == "class":
        value = np.full(len(cell), {"heterogeneous": 0.6, "block": 0.0 if scope == "sentence" else 0.2}.get(name, 0.05))
    if (kind, name) in PLANTED:
        (at, of), planted = PLANTED[kind, name]
        value = np.where((layer == at) & (head == of), planted, value)
    value = value if there else np.full(len(cell), np.nan)
    tested = kind == "sieve" and split == "report" and there
    p = np.where(cell == 5, 0.0004, 0.9) if tested else np.full(len(cell), np.nan)
    known = {"model": "minilm", "step": pd.NA, "corpus": "EWT dev", "scope": scope, "split": split, "kind": kind}
    names = [f"{a + 1}-{b + 1}" for a, b in zip(layer, head, strict=True)]
    frame = pd.DataFrame({"layer": layer, "head": head, "name": names, "value": value, "p": p / 4, "p_label": p / 2})
    return frame.assign(
        **known,
        measure=name,
        n=(2001 if scope == "sentence" else 250) if there else 0,
        clusters=318 if there else 0,
        ci_low=value * 0.9,
        ci_high=value * 1.05,
        even={"entropy": 3.0, "sieve": 1.0}.get(kind, 0.06) if there else np.nan,
        near_ties=3 if kind == "class" else 0,
        threshold=3.0 if tested else np.nan,
        p_adjusted=p,
    )


def page(table: pd.DataFrame) -> dict[type[Block], list[Any]]:
    """Return the blocks of a page by kind."""
    found: dict[type[Block], list[Any]] = {}
    for block in ShapesMeasure.page(SimpleNamespace(tables={"shapes": table})):
        found.setdefault(type(block), []).append(block)
    return found


def test_classes_and_blocks_are_told_of_windows_where_there_are_some_and_all_else_of_sentences() -> None:
    maps = [*ShapesMeasure.maps(SimpleNamespace(tables={"shapes": rows()}, layers=LAYERS, heads=HEADS))]
    windows = {one.title for one in maps if " · n 250 windows · clusters 318" in one.about}
    assert windows == {"sieves: block", *(f"maps by class: {name}" for kind, name in MEASURES if kind == "class")}
    assert all(("250 windows" in one.about) != ("2,001 sentences" in one.about) for one in maps)
    _, sieves, classes = page(rows(("sentence",)))[TableBlock]
    assert [row[0] for row in sieves.table] == ["local", "delimiter", "syntactic"]
    assert classes.table.title == "Maps by class: 2,001 sentences"


def test_sentences_say_what_stands_out() -> None:
    entropy, half, classes = page(rows())[Points][0].sentences
    assert entropy == (
        "Entropies lie between 1.50 nats (head 6-1) and 2.72 (head 1-12); uniform attention has 3.00. Layer 1 is the "
        "broadest on average (2.61), layer 6 the narrowest (1.61)."
    )
    assert half == (
        "All tokens, special tokens included, give more than half of their attention to [SEP] in 1 head (5-2). Words "
        "give more than half of their attention to the previous word in 1 head (3-4). These are means over each text, "
        "then over texts; sinks are defined by the attention of words alone."
    )
    assert classes.startswith("Maps by class, all heads and 250 windows together: vertical 5.0 %, diagonal 5.9 %")
    frame = rows().assign(clusters=6)
    frame.loc[frame["kind"].isin(["attention", "offset"]), ["value", "ci_low", "ci_high"]] = 0.2
    few, _, half, _ = page(frame)[Points][0].sentences
    assert few.startswith("⚠ Only 6 clusters")
    assert half.startswith("No head gives more than half of its attention to")


@pytest.mark.slow
def test_the_threshold_decides_the_tests_of_sieves_and_nothing_else(scored: Callable[..., Run]) -> None:
    key = ["scope", "split", "kind", "measure", "name"]
    high, low = (scored(f"shapes.threshold={value}").tables["shapes"].set_index(key) for value in (50.0, 0.001))
    tested = high.p.notna()
    assert set(high[tested].threshold) == {50.0}
    assert float(high[tested].p.min()) > 0.9
    assert float(low[tested].p.max()) < 0.1
    kept = ["n", "clusters", "value", "ci_low", "ci_high", "even", "near_ties"]
    pd.testing.assert_frame_equal(high[kept], low[kept], check_exact=True)
