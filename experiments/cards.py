"""The card of one head on a terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports import Run


class CardError(ValueError):
    """A run folder, or a name of a head, that no card can be made from."""


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
            table = Table(box=None, pad_edge=False)
            for column in part.columns:
                table.add_column(Text(column), overflow="fold")
            for row in part.rows:
                table.add_row(*map(Text, row))
            console.print(table)
