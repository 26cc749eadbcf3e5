"""How a record was made, as pages say it: the command, when, with which versions, and on what machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports.formats import count, day, duration


def made_facts(record: Mapping[str, Any], command: str | None, **more: str | None) -> list[tuple[str, str]]:
    """Return how a record was made, by name, with `more` at the end; what is unknown is left out."""
    commits = {name: str(commit or "unknown")[:8] for name, commit in record.get("commits", {}).items()}
    machine = [record.get("platform"), f"{record['cores']} cores" if record.get("cores") else None]
    memory, seconds = record.get("peak_memory_mb"), record.get("wall_seconds")
    known = {
        "command": command,
        "made": day(record["started"]) if record.get("started") else None,
        "commit": record.get("git_commit"),
        "commits of parts": listed(commits) if len({*commits.values()}) > 1 else None,
        "headscope": record.get("headscope"),
        "Python": record.get("python"),
        "versions": listed(record.get("versions", {})),
        "machine": ", ".join(part for part in machine if part),
        "threads": record.get("threads"),
        "workers": record.get("workers"),
        "peak memory": f"{count(memory)} MB" if memory else None,
        "wall time": None if seconds is None else duration(seconds),
        **more,
    }
    return [(name, str(value)) for name, value in known.items() if value not in (None, "")]


def listed(entries: Mapping[str, Any]) -> str:
    """Write names and values in one line, names in plain words."""
    return ", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in entries.items())


def _plain(value: object) -> str:
    return "/".join(map(str, value)) if isinstance(value, list) else count(value)
