"""Every finding by id: whatever lies in `experiments.findings`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache

from experiments import findings
from experiments.statements.finding import Finding, FindingError, PaperFindings
from mha.messages import nearest_name


@cache
def papers() -> tuple[PaperFindings, ...]:
    """Return the papers with their findings, by year and then by name.

    Files with one PAPER are of one paper. Raises FindingError where a file lacks PAPER or FINDINGS, and where two
    findings have one id.
    """
    told: dict[str, PaperFindings] = {}
    for module in pkgutil.iter_modules(findings.__path__):
        loaded = importlib.import_module(f"{findings.__name__}.{module.name}")
        if not (hasattr(loaded, "PAPER") and hasattr(loaded, "FINDINGS")):
            raise FindingError(f"{loaded.__name__}: expected PAPER, a Paper, and FINDINGS")
        before = told.setdefault(loaded.PAPER.key, PaperFindings(loaded.PAPER))
        if before.paper != loaded.PAPER:
            raise FindingError(f"{loaded.__name__}: PAPER differs from that of another file with the same key")
        told[loaded.PAPER.key] = PaperFindings(loaded.PAPER, (*before.findings, *loaded.FINDINGS))
    ids = [finding.id for one in told.values() for finding in one.findings]
    if twice := {name for name in ids if ids.count(name) > 1}:
        raise FindingError(f"two findings are called {sorted(twice)[0]!r}")
    return tuple(sorted(told.values(), key=lambda one: (one.paper.key.rpartition("-")[2], one.paper.key)))


def all_findings() -> Mapping[str, Finding]:
    """Return every finding by id, in the order of the papers."""
    return {finding.id: finding for told in papers() for finding in told.findings}


def select_findings(names: Sequence[str]) -> list[Finding]:
    """Return the findings with these ids, and those of papers so named; all where none is named."""
    every = all_findings()
    by_paper = {told.paper.key: list(told.findings) for told in papers()}
    found: dict[str, Finding] = {}
    for name in names or every:
        if name not in every and name not in by_paper:
            hint = nearest_name(name, [*every, *by_paper], "'headscope list findings' names them")
            raise FindingError(f"no finding or paper {name!r}; {hint}")
        for finding in by_paper.get(name) or [every[name]]:
            found[finding.id] = finding
    return list(found.values())
