"""Sinks in sentences: on a head's card, and counted by kind."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from probes.maps import sinks
from reports import Run
from reports.heads.grid import head_grid
from reports.heads.sinks import sinks_said
from reports.studies.sinks.tables import KINDS, SINKS


@pytest.fixture(scope="module")
def run(written_run: Path) -> Run:
    """Return a run with two sinks that write little and one that spreads."""
    found = Run.open(written_run)
    kinds = {"1-1": KINDS[0], "1-2": KINDS[0], "2-4": KINDS[1]}
    rows = [
        {"layer": layer, "head": head, "name": f"{layer + 1}-{head + 1}"}
        for layer in range(found.layers)
        for head in range(found.heads)
    ]
    table = pd.DataFrame(rows).assign(model="m", step=pd.NA, corpus="c", special=0.8, written=0.2, per_attention=0.0625)
    table["kind"] = [kinds.get(name, "") for name in table["name"]]
    return replace(found, studies={"sinks": SINKS.validated(table, "sinks.parquet")})


def test_kinds_are_named_as_they_are_measured() -> None:
    assert KINDS == sinks.KINDS


def test_a_card_says_of_which_kind_a_sink_is_and_nothing_of_other_heads(run: Run) -> None:
    said = {
        name: [part.said for part in run.head(name).parts if part.title == "A sink"] for name in ("1-1", "2-4", "3-5")
    }
    begin = "80.0 % of the attention of words goes to special tokens, which have 20.0 % of what the head writes: "
    assert said == {
        "1-1": [(f"{begin}it writes little.",)],
        "2-4": [(f"{begin}it spreads what they hold.",)],
        "3-5": [],
    }


def test_sinks_are_counted_by_kind(run: Run) -> None:
    expected = (
        "Sinks, heads that give at least half of their attention to special tokens: 3; 2 write little from there, "
        "1 spread what these hold."
    )
    assert sinks_said(run) == expected
    grid = head_grid(run)
    assert grid is not None
    assert grid.sinks == expected
    assert sinks_said(replace(run, studies={})) == ""
