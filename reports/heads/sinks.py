"""Which heads are sinks, and of which kind."""

from __future__ import annotations

from reports.run.folder import RunFolder
from reports.tables.table import last_step


def kinds_of_sinks(run: RunFolder) -> dict[str, str]:
    """Return the kind of every head by its name, "" of one that is no sink; empty where that was not measured."""
    if (table := run.tables.get("sinks")) is None:
        return {}
    heads = last_step(table)
    return dict(zip(heads["name"], heads["kind"], strict=True))
