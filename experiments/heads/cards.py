"""The card of one head on a terminal, and the profile of all heads of a model over several runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from reports import Run
from reports.heads.card import HeadCard
from reports.heads.profile import head_profile
from reports.progress import Progress, each, silent
from reports.run.replacing import replace_text
from reports.tables.files import replace_file
from reports.tables.text_table import rich_rows


def print_card(card: HeadCard) -> None:
    """Print the card of a head."""
    console = Console(highlight=False)
    console.print(Text(card.title, style="bold"))
    for part in card.parts:
        console.print()
        console.print(Text(part.title, style="bold cyan"))
        for sentence in part.sentences:
            console.print(Text(sentence))
        if part.rows:
            console.print(rich_rows(part.columns, part.rows, console.width))


def write_profile(folders: Sequence[Path], out: Path, progress: Progress = silent) -> Path:
    """Write the profile of all heads over the runs in `folders` as Markdown to `out`, all rows as CSV beside it."""
    profile = head_profile([Run.open(folder) for folder in each("runs opened", folders, progress)], progress)
    every = out.with_name(f"{out.stem}-heads.csv")
    replace_text(out, profile.page(every.name).markdown)
    replace_file(profile.frame, every)
    return out
