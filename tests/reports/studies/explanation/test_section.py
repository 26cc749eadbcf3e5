"""What a page reports of attention as explanation, from a table whose numbers are invented."""

from pathlib import Path

import pandas as pd
import pytest

from reports import Run, write_measures, write_report
from reports.studies.explanation.section import explanation
from reports.studies.explanation.tables import MEASURES, PAIRS


@pytest.fixture
def measured(run_folder: Path) -> Run:
    rows = [(seed, measure, 0.5 + 0.1 * seed) for seed in (0, 1, 2) for measure in MEASURES]
    frame = pd.DataFrame(rows, columns=["seed", "measure", "value"])
    pairs = [(seed, pair, 0.1 + 0.1 * seed, 0.25) for seed in (0, 1, 2) for pair in PAIRS]
    ranks = pd.DataFrame(pairs, columns=["seed", "pair", "tau", "significant"])
    ranks = ranks.assign(low=ranks.tau - 0.1, high=ranks.tau + 0.1)
    tables = {"explanation": frame, "explanation_ranks": ranks}
    about = {"model": "m", "step": pd.NA, "corpus": "grammar", "n": 40}
    write_measures({name: table.assign(**about) for name, table in tables.items()}, run_folder)
    return Run.open(run_folder)


def test_the_page_says_how_often_classifiers_are_right_and_decisions_flip(measured: Run) -> None:
    found = explanation(measured)
    assert found is not None
    assert found.text.startswith("3 classifiers")
    assert "60.0 % correct on 40 held-out sentences" in found.text
    measures, ranks = found.tables
    assert len(measures) == len(MEASURES)
    assert next(iter(measures)) == ("Accuracy on held-out sentences", "0.60", "0.50", "0.70")
    assert tuple(next(iter(ranks))) == ("Attention and gradient", "0.20", "0.10", "0.30", "25.0 %")
    assert len(ranks) == len(PAIRS)


def test_a_run_of_before_rank_correlations_has_the_measures_alone(measured: Run) -> None:
    del measured.studies["explanation_ranks"]
    found = explanation(measured)
    assert found is not None
    assert len(found.tables) == 1


def test_the_page_has_the_section(measured: Run, run_folder: Path) -> None:
    write_report(run_folder)
    for name in ("report.md", "index.html"):
        assert "Attention as explanation" in (run_folder / "report" / name).read_text(encoding="utf-8")


def test_a_run_that_did_not_ask_has_no_section(run_folder: Path) -> None:
    assert explanation(Run.open(run_folder)) is None
