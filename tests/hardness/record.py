"""The record docs/hardness.json: one part a command, with the machine, the packages and the commit that were tried."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

RECORD = Path(__file__).parents[2] / "docs" / "hardness.json"


def read(path: Path = RECORD) -> dict[str, Any]:
    """Return the record; empty where there is none yet."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def write(part: str, found: dict[str, Any], path: Path = RECORD) -> None:
    """Put what a command found in its place in the record."""
    from reports.run.replacing import replace_text

    replace_text(path, json.dumps(read(path) | {part: found}, indent=1, ensure_ascii=True, sort_keys=True) + "\n")


@cache
def here() -> dict[str, Any]:
    """Return the commit, the machine and the packages of this process, and the day when it first asked."""
    from experiments.record.provenance import Start, git_commit, machine  # late: atheris sees what it has loaded itself

    found = machine(Start())
    kept = ("versions", "python", "platform", "cores", "threads")
    return {"git_commit": git_commit(), "day": found["started"][:10], **{name: found[name] for name in kept}}
