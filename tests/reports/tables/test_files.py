"""Tables as files: what a spreadsheet would run is only text there, and comes back as it was."""

import csv
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.tables.files import read_csv, write_csv

FORMULAS = ('=HYPERLINK("http://x";"y")', "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=", "-", "'=1", "''@x", "-.")
PLAIN = ("det", "3-5", "", "NA", "'tis", "-1", "+2", "-0.5", "-1e-05", "a=b", "'", "''")


def test_no_cell_of_a_file_begins_as_a_formula_and_others_stand_as_they_are(tmp_path: Path) -> None:
    write_csv(pd.DataFrame({"label": [*FORMULAS, *PLAIN], "kind": pd.Categorical(["=1", *"a" * 22])}), tmp_path / "a")
    with (tmp_path / "a").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [row["label"] for row in rows] == [*(f"'{text}" for text in FORMULAS), *PLAIN]
    assert rows[0]["kind"] == "'=1"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables") / "a.csv"


@given(texts=st.lists(st.text(st.sampled_from("=+-@\t\r'1.a,\" "), max_size=5), min_size=1))
def test_every_text_is_restored(texts: list[str], path: Path) -> None:
    write_csv(pd.DataFrame({"label": texts, "n": range(len(texts))}), path)
    read = read_csv(path, {"label": "str", "n": "int64"})
    assert (list(read["label"]), list(read["n"])) == (texts, [*range(len(texts))])
