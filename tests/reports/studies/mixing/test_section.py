"""What a page reports of mixing, from tables whose numbers are invented."""

from pathlib import Path

import pandas as pd
import pytest

from reports import Run, write_measures, write_report
from reports.studies.mixing.section import mixing
from reports.studies.mixing.tables import IDENTIFIED, RATIOS, STATES

RATIO, RESIDUAL = {1: 0.2, 2: 0.3}, {0: 1.0, 1: 0.9, 2: 0.5}


@pytest.fixture
def measured(run_folder: Path) -> Run:
    rows = [(name, depth, value) for name in RATIOS for depth, value in RATIO.items()]
    rows += [(name, depth, value) for name in (*STATES, IDENTIFIED) for depth, value in RESIDUAL.items()]
    by_depth = pd.DataFrame(rows, columns=["measure", "depth", "value"])
    by_depth = by_depth.assign(low=by_depth.value - 0.1, high=by_depth.value + 0.1, n=9)
    by_head = pd.DataFrame({"layer": 0, "head": [0, 1, 0, 1], "name": ["1-1", "1-2"] * 2, "sizes": [1, 1, 2, 2]})
    by_head = by_head.assign(n=[5, 5, 4, 4], pearson=[1.0, 1.0, 0.4, 0.6], removed=0.25)
    for name in ("cls", "sep", "words"):
        by_head = by_head.assign(**{name: 0.3, f"{name}_effective": -0.02})
    run = {"model": "m", "step": pd.NA, "corpus": "sea"}
    write_measures({"mixing": by_depth.assign(**run), "effective_attention": by_head.assign(**run)}, run_folder)
    return Run.open(run_folder)


def test_the_page_says_the_mean_over_layers_and_the_last_states(measured: Run) -> None:
    found = mixing(measured)
    assert found is not None
    assert found.text.startswith("On 9 texts attention blocks mix 25.0 % from other pieces")
    assert "relative residual of the last states is 0.50" in found.text


def test_cells_hold_a_measure_by_depth_and_heads_are_averaged_by_length(measured: Run) -> None:
    found = mixing(measured)
    assert found is not None
    by_depth, by_length = found.tables
    assert by_depth.titles == ("measure", "input", "layer 1", "layer 2")
    rows = {row[0]: row[1:] for row in by_depth}
    assert rows[RATIOS[-1]] == ("", "0.20 [0.10, 0.30]", "0.30 [0.20, 0.40]")
    assert rows[STATES[0]][0] == "1.00 [0.90, 1.10]"
    assert [tuple(row)[:4] for row in by_length] == [("1", "5", "1.00", "0.25"), ("2", "4", "0.50", "0.25")]


def test_the_page_has_the_section(measured: Run, run_folder: Path) -> None:
    write_report(run_folder)
    for name in ("report.md", "index.html"):
        assert "Mixing by attention" in (run_folder / "report" / name).read_text(encoding="utf-8")


def test_a_run_that_did_not_ask_has_no_section(run_folder: Path) -> None:
    assert mixing(Run.open(run_folder)) is None
