"""The columns and cells of a table that people read: their text, and what a page shows beside it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, Literal

from markupsafe import Markup

from reports.formats import MISSING, escaped

Where = Literal["page", "text"]
"A page of HTML, or everything else: Markdown, LaTeX, a terminal."

KINDS: Final = {"row": ("text", ""), "text": ("text", ""), "rising": ("num rising", "num"), "row num": ("num", "num")}
"Kind of a column -> classes of its head and of its cells; those of other kinds are both the kind itself."


@dataclass(frozen=True)
class Cell:
    """What stands in one place of a table."""

    text: str
    aside: str = ""
    "Said after it and smaller: an interval, a name."
    css: str = ""
    "Classes of the page's style sheets, beside those of the column."
    sort: float | str | None = None
    "What the page sorts by where that is not the text; NaN and None of a number stay last."
    caution: str = ""
    "Why it is to be read with care, since it rests on few texts; empty where it need not. A ⚠ before it says so."
    link: str = ""
    "Where a press on it leads."
    span: int = 1
    "Rows that it is as high as; 0 where the cell above reaches down here."
    page: Markup | None = None
    "Stands on a page in place of caution, text and aside: a drawing, a badge."
    quiet: str = "ci"
    "The class of `aside`."

    def __str__(self) -> str:
        """All of it as plain text."""
        return " ".join(part for part in ("⚠" * bool(self.caution), self.text, self.aside) if part)

    @property
    def key(self) -> str | None:
        """What the page's script sorts by; None for the text."""
        if isinstance(self.sort, float):
            return "" if math.isnan(self.sort) else f"{self.sort:.4f}"
        return None if self.sort is None else str(self.sort)

    @property
    def in_markdown(self) -> str:
        """The cell as Markdown has it; intervals keep their brackets, which mean nothing without a link behind."""
        return re.sub(r"\\\[([^a-zA-Z\[\]]*)\\\]", r"[\1]", escaped(self))


@dataclass(frozen=True)
class TextColumn:
    """One column: its title, what it writes of a row, and how it stands."""

    title: str
    "On a page; may be markup. Other forms have it without the capital letter."
    write: Callable[[Any], object] = str
    "Returns the cell of a row: a `Cell`, or what its text is made of."
    kind: str = "num"
    '"row" for what a row is about, "text", "num", "rising" for numbers of which the smallest come first, or classes.'
    css: str = ""
    "Classes of its cells alone."
    tip: str = ""
    only: Where | Literal[""] = ""
    "Where alone it is shown."
    fixed: bool = False
    "Whether it is not sorted by in a table that is sorted by others."
    plain: str = ""
    "Its title outside of pages, where that is another one."
    folded: bool = False
    "Whether a page shows it after a press alone."

    @property
    def plain_title(self) -> str:
        """The title outside of pages: "Corrected p" is "corrected p", "UAS" stays."""
        return self.plain or (self.title if self.title[1:2].isupper() else self.title[:1].lower() + self.title[1:])

    @property
    def names_row(self) -> bool:
        """Whether its cells say what their rows are about."""
        return self.kind.startswith("row")

    @property
    def head_class(self) -> str:
        """Classes of the column's head."""
        return KINDS.get(self.kind, (self.kind, self.kind))[0] + " more" * self.folded

    def cell_class(self, cell: Cell) -> str:
        """Return the classes of one of its cells."""
        kind = KINDS.get(self.kind, (self.kind, self.kind))[1]
        return " ".join(part for part in (kind, "more" * self.folded, self.css, cell.css) if part)


def cell_of(written: object) -> Cell:
    """Return what is written in a place of a table as a cell."""
    return written if isinstance(written, Cell) else Cell(str(written))


def written(columns: Sequence[TextColumn], rows: Iterable[Any]) -> tuple[tuple[Cell, ...], ...]:
    """Return the cells of all rows."""
    return tuple(tuple(cell_of(column.write(row)) for column in columns) for row in rows)


def columns_of(titles: Sequence[str], text: Sequence[str] = ()) -> tuple[TextColumn, ...]:
    """Return columns for rows that are sequences: what a row is about, then numbers, but for those named in `text`."""
    kinds = ["row", *("text" if title in text else "num" for title in titles[1:])]
    return tuple(TextColumn(title, itemgetter(place), kinds[place]) for place, title in enumerate(titles))


def head_cell(name: str) -> Cell:
    """Return the name of a head, such as 3-5, as a cell that is sorted by layer and head; a dash for none."""
    if not name:
        return Cell(MISSING, sort="")
    layer, head = map(int, name.split("-"))
    return Cell(name, sort=10000 * layer + head)
