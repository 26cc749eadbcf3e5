"""A table of numbers as text, as a page of a notebook has it, in Markdown, and in LaTeX as papers print it."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Self

import pandas as pd

from reports.formats import escaped
from reports.tables.cells import Cell, TextColumn, Where, cell_of, written

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Table
    from rich.text import Text

Cells = Sequence[str]

OPEN: Final = 8
"Columns with which a table opens on a page; the others are folded."

UNDER: Final = ("variant", "interval", "baseline", "n")
"Columns that stand below the one before them where a table is wider than the terminal."

LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "[": "{[}",
        "*": "{*}",
        "−": "$-$",
        "–": "--",
        "×": r"$\times$",
        "→": r"$\rightarrow$",
        "†": r"\dag{}",
        "…": r"\ldots{}",
        "\u00a0": "~",
        "\n": " ",
    }
)
"""What a sign is in LaTeX; all others are left to the engine, which reads UTF-8.

Bare, a [ or * at the beginning of a row would belong to the end of the row before."""

NARROWEST: Final = 79
"Columns that a note may have under any table."


FLOATING: Final = 40
"Rows of a table that fits on a page of a paper, at the most."


@dataclass(frozen=True)
class TextTable:
    """A table: its numbers in `frame`, and the same as people read them.

    Pages show it by the macro of table.html.j2, `print` and notebooks by themselves; `latex()` and `markdown()` are for
    papers, `frame` is for going on.
    """

    title: str
    columns: tuple[str | TextColumn, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    "A cell a column, as it is shown."
    frame: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False, compare=False)
    "One line a row, with the numbers as they were measured; empty for a table that is only part of a page."
    note: str = ""
    "What the numbers are, in a sentence or two."

    @classmethod
    def of(cls, title: str, columns: Sequence[TextColumn], rows: Iterable[Any], note: str = "") -> Self:
        """Return the table of what `columns` write of each of `rows`."""
        return cls(title, tuple(columns), written(columns, rows), note=note)

    def _places(self, where: Where) -> list[int]:
        """Return the places of the columns that are shown there."""
        only = [column.only if isinstance(column, TextColumn) else "" for column in self.columns]
        return [place for place, one in enumerate(only) if one in ("", where)]

    @property
    def page_columns(self) -> list[TextColumn]:
        """The columns that a page shows; all but the first of those that are open are folded."""
        shown = [self._column(place) for place in self._places("page")]
        open_ones = [place for place, one in enumerate(shown) if not one.folded][:OPEN]
        return [replace(one, folded=place not in open_ones) for place, one in enumerate(shown)]

    @property
    def opened(self) -> TextTable:
        """The table without the columns that a page folds."""
        folded = [place for place, one in zip(self._places("page"), self.page_columns, strict=True) if one.folded]
        kept = [place for place in range(len(self.columns)) if place not in folded]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[place] for place in kept), rows=rows)

    @property
    def folds(self) -> bool:
        """Whether a page folds some of its columns."""
        return any(column.folded for column in self.page_columns)

    def _column(self, place: int) -> TextColumn:
        column = self.columns[place]
        return column if isinstance(column, TextColumn) else TextColumn(column, kind="text", plain=column)

    @property
    def page_rows(self) -> list[list[tuple[TextColumn, Cell]]]:
        """The cells that a page shows, each with its column."""
        columns, places = self.page_columns, self._places("page")
        return [list(zip(columns, (cell_of(row[place]) for place in places), strict=True)) for row in self.rows]

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of its columns in every form but a page."""
        return tuple(self._column(place).plain_title for place in self._places("text"))

    @property
    def tips(self) -> tuple[str, ...]:
        """The tooltips of the same columns."""
        return tuple(self._column(place).tip for place in self._places("text"))

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """The cells in every form but a page, as plain text."""
        places = self._places("text")
        return tuple(tuple(str(row[place]) for place in places) for row in self.rows)

    def __str__(self) -> str:
        """The table as plain text, its note no wider."""
        lines = [self.title, *plain_rows(self.titles, self.texts)]
        return "\n".join([*lines, *textwrap.wrap(self.note, max(*map(len, lines), NARROWEST))])

    def __repr__(self) -> str:
        """As `str`, so that a terminal shows the table and not what it is made of."""
        return str(self)

    def __getitem__(self, some: slice) -> TextTable:
        """Return the table with some of its rows: `table[:10]` are the first ten."""
        left = len(self.rows[some])
        note = f"{left} of {len(self)} rows. {self.note}" if left < len(self) else self.note
        return replace(self, rows=self.rows[some], frame=self.frame.iloc[some], note=note)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """Go through the rows, as plain text."""
        return iter(self.texts)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table | Text]:
        from rich.text import Text

        yield Text(self.title, style="bold")
        yield rich_rows(self.titles, self.texts, options.max_width)
        yield Text(self.note)

    def _repr_html_(self) -> str:
        note = f"<p>{html.escape(self.note)}</p>" if self.note else ""
        return f"<h4>{html.escape(self.title)}</h4>{html_rows(self.titles, self.texts, self.tips)}{note}"

    def markdown(self) -> str:
        """Return the table in Markdown, everything in it escaped."""
        head = (f"**{escaped(self.title)}**", "", *self.markdown_lines())
        return "\n".join([*head, "", escaped(self.note)] if self.note else head) + "\n"

    def markdown_lines(self) -> Iterator[str]:
        """Yield its columns and rows in Markdown, without title and note; nothing where it has no rows."""
        places = self._places("text")
        columns = [self._column(place) for place in places]
        if self.rows:
            yield _markdown_row([escaped(one.plain_title) for one in columns])
            yield "".join("|--:" if one.head_class.startswith("num") else "|---" for one in columns) + "|"
            yield from (_markdown_row([cell_of(row[place]).in_markdown for place in places]) for row in self.rows)

    def latex(self) -> str:
        """Return the table in LaTeX, everything in it escaped; its preamble needs the packages booktabs and textcomp.

        It is a floating table, or with more than `FLOATING` rows a longtable, which needs the package of that name. Its
        caption is the title and the note, and its label the title.
        """
        numeric = numeric_columns(self.titles, self.texts)
        cells = pd.DataFrame([map(latex, row) for row in self.texts], columns=[*map(latex, self.titles)])
        said = f"{latex(self.title)}. {latex(self.note)}" if self.note else latex(self.title)
        columns = "".join("r" if right else "l" for right in numeric)
        label = f"tab:{re.sub(r'[^a-z0-9]+', '-', self.title.lower()).strip('-')}"
        long = len(self) > FLOATING
        how = {"longtable": True} if long else {"position": "tb"}
        return str(cells.to_latex(index=False, escape=False, column_format=columns, caption=said, label=label, **how))


def latex(text: str) -> str:
    r"""Return text as LaTeX prints it.

    >>> print(latex("50 % of a_b, head->dependent"))
    50 \% of a\_b, head-\textgreater{}dependent
    """
    return text.translate(LATEX)


def numeric_columns(columns: Cells, rows: Sequence[Cells]) -> list[bool]:
    """Return of every column whether it holds numbers, intervals and gaps alone."""
    filled = [[row[place] for row in rows if row[place]] for place in range(len(columns))]
    return [bool(cells) and all(re.match(r"(< )?\[?[+−]?[\d–]", cell) for cell in cells) for cells in filled]


def plain_rows(columns: Cells, rows: Sequence[Cells]) -> Iterator[str]:
    """Yield the lines of a table as plain text, indented; none where it has no rows."""
    table = (columns, *rows) if rows else ()
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def rich_rows(columns: Cells, rows: Sequence[Cells], width: int) -> Table:
    """Return a table as `rich` prints it, so laid out that no word and no interval is divided where there is room.

    Where there is none the widest of the other columns give way, such as the names of runs: the first says what a row
    is about.
    """
    from rich.table import Table
    from rich.text import Text

    cells = [columns, *rows]
    stacked = [_stacked(columns, row) for row in cells]
    for laid, longest in ((cells, _line), (stacked, _line), (stacked, _word)):
        first, *others = zip(*laid, strict=True)
        widths = [longest(column) for column in others]
        if _left(width, widths) >= _word(first):
            break
    while _left(width, widths) < min(_word(first), width // 3) and max(widths, default=0) > 1:
        widths[widths.index(max(widths))] -= 1
    table = Table(box=None, pad_edge=False)
    for title, room in zip(laid[0], (None, *widths), strict=True):
        table.add_column(Text(title), overflow="fold", width=room)
    for row in laid[1:]:
        table.add_row(*map(Text, row))
    return table


def _left(width: int, widths: Sequence[int]) -> int:
    """Return what is left of a width beside columns and their gaps."""
    return width - sum(widths) - 2 * len(widths)


def _line(column: Cells) -> int:
    """Return the length of the longest line of a column."""
    return max(len(line) for cell in column for line in cell.split("\n"))


def _word(column: Cells) -> int:
    """Return the length of its longest word; an interval is one."""
    return max((len(word) for cell in column for word in re.findall(r"\[[^]]*\]|\S+", cell)), default=0)


def _stacked(columns: Cells, row: Cells) -> Cells:
    """Return a row with the cells of UNDER as second lines of those before."""
    cells: list[str] = []
    for column, cell in zip(columns, row, strict=True):
        if column in UNDER and cells:
            cells[-1] += f"\n{cell}"
        else:
            cells.append(cell)
    return tuple(cells)


def _markdown_row(cells: Cells) -> str:
    return f"| {' | '.join(cells)} |"


def html_rows(columns: Cells, rows: Sequence[Cells], meanings: Cells = ()) -> str:
    """Return a table in HTML, the `meanings` of its columns as tooltips; "" where it has no rows."""
    told = (f' title="{html.escape(one)}"' if one else "" for one in meanings or [""] * len(columns))
    head = "".join(f"<th{tip}>{html.escape(cell)}</th>" for cell, tip in zip(columns, told, strict=True))
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
