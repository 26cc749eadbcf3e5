"""Which verdicts findings have: of a record on the terminal, and of the published runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from experiments.statements.learned import CONTROLS, UNMEASURED
from reports.findings.record import PUBLISHED, VERDICTS, read_findings

NOT_RUN: Mapping[str, dict[str, Any]] = {
    kind: {"verdict": UNMEASURED, "why": f"{kind} weights were not run", "runs": {}} for kind in CONTROLS
}
"Results of untrained weights of a record that has none of them."


def published_verdicts() -> dict[str, dict[str, dict[str, Any]]]:
    """Return, by finding and model, the verdict of the published runs, why, and the hash of each run behind it.

    Of a finding that can be tested random and shuffled weights are always among the models: "not measured" where they
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
    """Print the number of findings of each verdict, one line a model, of the record in `folder`."""
    table = Table("model", *VERDICTS, box=None)
    for model, counts in read_findings(folder).counts.items():
        table.add_row(escape(model), *(str(counts[verdict]) for verdict in VERDICTS))
    Console(highlight=False, emoji=False).print(table)
