"""Markdown of what stands in the code: tables, and docstrings of values too."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import griffe

ROOT = Path(__file__).parents[1]
OURS = ("mha", "probes", "reports", "experiments")


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table in Markdown; a cell keeps its code, and a bar in it does not end it."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def prose(text: str) -> str:
    """Return a docstring as Markdown: brackets are no links and stars no emphasis, but in code; doctests are fenced."""
    blocks = re.split(r"\n{2,}", inspect.cleandoc(text))
    return "\n\n".join(_fenced(block) if block.lstrip().startswith(">>>") else escaped(block) for block in blocks)


def _fenced(block: str) -> str:
    return f"```pycon\n{textwrap.dedent(block)}\n```"


def escaped(text: str) -> str:
    """Return text in which brackets are no links, stars no emphasis and signs no tags, but for what is code."""
    spans = re.split(r"(`[^`]*`)", text)
    return "".join(span if span.startswith("`") else re.sub(r"([\[\]*_<])", r"\\\1", span) for span in spans)


def docstring(module: str, *names: str) -> str:
    """Return the docstring of what has these names in a module of ours, values and keys too; "" where there is none."""
    if module.partition(".")[0] not in OURS:
        return ""
    found: Any = _module(module)
    for name in names:
        found = found.members.get(name) if found else None
    return found.docstring.value if found is not None and found.docstring else ""


@cache
def _module(module: str) -> griffe.Module:
    """Return what stands in the source of a module, docstrings of values included."""
    path = ROOT / Path(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return griffe.visit(module, path, path.read_text(encoding="utf-8"))
