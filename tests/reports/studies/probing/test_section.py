"""What a page reports of probing, from tables whose numbers are invented."""

from pathlib import Path

import pandas as pd
import pytest

from reports import Run, write_measures, write_report
from reports.studies.probing.section import probing

RUN = {"model": "m", "step": pd.NA, "corpus": "sea"}


@pytest.fixture
def measured(run_folder: Path) -> Run:
    trees = pd.DataFrame(
        [("tree distances", "undirected attachment", layer, value) for layer, value in enumerate((0.4, 0.7, 0.5))]
        + [("length", "accuracy", layer, 0.3) for layer in range(3)],
        columns=["task", "measure", "layer", "value"],
    )
    trees = trees.assign(low=trees.value - 0.1, high=trees.value + 0.1, n=9, held_out=0.2, baseline=0.45)
    pairs = pd.DataFrame({"task": ["relation or not", "which relation"], "labels": [2, 30], "value": [0.8, 0.4]})
    pairs = pairs.assign(low=0.3, high=0.9, n=50, distance=0.6, majority=0.5)
    shares = dict.fromkeys(("accuracy", "accuracy_low", "accuracy_high", "majority", "left", "random", "intact"), 0.5)
    amnesic = pd.DataFrame({"property": ["part of speech"], "directions": [12], **shares, "amnesic": 0.3, "n": 9})
    amnesic = amnesic.assign(effect=0.2, effect_low=0.1, effect_high=0.3, lost=0.2, lost_low=0.1, lost_high=0.3)
    tables = {"layer_probes": trees, "pair_probes": pairs, "amnesic": amnesic}
    write_measures({name: one.assign(**RUN) for name, one in tables.items()}, run_folder)
    return Run.open(run_folder)


def test_the_page_says_in_which_layer_trees_are_found_best(measured: Run) -> None:
    found = probing(measured)
    assert found is not None
    assert (
        found.text == "Structural probes recover trees best from layer 1: 70.0 % of arcs, where words in a row have "
        "45.0 %."
    )


def test_cells_hold_tasks_by_layer_pairs_and_what_is_lost(measured: Run) -> None:
    found = probing(measured)
    assert found is not None
    by_depth, pairs, amnesic = found.tables
    assert {row[0]: row[2] for row in by_depth}["length: accuracy"] == "0.30 [0.20, 0.40]"
    assert [row[:4] for row in pairs][1] == ("which relation", "30", "40.0 %", "[30.0, 90.0]")
    assert next(iter(amnesic))[4:] == ("50.0 %", "30.0 %", "+20.0", "[+10.0, +30.0]")


def test_the_page_has_the_section(measured: Run, run_folder: Path) -> None:
    write_report(run_folder)
    for name in ("report.md", "index.html"):
        assert "Probes of layers" in (run_folder / "report" / name).read_text(encoding="utf-8")


def test_a_run_that_did_not_ask_has_no_section(run_folder: Path) -> None:
    assert probing(Run.open(run_folder)) is None
