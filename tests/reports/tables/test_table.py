"""A table is declared once: a wrong frame is refused, and a declared column is wherever the table is."""

import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from reports import Run, write_report
from reports.compare.tables import COMPARE_TABLES
from reports.findings.tables import FINDING_TABLES
from reports.formats import moment
from reports.page import columns
from reports.page.columns import RUN_TABLES, columns_of, meaning
from reports.page.dataset_card import dataset_card
from reports.scores.glossary import MAPS as MAPS_IN_WORDS
from reports.tables.column import Column
from reports.tables.scores import MAPS, SCORES
from reports.tables.shared_columns import ONE_HEAD, difference, ends, flag, fraction, items, number, text, whole
from reports.tables.table import Table
from reports.templates.environment import TEMPLATES

EVERY: Mapping[str, Table] = {**RUN_TABLES, **COMPARE_TABLES, **FINDING_TABLES}

TABLE = Table(
    "One row for each colour and head.",
    ("colour", "name"),
    (
        text("colour", "Colour of the light.", ("red", "green")),
        *ONE_HEAD,
        whole("n", "Number of lamps.", 1),
        fraction("lit", "Share of lamps that are lit.", "ci"),
        *ends("ci", "the share"),
    ),
)


def rows() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "colour": ["red", "green"],
            "layer": 2,
            "head": 4,
            "name": "3-5",
            "n": [3, 2],
            "lit": [0.25, np.nan],
            "ci_low": [0.125, np.nan],
            "ci_high": [0.5, np.nan],
        }
    )


def test_a_right_frame_is_returned_in_order_and_not_changed() -> None:
    given = rows()[["lit", "colour", *(name for name in rows() if name not in ("lit", "colour"))]].astype({"n": "int8"})
    found = TABLE.validated(given.assign(more=1), "lamps.csv")
    assert list(found) == ["colour", "layer", "head", "name", "n", "lit", "ci_low", "ci_high", "more"]
    assert (found["n"].dtype, given["n"].dtype) == (np.int64, np.int8)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            {"lit": 25.0},
            "`lit` lies outside [0, 1] (fractions, not percent), in 2 row(s); the first is red, 3-5 (got 25.0)",
        ),
        ({"ci_high": 0.1}, "`ci_low` lies above `ci_high`, in 1 row(s); the first is red, 3-5 (got 0.125 and 0.1)"),
        (
            {"colour": ["red", "blue"]},
            "`colour` is not one of red, green, in 1 row(s); the first is blue, 3-5 (got blue)",
        ),
        ({"colour": "red"}, "two rows have the same colour, name, in 1 row(s); the first is red, 3-5"),
        ({"n": 0}, "`n` is below 1, in 2 row(s); the first is red, 3-5 (got 0)"),
        (
            {"layer": [2, -1], "name": ["3-5", "0-5"]},
            "`layer` is negative, in 1 row(s); the first is green, 0-5 (got -1)",
        ),
        ({"head": 5}, "`name` is not layer + 1, '-', head + 1, in 2 row(s); the first is red, 3-5 (got 2 and 5)"),
        ({"lit": "much"}, "column 'lit' is str, expected float64"),
        ({"colour": [None, "red"]}, "column 'colour' has 1 missing value(s); use '' for none"),
    ],
)
def test_a_wrong_frame_is_refused_with_where_expected_and_got(change: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=r"^lamps\.csv: ") as raised:
        TABLE.validated(rows().assign(**change), "lamps.csv")
    assert str(raised.value).startswith(f"lamps.csv: {complaint}")
    assert "\n" not in str(raised.value)


def test_a_missing_column_is_named_with_those_that_are_expected() -> None:
    with pytest.raises(ValueError, match=r"column\(s\) n missing; expected colour, layer, head, name, n, lit"):
        TABLE.validated(rows().drop(columns="n"), "lamps.csv")


def test_rounding_and_missing_values_are_within_bounds() -> None:
    since = Column("since", "Int64", "When it was lit.", str, (0, 9))
    table = replace(TABLE, columns=(*TABLE.columns, since))
    frame = rows().assign(lit=[1 + 1e-9, np.nan], since=pd.array([None, 9], dtype="Int64"))
    assert table.validated(frame, "")["since"].isna().tolist() == [True, False]
    with pytest.raises(ValueError, match=r"`since` lies outside \[0, 9\], in 1 row"):
        table.validated(frame.assign(since=pd.array([None, 10], dtype="Int64")), "")


def test_parquet_and_csv_hold_the_same_and_csv_can_be_left_out(tmp_path: Path) -> None:
    frame = rows().assign(colour=["red", "green"])
    assert TABLE.write(frame, tmp_path, "lamps") == tmp_path / "lamps.parquet"
    for ending in ("parquet", "csv"):
        pd.testing.assert_frame_equal(TABLE.read(tmp_path / f"lamps.{ending}"), TABLE.validated(frame, ""))
    replace(TABLE, csv=False).write(frame, tmp_path, "dark")
    assert not (tmp_path / "dark.csv").exists()


def test_every_kind_of_number_is_written_by_its_writer() -> None:
    table = Table(
        "One row.",
        ("what",),
        (
            text("what", "What it is."),
            fraction("share", "A share."),
            difference("margin", "A margin."),
            number("cost", "A cost."),
            whole("n", "A number."),
            flag("own", "Whether it is."),
            items("words", "Words."),
            Column("since", "Int64", "A step.", str, title="from step"),
            number("onset", "A step or never.", write=moment),
        ),
    )
    one = {"what": "a|b", "share": 0.0451, "margin": -0.021, "cost": 0.0451, "n": 1234, "own": True}
    frame = pd.DataFrame([one | {"words": [["a", "b"], "c"], "since": None, "onset": float("inf")}] * 2)
    frame = table.validated(frame.assign(what=["a|b", ""], share=[0.0451, np.nan], more=[0.5, np.nan]), "")
    shown = table.shown(frame, "All kinds", "A note.")
    heads = ("what", "share, %", "margin, points", "cost", "n", "own", "words", "from step", "onset", "more")
    assert shown.columns == heads
    assert shown.rows[0] == ("a|b", "4.5", "−2.1", "0.045", "1,234", "yes", "a+b c", "–", "never", "0.5")
    assert shown.rows[1][1] == shown.rows[1][-1] == "–"
    assert '<th title="A share.">share, %</th>' in shown._repr_html_()
    assert "<th>more</th>" in shown._repr_html_()
    assert len(table.shown(frame.head(0), "None")) == 0


@pytest.mark.parametrize("name", EVERY)
def test_every_column_has_a_meaning_in_a_sentence(name: str) -> None:
    table = EVERY[name]
    assert table.about.endswith(".")
    for column in table.columns:
        assert column.meaning.endswith("."), column.name
        assert len(column.meaning.split()) > 2, column.name
        assert column.meaning.strip(".").lower() not in (column.name, column.heading)
    assert len({column.meaning for column in table.columns}) == len(table.columns)


@pytest.mark.parametrize("name", EVERY)
def test_keys_and_intervals_are_of_declared_columns(name: str) -> None:
    table = EVERY[name]
    named = [*table.key, *(end for column in table.columns for end in column.interval or ())]
    assert table.key
    assert {*named} <= {*table.names}
    assert len({*table.names}) == len(table.columns)


def test_what_can_be_read_of_heads_is_what_the_glossary_explains() -> None:
    assert tuple(MAPS_IN_WORDS) == MAPS


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch) -> Table:
    """Declare one more column of scores.parquet."""
    brightness = fraction("brightness", "Share of the light that is left.")
    table = replace(SCORES, columns=(*SCORES.columns, brightness))
    monkeypatch.setattr(columns, "RUN_TABLES", MappingProxyType({**RUN_TABLES, "scores": table}))
    return table


def test_a_declared_column_is_checked_written_and_shown_everywhere(
    more: Table, scores: pd.DataFrame, written_run: Path, tmp_path: Path
) -> None:
    frame = scores.head(3).assign(brightness=[0.0451, 0.25, np.nan])
    with pytest.raises(ValueError, match=r"column\(s\) brightness missing"):
        more.validated(scores, "scores.parquet")
    with pytest.raises(ValueError, match=r"`brightness` lies outside \[0, 1\]"):
        more.validated(frame.assign(brightness=45.1), "scores.parquet")
    more.write(frame, tmp_path, "scores")
    assert (tmp_path / "scores.csv").read_text(encoding="utf-8").splitlines()[0].endswith(",beyond_lexical,brightness")
    assert list(pd.read_parquet(tmp_path / "scores.parquet"))[-1] == "brightness"
    shown = more.shown(frame, "Scores")
    terminal = io.StringIO()
    Console(width=1200, file=terminal).print(shown)
    for found in (shown._repr_html_(), shown.markdown(), shown.latex(), str(shown), terminal.getvalue()):
        assert "brightness, " in found
        assert "4.5" in found
    assert '<th title="Share of the light that is left.">brightness, %</th>' in shown._repr_html_()
    assert meaning("scores", "brightness") == "Share of the light that is left."
    card = dataset_card(Run.open(written_run), "scores", [*frame.columns, "own"], {"all": 3})
    assert "- `brightness`: Share of the light that is left.\n- `own`\n" in card


def test_the_page_has_the_meanings_of_the_columns_of_its_tables(more: Table, run_folder: Path) -> None:
    report = write_report(run_folder).parent
    html, markdown = ((report / name).read_text(encoding="utf-8") for name in ("index.html", "report.md"))
    folded = html.partition('<details id="columns">')[2].partition("</details>")[0]
    held = columns_of(Run.open(run_folder))
    assert f"Columns of the {len(held)} tables of this run" in folded
    assert all(f"<h4>{name}</h4>" in folded for name in held)
    assert "<li><code>brightness</code>: Share of the light that is left.</li>" in folded
    assert "- `brightness`: Share of the light that is left." in markdown
    assert all("brightness" not in path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.j2"))
