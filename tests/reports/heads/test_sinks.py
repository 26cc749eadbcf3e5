"""Sinks in sentences: on a head's card, and counted by kind."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from experiments.measures.sinks import SINKS
from reports import Run, write_measures, write_scores
from reports.heads.sinks import kinds_of_sinks
from reports.page.page_model import gather
from reports.tables.grades import SINK_KINDS

KINDS = {"1-1": SINK_KINDS[0], "1-2": SINK_KINDS[0], "2-4": SINK_KINDS[1]}
"Heads that have a kind."


@pytest.fixture(scope="module")
def run(written_run: Path) -> Run:
    """Return a run with two sinks that write little and one that spreads."""
    found = Run.open(written_run)
    rows = [
        {"layer": layer, "head": head, "name": f"{layer + 1}-{head + 1}"}
        for layer in range(found.layers)
        for head in range(found.heads)
    ]
    table = pd.DataFrame(rows).assign(
        model="m", step=pd.NA, corpus="c", special=0.8, written=0.2, length=0.0625, rank=2.5
    )
    table["kind"] = [KINDS.get(name, "") for name in table["name"]]
    return replace(found, tables={"sinks": SINKS.validated(table, "sinks.parquet")})


def test_a_card_says_of_which_kind_a_sink_is_and_nothing_of_other_heads(run: Run) -> None:
    said = {
        name: [part.sentences for part in run.head(name).parts if part.title == "A sink"]
        for name in ("1-1", "2-4", "3-5")
    }
    begin = "80.0 % of the attention of words goes to special tokens, which have 20.0 % of what the head writes: "
    end = " Its outputs take up 2.50 directions in a text on average (1: the same for all words)."
    assert said == {
        "1-1": [(f"{begin}it writes little.{end}",)],
        "2-4": [(f"{begin}it spreads what they hold.{end}",)],
        "3-5": [],
    }


def test_kinds_are_those_of_all_heads_at_the_last_step(run: Run) -> None:
    kinds = kinds_of_sinks(run)
    assert len(kinds) == run.layers * run.heads
    assert {name: kind for name, kind in kinds.items() if kind} == KINDS
    assert kinds_of_sinks(replace(run, tables={})) == {}
    table = run.tables["sinks"]
    first = table.assign(step=pd.array([1] * len(table), "Int64"), kind=SINK_KINDS[1])
    last = table.assign(step=pd.array([2] * len(table), "Int64"))
    assert kinds_of_sinks(replace(run, tables={"sinks": pd.concat([last, first])})) == kinds


def test_the_first_screen_of_a_page_counts_the_sinks_of_each_kind(run: Run, run_folder: Path) -> None:
    """Head 6-6 gets a grade in [CLS] though it is no sink; of the sinks 1-1 and 1-2 are specialised."""
    asked = (run.scores["label"] == "[CLS]") & (run.scores["split"] == "report")
    graded = asked & run.scores["name"].isin(["6-6", "2-4", "1-2"])
    write_scores(run.scores.assign(grade=run.scores["grade"].where(~graded, 1)), run_folder)
    write_measures(run.tables, run_folder)
    (line,) = [line for line in gather(run_folder).opening.results if line.startswith("Other heads")]
    assert line.endswith(
        "1 with a grade on a special token but no sinks; 58 without any of these. Specialised heads that also have a "
        "grade in position: 1; that are also sinks: 2."
    )
