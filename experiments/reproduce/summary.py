"""Which verdicts findings have: of a record on the terminal, and of the published runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from experiments.statements.rule import CONTROLS, UNMEASURED
from reports.statements.finding_record import PUBLISHED, VERDICTS, Findings, read_findings

NOT_RUN: Mapping[str, dict[str, Any]] = {
    kind: {"verdict": UNMEASURED, "why": f"{kind} weights were not run", "runs": {}} for kind in CONTROLS
}
"Results of untrained weights of a record that has none of them."


def published_verdicts() -> dict[str, dict[str, dict[str, Any]]]:
    """Return, by finding and model, the verdict of the published runs, why, and the hash of each run behind it.

    Of a finding that can be tested random and permuted weights are always among the models: "not measured" where they
    were not run. Empty where nothing is published with this version.
    """
    try:
        found = read_findings(PUBLISHED)
    except FileNotFoundError:
        return {}
    return {
        finding["id"]: {
            model: {name: result[name] for name in ("verdict", "why", "runs")}
            for model, result in ({} if finding["missing"] else {**NOT_RUN, **finding["results"]}).items()
        }
        for finding in found.findings
    }


def print_summary(folder: Path) -> None:
    """Print the verdicts of the record in `folder`: on each finding that was asked by name, else counted, by model."""
    found = read_findings(folder)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for first, second in _asked(found) if found.requested else _counted(found):
        table.add_row(escape(first), escape(second))
    Console(highlight=False, emoji=False).print(table)


def _asked(found: Findings) -> Iterator[tuple[str, str]]:
    """Yield each finding that was asked, with its verdict on every model that it was compared with."""
    for finding in found.findings:
        if finding["id"] in found.requested:
            told = [f"{model}: {result['verdict']}" for model, result in finding["results"].items()]
            yield finding["id"], "; ".join(told)


def _counted(found: Findings) -> Iterator[tuple[str, str]]:
    """Yield each model with the number of findings of each verdict that some have."""
    for model, counts in found.counts.items():
        yield model, ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
