"""Every finding by id, whatever lies in `experiments.findings`, and the verdicts of a record and of published runs."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from experiments import findings
from experiments.statements.finding import Finding, FindingError, PaperFindings
from experiments.statements.rule import CONTROLS
from mha.messages import nearest_name
from reports.measures.registry import MeasureError, module_of
from reports.statements.finding_record import PUBLISHED, UNMEASURED, VERDICTS, Findings, read_findings

NOT_RUN: Mapping[str, dict[str, Any]] = {
    kind: {"verdict": UNMEASURED, "why": f"{kind} weights were not run", "runs": {}} for kind in CONTROLS
}
"Results of untrained weights of a record that has none of them."


_USED: dict[Path, ModuleType] = {}
"Files of findings of one's own that were named, as they were named."


def use(path: Path) -> list[str]:
    """Load a Python file with PAPER and FINDINGS, as those of `experiments.findings` are, and return the ids.

    Raises FindingError for a file that cannot be loaded, lacks either, or has a finding whose id another has.
    """
    if path not in _USED:
        try:
            _USED[path] = module_of(path.resolve(), "headscope_finding_", "PAPER and FINDINGS")
            papers.cache_clear()
            papers()
        except (MeasureError, FindingError) as error:
            _USED.pop(path, None)
            papers.cache_clear()
            raise FindingError(str(error)) from error
    return [finding.id for finding in _USED[path].FINDINGS]


def used(ids: Sequence[str]) -> list[Path]:
    """Return the files in use that have any of these findings."""
    return [path for path, module in _USED.items() if any(one.id in ids for one in module.FINDINGS)]


@cache
def papers() -> tuple[PaperFindings, ...]:
    """Return the papers with their findings, by year and then by name, those of files that are in use too.

    Files with one PAPER are of one paper. Raises FindingError where a file lacks PAPER or FINDINGS, and where two
    findings have one id.
    """
    told: dict[str, PaperFindings] = {}
    modules = [
        importlib.import_module(f"{findings.__name__}.{one.name}") for one in pkgutil.iter_modules(findings.__path__)
    ]
    for loaded in (*modules, *_USED.values()):
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
            raise FindingError(f"no finding, paper or run folder {name!r}; {hint}")
        for finding in by_paper.get(name) or [every[name]]:
            found[finding.id] = finding
    return list(found.values())


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
            told = [f"{model}: {_verdict(result)}" for model, result in finding["results"].items()]
            yield finding["id"], "; ".join(told)


def _verdict(result: Mapping[str, Any]) -> str:
    """Return a verdict, with what is missing where nothing could be measured."""
    lacks = result["verdict"] == UNMEASURED and result["untestable"]
    return f"{result['verdict']}, {result['untestable']}" if lacks else str(result["verdict"])


def _counted(found: Findings) -> Iterator[tuple[str, str]]:
    """Yield each model with the number of findings of each verdict that some have."""
    for model, counts in found.counts.items():
        yield model, ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
