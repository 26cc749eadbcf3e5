"""The tables of the page of findings: verdicts by model, every finding, its statements, and the runs.

All but the last are matrices with a column a model, where findings.csv has a row a model; runs are a list of
findings.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from markupsafe import Markup

from reports.findings.record import VERDICTS, Findings, published_words
from reports.findings.tables import FINDINGS
from reports.findings.words import beside, beyond_untrained, common, counted_as, decided_by, deciding, facts, provenance
from reports.formats import escaped
from reports.tables.cells import Cell, TextColumn
from reports.tables.marks import verdict_cell, verdict_class
from reports.tables.text_table import OPEN, TextTable


def verdict_counts(findings: Findings) -> TextTable:
    """Return how many findings have which verdict, by model."""
    named = TextColumn("Model", lambda row: row[0] + " (negative control)" * (row[0] in findings.controls), "row")
    return TextTable.of("Verdicts by model", (named, *map(_counted, VERDICTS)), findings.counts.items())


def _counted(verdict: str) -> TextColumn:
    return TextColumn(verdict, lambda row: row[1][verdict])


Row = tuple[Mapping[str, Any], Mapping[str, Any], int]
"A paper, one of its findings, and how many rows the paper has; 0 but for the first."


def _rows(found: Findings) -> Iterator[Row]:
    for paper in found.papers:
        for place, finding in enumerate(paper["findings"]):
            yield paper, finding, 0 if place else len(paper["findings"])


def _claim(row: Row) -> Cell:
    claim, anchor = row[1]["claim"], f"#{row[1]['id']}"
    return Cell(claim, link=anchor, markdown=f"[{escaped(claim)}]({anchor})")


def _verdict(model: str, row: Row) -> Cell:
    result = row[1]["results"].get(model)
    if not result:
        return verdict_cell("not tested")
    told, read = verdict_cell(result["verdict"]), provenance(row[1])
    return replace(told, aside=f"({read})") if read and result["runs"] else told


def all_findings(findings: Findings) -> TextTable:
    """Return every finding with its verdict on every model."""
    models = (TextColumn(model, partial(_verdict, model), "text", "verdict", plain=model) for model in findings.models)
    folded = len(findings.models) + 3 > OPEN
    named = (
        FINDINGS["paper"].shown(
            kind="row", write=lambda row: Cell(row[0]["cited"] if row[2] else "", span=row[2]), css="wrapping"
        ),
        FINDINGS["claim"].shown(write=_claim, css="wrapping"),
        TextColumn("counted", lambda row: counted_as(row[1]), "text", "wrapping", folded=folded),
    )
    return TextTable.of("All findings", (*named, *models), _rows(findings))


def statements(finding: Mapping[str, Any]) -> TextTable:
    """Return the statements of a finding: what is published, and what was found on each model."""
    results = {model: result["statements"] for model, result in finding["results"].items() if result["runs"]}
    columns = (
        FINDINGS["text"].shown(
            "Statement", "row", write=lambda row: _statement(row[1], common(finding)), css="wrapping"
        ),
        FINDINGS["published"].shown("Published", "text", write=lambda row: _published(row[1]), css="wrapping"),
        *(TextColumn(model, partial(_ours, told), "text", "wrapping", plain=model) for model, told in results.items()),
    )
    return TextTable.of(f"Statements of {finding['id']}", columns, enumerate(finding["statements"]))


def _statement(statement: Mapping[str, Any], rule: str) -> Cell:
    by = decided_by(statement)
    return Cell(str(statement["text"]), "" if by == rule else by)


def _published(statement: Mapping[str, Any]) -> Cell:
    said, words = statement["published"], published_words(statement)
    aside = " ".join(filter(None, (f"({said['read']})" if words else "", said["erratum"])))
    return Cell(words, aside, quiet="down" if said["erratum"] or said["provenance"] == "memory" else "ci")


def _ours(told_of: list[Mapping[str, Any]], row: tuple[int, Mapping[str, Any]]) -> Cell:
    """Return our number, the one that decides with its verdict, and what is said of it."""
    place, statement = row
    told = told_of[place]
    ours, decides, verdict = beside(told, statement), deciding(told, statement), told["verdict"]
    rest = "; ".join(filter(None, (told["near"], *beyond_untrained(told, statement), told["note"])))
    if not decides:
        return Cell(ours, rest)
    first = "; ".join(filter(None, (ours, f"{decides}:")))
    page = Markup('{} <span class="{}">{}</span> <span class="ci">{}</span>')
    markdown = f"{escaped(first)} **{verdict}**" + (f" ({escaped(rest)})" if rest else "")
    return Cell(first, verdict, page=page.format(first, verdict_class(verdict), verdict, rest), markdown=markdown)


RUNS: Final = (
    TextColumn("Model", lambda run: run["model"], "row"),
    TextColumn("Reading", lambda run: run["reading"], "text"),
    TextColumn("Hash", lambda run: run["sha256"][:12], "text", "head"),
    TextColumn("What was read, when, and with what", facts, "text", "wrapping"),
)


def runs(findings: Findings) -> TextTable:
    """Return the runs behind all numbers."""
    return TextTable.of("Runs", RUNS, findings.record["runs"])
