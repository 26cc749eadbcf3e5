"""Tables as files: what a spreadsheet would run is only text there, and comes back as it was."""

import csv
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.tables.files import read_csv, write_csv

SIGNS = "=+-@\t\r"
FORMULAS = ('=HYPERLINK("http://x";"y")', "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=", "-", "'=1", "''@x", "-.")
PLAIN = ("det", "3-5", "", "NA", "'tis", "-1", "+2", "-0.5", "-1e-05", "a=b", "'", "''")


def written(texts: list[str], path: Path) -> list[str]:
    """Return the cells of a column of texts as they stand in the file."""
    write_csv(pd.DataFrame({"label": texts, "n": range(len(texts))}), path)
    with path.open(encoding="utf-8", newline="") as file:
        return [row["label"] for row in csv.DictReader(file)]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_file_begins_as_a_formula(text: str, tmp_path: Path) -> None:
    assert written([text, "det"], tmp_path / "a.csv") == ["'" + text, "det"]


@pytest.mark.parametrize("text", PLAIN)
def test_other_cells_stand_as_they_are(text: str, tmp_path: Path) -> None:
    assert written([text, "det"], tmp_path / "a.csv") == [text, "det"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables") / "a.csv"


@given(texts=st.lists(st.text(st.sampled_from([*SIGNS, "'", "1", ".", "a", ",", '"', " "]), max_size=5), min_size=1))
def test_every_text_is_restored(texts: list[str], path: Path) -> None:
    write_csv(pd.DataFrame({"label": texts, "n": range(len(texts))}), path)
    read = read_csv(path, {"label": "str", "n": "int64"})
    assert list(read["label"]) == texts
    assert list(read["n"]) == [*range(len(texts))]


def test_a_column_of_categories_and_gaps_is_written_too(tmp_path: Path) -> None:
    frame = pd.DataFrame({"label": pd.Categorical(["=1", "a"]), "more": ["@x", None]})
    write_csv(frame, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "label,more\n'=1,'@x\na,\n"
