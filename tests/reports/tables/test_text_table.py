"""A table in every form that people read: escaped, folded after eight columns, and undivided on a terminal."""

from dataclasses import replace
from operator import itemgetter

import pandas as pd
import pytest
from rich.console import Console

from reports.tables.cells import TextColumn
from reports.tables.text_table import TextTable, latex, rich_rows

HOSTILE = '<b>&"|</script>`_$%#{}~^\\'

ROWS = (("[CLS]", "3-5", "50.1", HOSTILE), ("nsubj:*", "1-12", "–", ""))
FRAME = pd.DataFrame({"label": ["[CLS]", "nsubj:*"], "accuracy": [0.501, float("nan")]})
TABLE = TextTable("Best & first", ("label", "head", "accuracy, %", "verdict"), ROWS, FRAME, "In percent.")


def test_every_form_escapes_what_the_data_holds():
    assert "&lt;b&gt;&amp;" in TABLE._repr_html_()
    assert "<b>" not in TABLE._repr_html_() + TABLE.markdown()
    assert "\\|" in TABLE.markdown()
    assert HOSTILE in str(TABLE)
    assert (len(TABLE[:1]), len(TABLE[:1].frame), TABLE[:1].note) == (1, 1, "1 of 2 rows. In percent.")


def test_latex_is_a_floating_table_with_the_rules_of_booktabs():
    lines = TABLE.latex().splitlines()
    assert lines[:2] == [r"\begin{table}[tb]", r"\caption{Best \& first. In percent.}"]
    assert lines[2] == r"\label{tab:best-first}"
    assert [line for line in lines if line.endswith("rule")] == [r"\toprule", r"\midrule", r"\bottomrule"]
    assert r"\begin{tabular}{lrrl}" in lines
    assert r"label & head & accuracy, \% & verdict \\" in lines
    assert r"nsubj:{*} & 1-12 & -- &  \\" in lines
    assert not any(line.startswith(("[", "*")) for line in lines), "that belongs to the row before"
    assert r"\_\$\%\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}" in latex(HOSTILE)


def test_latex_of_more_rows_than_a_page_holds_is_a_longtable():
    table = replace(TABLE, rows=ROWS * 21)
    assert table.latex().startswith(r"\begin{longtable}{lrrl}")
    assert table[:40].latex().startswith(r"\begin{table}")


COLUMNS = ("label", "variant", "accuracy, %", "interval", "strongest baseline, %", "margin", "interval", "verdict")
ROLES = (
    (
        *("coordination: verb later", "conjunct->conjunct before", "71.6", "[67.1, 76.2]"),
        *("39.9 (permuted weights)", "+31.7", "[+27.4, +35.7]", "specialised, beyond the table, chosen"),
    ),
    (
        *("agreement: attractors=0", "verb->subject", "100.0", "[100.0, 100.0]"),
        *("7.8 (offset)", "+92.2", "", "not specialised"),
    ),
)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_word_and_no_interval_is_divided_on_a_terminal(width: int, capsys: pytest.CaptureFixture[str]):
    Console(width=width).print(rich_rows(COLUMNS, ROLES, width))
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= width
    for cell in (cell for row in ROLES for cell in row):
        for part in [cell] if cell.startswith("[") else cell.split():
            assert part in said
    assert (len(said.splitlines()) == 3) == (width == 200)


def test_where_no_room_is_left_the_widest_others_give_way_to_the_first_column() -> None:
    name = "a-run-of-a-rather-long-name"
    rows = [("dependency: nsubj", "4-12", "38.0", "4-9", "45.0")]
    table = rich_rows(("role", f"head in {name}", "accuracy, %", f"head in other-{name}", "accuracy, %"), rows, 60)
    widths = [column.width for column in table.columns]
    assert widths[0] is None
    assert 60 - sum(widths[1:]) - 2 * 4 >= len("dependency:")
    assert widths[2] == widths[4] == len("accuracy,")


def test_a_table_without_its_folded_columns_keeps_an_open_one_of_the_same_title() -> None:
    titles = ("n", "interval", *"abcde", "gain", "interval")
    columns = (TextColumn("Label", itemgetter(0), "row"), *(TextColumn(one, itemgetter(1)) for one in titles))
    table = TextTable.of("Wide", columns, [("obj", "1")]).opened
    assert [column.title for column in table.page_columns] == ["Label", "n", "interval", *"abcde"]
    assert table.texts == (("obj", *"1111111"),)
