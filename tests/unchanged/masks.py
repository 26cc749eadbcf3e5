"""What differs between two records of the same tree, and what stands in its place: the one list of it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"

RULES: tuple[tuple[str, str], ...] = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d| UTC)?", "<time>"),
    (rf"\b\d{{1,2}} ({MONTHS}) \d{{4}}(, \d\d:\d\d(:\d\d)?( UTC)?)?", "<date>"),
    (r"\b[0-9a-f]{40}\b\+?", "<commit>"),
    (r"\b\d[\d,.]*( ms| s| min| h| seconds?| minutes?| hours?)\b( \d+ (s|min))?", "<duration>"),
    (r"\b\d[\d,.]* [KMG]i?B\b", "<memory>"),
)
"What is found in any text -> what is written instead; in this order."

TIMED = frozenset({"seconds", "wall_seconds", "peak_memory_mb", "started", "time", "git_commit"})
"Columns of tables, and keys of records, whose values are times, memory or the commit."


@cache
def _commit() -> str:
    """Return the commit of this tree, or what no page says where there is none."""
    called = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    return subprocess.run(called, capture_output=True, text=True, check=False).stdout.strip() or "no commit"


def mask(text: str, work: Path) -> str:
    """Return a text without what differs between two runs; `work` is the temporary folder.

    The commit of this tree is masked in its short forms too; those of published records are the same in all trees.
    """
    found = text.replace(str(work), "<work>").replace(str(work).replace("_", r"\_"), "<work>")  # as Markdown has it
    found = re.sub(rf"\b{_commit()[:7]}[0-9a-f]*\b\+?", "<commit>", found)
    for pattern, instead in RULES:
        found = re.sub(pattern, instead, found)
    return found


def masked_cell(column: str, value: str) -> str:
    """Return a cell of a table, or a placeholder where its column tells times."""
    return f"<{column}>" if column in TIMED else value


def without_times(value: Any) -> Any:
    """Return a record with placeholders in the place of its times, at every depth."""
    if isinstance(value, Mapping):
        return {key: f"<{key}>" if key in TIMED else without_times(inner) for key, inner in value.items()}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value
