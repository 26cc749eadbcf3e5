"""The card of one head on a terminal, and the profile of all heads of a model over several runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports import Run
from reports.card_parts import CardPart
from reports.profile import profile_page

UNDER = ("variant", "interval")
"Columns that stand below the one before them where a table is wider than the terminal."

Cells = tuple[str, ...]


class CardError(ValueError):
    """A run folder, or a name of a head, that no card or profile can be made from."""


def print_card(folder: Path, name: str) -> None:
    """Print the card of the head called `name` ("3-5") of a run; raises CardError for what the run does not have."""
    try:
        card = Run.open(folder).head(name)
    except ValueError as error:
        raise CardError(str(error)) from error
    console = Console(highlight=False)
    console.print(Text(card.title, style="bold"))
    for part in card.parts:
        console.print()
        console.print(Text(part.title, style="bold cyan"))
        for sentence in part.said:
            console.print(Text(sentence))
        if part.rows:
            console.print(_table(part, console.width))


def _table(part: CardPart, width: int) -> Table:
    """Return the rows of a part, so laid out that no word and no interval is divided where there is room for it."""
    rows = [part.columns, *part.rows]
    stacked = [_stacked(part.columns, row) for row in rows]
    for laid, longest in ((rows, _line), (stacked, _line), (stacked, _word)):
        first, *others = zip(*laid, strict=True)
        widths = [longest(column) for column in others]
        if width - sum(widths) - 2 * len(widths) >= _word(first):
            break
    table = Table(box=None, pad_edge=False)
    for title, room in zip(laid[0], (None, *widths), strict=True):
        table.add_column(Text(title), overflow="fold", width=room)
    for row in laid[1:]:
        table.add_row(*map(Text, row))
    return table


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


def write_profile(folders: Sequence[Path], out: Path) -> Path:
    """Write the profile of all heads over the runs in `folders` as Markdown to `out`, and return it."""
    try:
        page = profile_page([Run.open(folder) for folder in folders])
    except ValueError as error:
        raise CardError(str(error)) from error
    out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = out.with_name(f".{out.name}.unfinished")
    unfinished.write_text(page, encoding="utf-8")
    return unfinished.replace(out)
