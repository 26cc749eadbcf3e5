"""Tables of what is measured beside scores: refused where they cannot be right, and read back as they were written."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from reports.measures.registry import measure_tables, write_measures
from reports.tables.shared_columns import ONE_HEAD, SPLIT, number
from reports.tables.table import Refuse, Table, read_tables
from reports.templates.environment import FILES

BITS = number("bits", "How many bits it takes.", (0, 2))
TABLE = Table("One row for each head.", ("name",), (SPLIT, *ONE_HEAD, BITS))


def rows() -> pd.DataFrame:
    return pd.DataFrame(
        {"bits": [0.5, 1.0], "split": "report", "layer": [0, 2], "head": [0, 4], "name": ["1-1", "3-5"], "more": [1, 2]}
    )


def test_columns_are_put_in_order_and_further_ones_follow() -> None:
    assert list(TABLE.validated(rows(), "bits.parquet").columns) == [*TABLE.names, "more"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"split": "test"}, "`split` is not one of select, report, in 2 row(s); the first is 1-1"),
        ({"name": "1-1", "layer": 0, "head": 0}, "two rows have the same name, in 1 row(s); the first is 1-1"),
        ({"head": 1}, "`name` is not layer + 1, '-', head + 1"),
        ({"bits": "many"}, "column 'bits' is str, expected float64"),
    ],
)
def test_a_wrong_table_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=r"bits\.parquet: ") as error:
        TABLE.validated(rows().assign(**change), "bits.parquet")
    assert said in str(error.value)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(ValueError, match=r"column\(s\) bits missing"):
        TABLE.validated(rows().drop(columns="bits"), "bits.parquet")


def test_a_table_s_own_check_names_the_row_by_its_key() -> None:
    def check(frame: pd.DataFrame, refuse: Refuse) -> None:
        refuse(frame["bits"] > 0.7, "too many bits")

    with pytest.raises(ValueError, match=r"too many bits, in 1 row\(s\); the first is 3-5"):
        replace(TABLE, check=check).validated(rows(), "bits.parquet")


def test_tables_come_back_and_those_that_are_not_there_are_not_made_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = {"bits": TABLE, "other": TABLE}
    monkeypatch.setattr("reports.measures.registry.measure_tables", lambda: tables)
    write_measures({"bits": rows()}, tmp_path)
    read = read_tables(tmp_path, tables)
    assert list(read) == ["bits"]
    pd.testing.assert_frame_equal(read["bits"], TABLE.validated(rows(), ""))
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "bits.csv"), read["bits"], check_dtype=False)


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    name = next(iter(measure_tables()))
    (tmp_path / f"{name}.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(ValueError, match=f"{name}.parquet: not a readable parquet file"):
        read_tables(tmp_path, measure_tables())


def test_no_two_templates_have_one_name() -> None:
    every = [path for path in FILES["frame.html.j2"].parents[1].rglob("*.*") if path.suffix in (".j2", ".css", ".js")]
    assert len(every) == len(FILES)
