"""The tables of docs/hardness.md from the record: `python -m tests.hardness.page` writes the page anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.hardness.record import read

PAGE = Path(__file__).parents[2] / "docs" / "hardness.md"

ABOUT = """# What was tried to break it

Commands that try to break headscope write what they tried into [hardness.json](hardness.json), with seed, commit and
machine. This page is made from it. `make fuzz` goes on where the record ends, readers with the fewest executions first.
"""


def page(record: dict[str, Any]) -> str:
    """Return the page of a record."""
    parts = [fuzz(record["fuzz"]), kills(record["kills"]), same(record["same"])]
    return "\n".join([ABOUT, *parts])


def fuzz(part: dict[str, Any]) -> str:
    """Return the table of the readers."""
    rows = [
        f"| {name} | {one['executions']:,} | {len(one['faults'])} | {len(one['runs'])} |"
        for name, one in sorted(part["readers"].items())
    ]
    head = "Only the documented error, in one line that begins with the file, is no fault; nor may an input hang."
    table = ["| reader | executions | faults | seeds |", "|---|---:|---:|---:|", *rows]
    return "\n".join(["## Readers: `make fuzz`", "", head, "", *table, ""])


def kills(part: dict[str, Any]) -> str:
    """Return the table of what was killed."""
    rows = [f"| {name} | {number} |" for name, number in part["kills"].items()]
    lost = [f"| {name.replace('_', ' ')} | {len(part[name])} |" for name in ("lost", "left_over", "failed")]
    head = "Killed at random moments, then done again: what was lost, hidden files, starts that failed."
    return "\n".join(["## Kills: `make kills`", "", head, "", "| killed | times |", "|---|---:|", *rows, *lost, ""])


def same(part: dict[str, Any]) -> str:
    """Return what came of repeated trainings."""
    hashes = f"{len(part['hashes'])} hash{'es' * (len(part['hashes']) != 1)}"
    said = (
        f"{part['trainings']} trainings of `scratch.toml` over {part['steps']} steps with {part['threads']} threads, "
        f"a process each: {hashes} of the last weights and the optimizer's state."
    )
    return "\n".join(["## Repeated trainings: `make same`", "", said, ""])


if __name__ == "__main__":
    PAGE.write_text(page(read()), encoding="utf-8")
