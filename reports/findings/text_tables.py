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

SMALL: Final = Markup('<span class="small">{}</span>')
"What stands below the first line of a cell."


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


def _paper(row: Row) -> Cell:
    paper, _, span = row
    return Cell(paper["cited"] if span else "", link=f"#{paper['key']}", span=span)


def _claim(row: Row) -> Cell:
    claim, anchor = row[1]["claim"], f"#{row[1]['id']}"
    return Cell(claim, link=anchor, css="said", markdown=f"[{escaped(claim)}]({anchor})")


def _verdict(model: str, row: Row) -> Cell:
    result = row[1]["results"].get(model)
    if not result:
        return verdict_cell("not tested")
    told, read = verdict_cell(result["verdict"]), provenance(row[1])
    return replace(told, aside=f"({read})") if read and result["runs"] else told


def _counted_as(row: Row) -> Cell:
    """Return whether a finding is counted, or why it is not."""
    return Cell(counted_as(row[1]))


def all_findings(findings: Findings) -> TextTable:
    """Return every finding with its verdict on every model."""
    models = (TextColumn(model, partial(_verdict, model), "verdicts", plain=model) for model in findings.models)
    named = (
        FINDINGS["paper"].shown(kind="row", write=_paper),
        FINDINGS["claim"].shown(write=_claim),
        TextColumn("counted", _counted_as, "text", folded=len(findings.models) + 3 > OPEN),
    )
    return TextTable.of("All findings", (*named, *models), _rows(findings))


def statements(finding: Mapping[str, Any]) -> TextTable:
    """Return the statements of a finding: what is published, and what was found on each model."""
    results = {model: result["statements"] for model, result in finding["results"].items() if result["runs"]}
    columns = (
        FINDINGS["text"].shown("Statement", "row", write=lambda row: _statement(row[1], finding)),
        FINDINGS["published"].shown("Published", "text", write=lambda row: _published(row[1])),
        *(TextColumn(model, partial(_ours, told), "text", plain=model) for model, told in results.items()),
    )
    return TextTable.of(f"Statements of {finding['id']}", columns, enumerate(finding["statements"]))


def _statement(statement: Mapping[str, Any], finding: Mapping[str, Any]) -> Cell:
    text, by = str(statement["text"]), decided_by(statement)
    if by == common(finding):
        return Cell(text)
    return Cell(text, by, page=Markup("{}{}").format(text, SMALL.format(by)))


def _published(statement: Mapping[str, Any]) -> Cell:
    said, words = statement["published"], published_words(statement)
    read, erratum = f"({said['read']})" if words else "", said["erratum"]
    sure = "unverified" if said["provenance"] == "memory" else "provenance"
    page = Markup('{} <span class="{}">{}</span>').format(words, sure, read)
    page += Markup(' <span class="erratum">{}</span>').format(erratum) if erratum else ""
    bold = f"**{escaped(erratum)}**" if erratum else ""
    return Cell(words, read, page=page, markdown=" ".join(filter(None, (escaped(words), read, bold))))


def _ours(told_of: list[Mapping[str, Any]], row: tuple[int, Mapping[str, Any]]) -> Cell:
    place, statement = row
    told = told_of[place]
    ours, decides = beside(told, statement), deciding(told, statement)
    verdict, near, note = told["verdict"], told["near"], told["note"]
    page, markdown = Markup("{}").format(ours), [escaped(ours)] * bool(ours)
    if decides:
        page += Markup("<br>" if ours else "")
        page += Markup('{}: <span class="{}">{}</span>').format(decides, verdict_class(verdict), verdict)
        markdown.append(f"{escaped(decides)}: **{verdict}**")
    small = [*beyond_untrained(told, statement), *([note] if note else [])]
    page += (Markup(" ") + SMALL.format(near) if near else "") + Markup("").join(map(SMALL.format, small))
    after = (f", {escaped(near)}" if near else "") + (f" ({escaped('; '.join(small))})" if small else "")
    return Cell(ours, decides, page=page, markdown=" ".join(markdown) + after)


def _hash(run: Mapping[str, Any]) -> Cell:
    short = run["sha256"][:12]
    return Cell(short, page=Markup("<code>{}</code>").format(short), markdown=f"`{short}`")


RUNS: Final = (
    TextColumn("Model", lambda run: run["model"], "row"),
    TextColumn("Reading", lambda run: run["reading"], "text"),
    TextColumn("Hash", _hash, "text"),
    TextColumn("What was read, when, and with what", facts, "text"),
)


def runs(findings: Findings) -> TextTable:
    """Return the runs behind all numbers."""
    return TextTable.of("Runs", RUNS, findings.record["runs"])
