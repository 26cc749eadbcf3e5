"""What the first page of a run shows, and what it does not claim."""

import re
from pathlib import Path

import pandas as pd
import pytest

from reports.formats import percent, signed
from reports.page.first_page import write_first_page


@pytest.fixture
def untested(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores of two probes as they are before any control, without what a run adds at its end."""
    tests = {name: float("nan") for name in ("p", "p_label", "p_adjusted", "p_words", "p_rules", "excluded")}
    rows = scores[scores.probe.isin(["dependency", "position"])].drop(columns=["maps", "layer_attention"])
    return rows.assign(**tests, verdict="", grade=0, specialised=False)


def page_of(scores: pd.DataFrame, folder: Path) -> str:
    return write_first_page(folder / "a-first.html", "a", [scores], ["random weights"], ()).read_text("utf-8")


def test_it_has_the_selected_head_of_every_label_and_no_grade(untested: pd.DataFrame, tmp_path: Path) -> None:
    page = page_of(untested, tmp_path)
    chosen = untested[(untested.split == "report") & untested.selected]
    row = chosen[(chosen.label == "obj") & (chosen.variant == "dependent->head")].iloc[0]
    (line,) = (line for line in page.split("<tr>") if ">obj<" in line and ">dependent-&gt;head<" in line)
    for number in (row["name"], percent(row.accuracy), percent(row.baseline_accuracy), signed(row.margin)):
        assert number in line
    assert page.count("<tr>") == len(chosen) + 2, "and the heads of two tables"
    assert not re.search("Grade|Adj\\. p", page)
    assert "Still missing: random weights, " in page
    assert "No verdict yet" in page


def test_names_are_texts_on_it(untested: pd.DataFrame, tmp_path: Path, hostile: str) -> None:
    page = page_of(untested.assign(model=hostile, corpus=hostile), tmp_path)
    assert hostile not in page
