"""Helps and lists of the command line, found from the app itself."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from unittest.mock import patch

import typer
from typer.main import get_command
from typer.testing import CliRunner

from experiments.cli import app

PLAIN = {
    "TERMINAL_WIDTH": "100",
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "_TYPER_FORCE_DISABLE_TERMINAL": "1",
}
"The surroundings in which helps look the same everywhere."


def _asked(*words: str) -> str:
    with patch.dict(os.environ, {**PLAIN, "HEADSCOPE_DATA": os.devnull}):
        found = CliRunner().invoke(app, [*words], prog_name="headscope")
    assert found.exit_code == 0, f"headscope {' '.join(words)}: {found.output}"
    return found.output


def helps() -> dict[str, list[str]]:
    """Return the lines of the help of the app, and of every command."""
    names = ["", *get_command(app).commands]
    return {name or "headscope": _told(_asked(*filter(None, (name, "--help")))) for name in names}


def _told(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def list_names() -> list[str]:
    """Return what can be listed, as a shell is told it."""
    command = get_command(app).commands["list"]
    (argument,) = (one for one in command.params if one.name == "what")
    return [one.value for one in argument.shell_complete(typer.Context(command), "")]


def lists() -> dict[str, list[str]]:
    """Return every list: one line an entry and key."""
    return {name: [*_entries(json.loads(_asked("list", name, "--json")))] for name in list_names()}


def _entries(rows: list[dict[str, object]]) -> Iterator[str]:
    for number, row in enumerate(rows, start=1):
        yield from (f"{number} {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in row.items())
