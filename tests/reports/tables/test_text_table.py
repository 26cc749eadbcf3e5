from operator import itemgetter

import pandas as pd
import pytest
from rich.console import Console

from reports.heads.card_parts import CardPart
from reports.tables.cells import TextColumn
from reports.tables.text_table import TextTable, latex, rich_rows
from reports.templates.environment import environment

HOSTILE = '<b>&"|</script>`_$%#{}~^\\'


def table(note: str = "In percent.") -> TextTable:
    rows = (("[CLS]", "3-5", "50.1", HOSTILE), ("nsubj:*", "1-12", "–", ""))
    frame = pd.DataFrame({"label": ["[CLS]", "nsubj:*"], "accuracy": [0.501, float("nan")]})
    return TextTable("Best & first", ("label", "head", "accuracy, %", "verdict"), rows, frame, note)


def test_text_shows_title_rows_and_note_below_each_other():
    lines = str(table()).splitlines()
    assert lines[0] == "Best & first"
    assert lines[1].split() == ["label", "head", "accuracy,", "%", "verdict"]
    assert lines[3] == "  nsubj:*  1-12  –"
    assert lines[-1] == "In percent."
    assert repr(table()) == str(table())
    assert str(table(note="")).splitlines()[-1].startswith("  nsubj")


def test_every_form_escapes_what_the_data_holds():
    assert "<b>" not in table()._repr_html_()
    assert "&lt;b&gt;&amp;" in table()._repr_html_()
    assert "<b>" not in table().markdown()
    assert "\\|" in table().markdown()


def test_latex_is_a_floating_table_with_the_rules_of_booktabs():
    lines = table().latex().splitlines()
    assert lines[0] == r"\begin{table}[tb]"
    assert lines[1] == r"\caption{Best \& first. In percent.}"
    assert [line for line in lines if line.endswith("rule")] == [r"\toprule", r"\midrule", r"\bottomrule"]
    assert r"\begin{tabular}{lrrl}" in lines
    assert r"label & head & accuracy, \% & verdict \\" in lines
    assert r"nsubj:{*} & 1-12 & -- &  \\" in lines
    assert lines[-1] == r"\end{table}"


def test_latex_escapes_every_sign_that_has_a_meaning_there():
    escaped = latex(HOSTILE)
    for made in (r"\textbackslash{}", r"\textless{}", r"\textgreater{}", r"\textbar{}", r"\textquotedbl{}"):
        assert made in escaped
    assert r"\_\$\%\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}" in escaped
    assert latex("a\nb") == "a b"


def test_no_row_of_latex_begins_with_what_would_belong_to_the_row_before():
    rows = [line for line in table().latex().splitlines() if line.endswith(r"\\")]
    assert not any(row.startswith(("[", "*")) for row in rows)


def test_a_slice_keeps_the_numbers_beside_the_rows_and_says_what_is_left():
    first = table()[:1]
    assert (len(first), len(first.frame)) == (1, 1)
    assert first.note == "1 of 2 rows. In percent."
    assert table()[:2].note == "In percent."


def test_a_terminal_shows_the_data_as_it_is(capsys: pytest.CaptureFixture[str]):
    Console(width=100).print(table())
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].strip() == "Best & first"
    assert any(HOSTILE in line for line in lines)
    assert lines[-1] == "In percent."


def test_columns_stand_below_each_other_where_the_terminal_is_narrow():
    rows = [("obj", "dependent->head", "74.0", "[71.4, 76.8]")]
    columns = ("label", "variant", "accuracy", "interval")
    assert len(rich_rows(columns, rows, 80).columns) == 4
    narrow = rich_rows(columns, rows, 30)
    assert len(narrow.columns) == 2
    assert [str(cell) for cell in narrow.columns[1].cells] == ["74.0\n[71.4, 76.8]"]


ROLES = CardPart(
    "Roles",
    (),
    ("label", "variant", "accuracy, %", "interval", "strongest baseline, %", "margin", "interval", "verdict"),
    (
        (
            *("coordination: verb later", "conjunct->conjunct before", "71.6", "[67.1, 76.2]"),
            *("39.9 (permuted weights)", "+31.7", "[+27.4, +35.7]", "specialised, beyond the table, chosen"),
        ),
        (
            *("agreement: attractors=0", "verb->subject", "100.0", "[100.0, 100.0]"),
            *("7.8 (offset)", "+92.2", "", "not specialised"),
        ),
    ),
)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_word_and_no_interval_of_a_card_is_divided_on_a_terminal(width: int, capsys: pytest.CaptureFixture[str]):
    Console(width=width).print(rich_rows(ROLES.columns, ROLES.rows, width))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    said = "\n".join(lines)
    for cell in (cell for row in ROLES.rows for cell in row):
        for part in [cell] if cell.startswith("[") else cell.split():
            assert part in said
    assert (len(lines) == 3) == (width == 200)


def test_only_the_first_column_gives_way_where_that_is_enough(capsys: pytest.CaptureFixture[str]):
    part = CardPart("Shape", (), ("measure", "value", "interval"), (("a measure of many words", "1.15", "[1.0, 1.2]"),))
    Console(width=34).print(rich_rows(part.columns, part.rows, 34))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["measure", "value", "interval"]
    assert lines[1][-3:] == ["1.15", "[1.0,", "1.2]"]
    assert lines[2] == ["many", "words"]


def wide(*titles: str) -> TextTable:
    """Return a table of one row: what it is about, then numbers, of which the second has an interval of its own."""
    columns = (TextColumn("Label", itemgetter(0), "row"), *(TextColumn(one, itemgetter(1)) for one in titles))
    return TextTable.of("Wide", columns, [("obj", "1")])


def test_a_table_opens_with_eight_columns_and_folds_the_others() -> None:
    narrow, table = wide(*"abcdefg"), wide(*"abcdefghi")
    assert not narrow.folds
    assert [*narrow.folded_markdown_lines()] == [*narrow.markdown_lines()]
    assert [column.title for column in table.page_columns if column.folded] == ["h", "i"]
    assert [*table.folded_markdown_lines()] == [
        *("| label | a | b | c | d | e | f | g |", "|---|" + "--:|" * 7, "| obj | 1 | 1 | 1 | 1 | 1 | 1 | 1 |"),
        *("", "Other columns of the same rows:", ""),
        *("| label | h | i |", "|---|--:|--:|", "| obj | 1 | 1 |"),
    ]
    page = environment().from_string('{% from "table.html.j2" import table %}{{ table(told) }}').render(told=table)
    assert page.count(' more"') == 4
    assert 'data-more> all 10 columns<span class="sr"> of Wide</span>' in page
    assert "data-more" not in environment().from_string(
        '{% from "table.html.j2" import table %}{{ table(told) }}'
    ).render(told=narrow)


def test_an_interval_goes_with_its_number_to_the_second_table() -> None:
    lines = [*wide("a", "b", "c", "d", "e", "f", "gain", "interval").folded_markdown_lines()]
    assert lines[0] == "| label | a | b | c | d | e | f |"
    assert lines[6] == "| label | gain | interval |"


def test_a_second_table_says_again_which_row_is_which() -> None:
    """Both rows are of one label; only the number behind it tells them apart."""
    columns = [TextColumn("Label", itemgetter(0), "row"), *(TextColumn(name, itemgetter(1)) for name in "abcdefghi")]
    for rows, head in (
        ([("obj", "1"), ("obj", "2")], "| label | a | h | i |"),
        ([("obj", "1")] * 2, "| label | h | i |"),
    ):
        lines = [*TextTable.of("Same", columns, rows).folded_markdown_lines()]
        assert lines[lines.index("Other columns of the same rows:") + 2] == head


def test_columns_that_are_marked_fold_first() -> None:
    columns = (TextColumn("Label", itemgetter(0), "row"), TextColumn("n", itemgetter(1), folded=True))
    table = TextTable.of("Marked", columns, [("obj", "1")])
    assert [column.head_class for column in table.page_columns] == ["text", "num more"]
    assert next(table.folded_markdown_lines()) == "| label |"
