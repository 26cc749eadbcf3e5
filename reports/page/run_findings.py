"""What a page says of published findings: the verdicts that are on record for the weights of its run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from reports.findings.record import PUBLISHED, UNTESTABLE, VERDICTS, Findings, read_findings
from reports.formats import count
from reports.run.folder import RunFolder
from reports.tables.cells import Cell, TextColumn
from reports.tables.text_table import TextTable


@dataclass(frozen=True)
class Verdict:
    """What was found of one finding."""

    paper: str
    claim: str
    verdict: str
    why: str


@dataclass(frozen=True)
class RunFindings:
    """What a page says."""

    said: str
    verdicts: Sequence[Verdict]
    "Of the findings that could be measured: those that were reproduced, those that differ, those that were not."

    @property
    def shown(self) -> TextTable:
        """The verdicts with claim and paper."""
        return TextTable.of("Verdicts on published findings", VERDICT_COLUMNS, self.verdicts)


def _verdict(one: Verdict) -> Cell:
    why = Markup('<span class="why">{}</span>').format(one.why) if one.why else ""
    return Cell(one.verdict, page=Markup("<b>{}</b>{}").format(one.verdict, why))


VERDICT_COLUMNS: Final = (
    TextColumn("Paper", lambda one: one.paper, "text", only="text"),
    TextColumn("Claim", lambda one: one.claim, "row"),
    TextColumn("Verdict", _verdict, "text"),
    TextColumn("Paper", lambda one: one.paper, "text", only="page"),
)


def run_findings(run: RunFolder) -> RunFindings | None:
    """Return what is on record for the run's weights; None where nothing is."""
    try:
        found = read_findings(PUBLISHED)
    except FileNotFoundError:
        return None
    model = _model(found, run)
    if not model:
        return None
    told = [
        Verdict(paper["cited"], finding["claim"], result["verdict"], result["why"])
        for paper in found.papers
        for finding in paper["findings"]
        if (result := finding["results"].get(model)) and result["verdict"] != UNTESTABLE
    ]
    counts = found.counts[model]
    numbers = ", ".join(f"{count(counts[verdict])} {verdict}" for verdict in VERDICTS)
    said = (
        f"These weights ({model}) were held against {count(len(found.findings))} findings of "
        f"{count(len(found.papers))} papers, on corpora that may be others than this run's: {numbers}. The numbers, "
        "the rules and the runs behind them are on the page of all findings, reports/published/findings; "
        "'headscope reproduce' measures them anew."
    )
    return RunFindings(said, sorted(told, key=lambda one: VERDICTS.index(one.verdict)))


def _model(found: Findings, run: RunFolder) -> str:
    """Return what the record calls the weights of a run; empty where it has not seen them.

    Fresh and shuffled weights have the hash of those that they were made from, and others for every seed.
    """
    model = run.record.model
    alike = [
        one["model"]
        for one in found.record["models"]
        if not one["control"] and one["source"] == model.source and model.sha256
    ]
    named = [
        one["model"] for one in found.record["runs"] if one["model"] in alike and one.get("weights") == model.sha256
    ]
    return str(named[0]) if named else ""
