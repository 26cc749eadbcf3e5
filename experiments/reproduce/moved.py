"""Which verdicts moved when the rules were read again: before, today, and why."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

BEFORE = Path(__file__).parent.parent / "findings" / "moved.toml"
"The verdicts of the record that was published before, and the reasons."


@cache
def verdicts_before() -> dict[str, Any]:
    """Return what BEFORE holds: of a finding verdicts `before`, by model, and `why`; `untrained` is a common why."""
    return tomllib.loads(BEFORE.read_text(encoding="utf-8"))


def moved(results: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return a row for every verdict of the published record that is another one today, in the order of the results."""
    told = verdicts_before()
    rows = []
    for result in results:
        finding = told.get(result["finding"], {})
        old = finding.get("before", {}).get(result["model"], result["verdict"])
        if old != result["verdict"]:
            row = {"finding": result["finding"], "model": result["model"], "old": old, "new": result["verdict"]}
            rows.append(row | {"why": finding.get("why", told["untrained"])})
    return rows
