"""A table is declared once: a wrong frame is refused, a right one is written, read and shown."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from reports.formats import moment
from reports.tables.cells import TextColumn
from reports.tables.column import Column
from reports.tables.shared_columns import ONE_HEAD, difference, ends, flag, fraction, items, number, text, whole
from reports.tables.table import Table
from reports.tables.text_table import TextTable
from reports.templates.environment import environment

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
    head = {"layer": 2, "head": 4, "name": "3-5", "n": [3, 2], "lit": [0.25, np.nan]}
    return pd.DataFrame({"colour": ["red", "green"], **head, "ci_low": [0.125, np.nan], "ci_high": [0.5, np.nan]})


def test_a_right_frame_is_returned_in_order_and_not_changed() -> None:
    given = rows()[[*reversed(rows().columns)]].astype({"n": "int8"})
    found = TABLE.validated(given.assign(more=1), "lamps.csv")
    assert list(found) == [*rows().columns, "more"]
    assert (found["n"].dtype, given["n"].dtype) == (np.int64, np.int8)


FIRST = ", in 2 row(s); the first is red, 3-5"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"lit": 25.0}, f"`lit` lies outside [0, 1] (fractions, not percent){FIRST} (got 25.0)"),
        ({"ci_high": 0.1}, "`ci_low` lies above `ci_high`, in 1 row(s); the first is red, 3-5 (got 0.125 and 0.1)"),
        ({"colour": ["red", "blue"]}, "`colour` is not one of red, green, in 1 row(s); the first is blue, 3-5"),
        ({"colour": "red"}, "two rows have the same colour, name, in 1 row(s); the first is red, 3-5"),
        ({"n": 0}, f"`n` is below 1{FIRST} (got 0)"),
        ({"head": 5}, f"`name` is not layer + 1, '-', head + 1{FIRST} (got 2 and 5)"),
        ({"lit": "much"}, "column 'lit' is str, expected float64"),
        ({"colour": [None, "red"]}, "column 'colour' has 1 missing value(s); use '' for none"),
        ({"n": None}, "column(s) n missing; expected colour, layer, head, name, n, lit"),
    ],
)
def test_a_wrong_frame_is_refused_with_where_expected_and_got(change: dict[str, object], complaint: str) -> None:
    wrong = rows().drop(columns="n") if change == {"n": None} else rows().assign(**change)
    with pytest.raises(ValueError, match=r"^lamps\.csv: ") as raised:
        TABLE.validated(wrong, "lamps.csv")
    assert str(raised.value).startswith(f"lamps.csv: {complaint}")
    assert "\n" not in str(raised.value)


def test_rounding_and_missing_values_are_within_bounds() -> None:
    since = Column("since", "Int64", "When it was lit.", str, (0, 9))
    table = replace(TABLE, columns=(*TABLE.columns, since))
    frame = rows().assign(lit=[1 + 1e-9, np.nan], since=pd.array([None, 9], dtype="Int64"))
    assert table.validated(frame, "")["since"].isna().tolist() == [True, False]
    with pytest.raises(ValueError, match=r"`since` lies outside \[0, 9\], in 1 row"):
        table.validated(frame.assign(since=pd.array([None, 10], dtype="Int64")), "")


def test_every_kind_of_number_is_written_by_its_writer() -> None:
    kinds = (fraction("share", "A share."), difference("margin", "A margin."), number("cost", "A cost."))
    kinds += (whole("n", "A number."), flag("own", "Whether it is."), items("words", "Words."))
    since = Column("since", "Int64", "A step.", str, title="from step")
    onset = number("onset", "A step or never.", write=moment)
    table = Table("One row.", ("what",), (text("what", "What it is."), *kinds, since, onset))
    one = {"share": 0.0451, "margin": -0.021, "cost": 0.0451, "n": 1234, "own": True}
    frame = pd.DataFrame([one | {"words": [["a", "b"], "c"], "since": None, "onset": float("inf")}] * 2)
    frame = table.validated(frame.assign(what=["a|b", ""], share=[0.0451, np.nan], more=[0.5, np.nan]), "")
    shown = table.shown(frame, "All kinds", "A note.")
    heads = ("what", "share, %", "margin, points", "cost", "n", "own", "words", "from step", "onset", "more")
    assert shown.titles == heads
    assert shown.texts[0] == ("a|b", "4.5", "−2.1", "0.045", "1,234", "yes", "a+b c", "–", "never", "0.5")
    assert shown.texts[1][0] == shown.texts[1][1] == shown.texts[1][-1] == "–"
    assert '<th title="A share.">share, %</th>' in shown._repr_html_()


def page_of(columns: tuple[TextColumn, ...], rows: object, *, sorts: bool = False) -> str:
    made = environment(html=True).from_string('{% from "table.html.j2" import table %}{{ table(shown, sorts=sorts) }}')
    return made.render(shown=TextTable.of("Lamps", columns, rows), sorts=sorts)


@pytest.mark.parametrize("sorts", [True, False])
def test_a_further_column_is_on_a_page_with_heading_writer_and_tooltip_once_it_is_named(sorts: bool) -> None:
    more = replace(TABLE, columns=(*TABLE.columns, fraction("dimmed", 'Share of "dimmed" lamps.')))
    frame = more.validated(rows().assign(dimmed=[0.125, np.nan]), "")
    page = page_of(more.text_columns("colour", "dimmed"), frame.to_dict("records"), sorts=sorts)
    assert 'title="Share of &#34;dimmed&#34; lamps.">Dimmed, %</' in page
    assert '<td class="num" data-v="0.1250">12.5</td>' in page
    assert '<td class="num" data-v="">–</td>' in page


def test_an_interval_stands_beside_its_number_on_a_page_and_on_its_own_elsewhere() -> None:
    table = TextTable.of("Lamps", TABLE["lit"].shown_with_interval(css=lambda row: "up"), rows().to_dict("records"))
    assert (table.titles, table.texts) == (("lit", "interval"), (("25.0", "[12.5, 50.0]"), ("–", "")))
    ((_, cell),) = table.page_rows[0]
    assert (cell.text, cell.aside, cell.css, cell.key) == ("25.0", "[12.5, 50.0]", "up", "0.2500")
    assert str(TABLE["lit"].shown_interval().write(rows().to_dict("records")[1])) == "–"
