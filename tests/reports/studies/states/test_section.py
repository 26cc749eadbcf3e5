"""What a page reports of states, from tables whose numbers are invented."""

from pathlib import Path

import pandas as pd
import pytest

from reports import Run, write_measures, write_report
from reports.studies.states.section import states
from reports.studies.states.tables import GEOMETRY, KINDS

RUN = {"model": "m", "step": pd.NA, "corpus": "sea"}


@pytest.fixture
def measured(run_folder: Path) -> Run:
    rows = [(measure, layer, 0.1 * layer) for measure in GEOMETRY for layer in (0, 1, 2)]
    geometry = pd.DataFrame(rows, columns=["measure", "layer", "value"])
    outliers = pd.DataFrame({"dimension": [3, 8], "scale_layers": 2, "bias_layers": 0, "state_layers": 1, "size": 16})
    ablated = pd.DataFrame({"measure": "part of speech", "kind": KINDS, "value": [0.9, 0.25, 0.85, 0.6]})
    frames = {"states": geometry, "ablated_dimensions": ablated}
    bounded = {name: one.assign(low=one.value - 0.05, high=one.value + 0.05, n=7) for name, one in frames.items()}
    tables = bounded | {"outlier_dimensions": outliers}
    write_measures({name: one.assign(**RUN) for name, one in tables.items()}, run_folder)
    return Run.open(run_folder)


def test_the_page_says_how_many_dimensions_are_outliers_and_how_alike_random_words_are(measured: Run) -> None:
    found = states(measured)
    assert found is not None
    assert found.text.startswith("2 dimensions of the states are outliers.")
    assert "mean cosine of 0.200" in found.text


def test_cells_hold_cosines_by_layer_and_accuracies_by_what_is_zero(measured: Run) -> None:
    found = states(measured)
    assert found is not None
    by_depth, worth = found.tables
    assert by_depth.titles == ("measure", "input", "layer 1", "layer 2")
    assert next(iter(by_depth))[3] == "0.20 [0.15, 0.25]"
    assert [row[1:] for row in worth][1] == ("outliers", "25.0 %", "[20.0, 30.0]")


def test_the_page_has_the_section(measured: Run, run_folder: Path) -> None:
    write_report(run_folder)
    for name in ("report.md", "index.html"):
        assert "States of words" in (run_folder / "report" / name).read_text(encoding="utf-8")


def test_a_run_that_did_not_ask_has_no_section(run_folder: Path) -> None:
    assert states(Run.open(run_folder)) is None
