"""What a page says of published findings: the verdicts that are on record for the weights of its run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from markupsafe import Markup

from reports.blocks.block import Block, Fold, Paragraph, TableBlock
from reports.formats import count
from reports.run.folder import RunFolder
from reports.statements.finding_record import FINDINGS, PUBLISHED, UNTESTABLE, VERDICTS, Findings, read_findings
from reports.statements.finding_text import counted_as
from reports.tables.cells import Cell, TextColumn
from reports.tables.text_table import TextTable


def _verdict(row: Mapping[str, str]) -> Cell:
    why = Markup(' <span class="ci">{}</span>').format(row["why"]) if row["why"] else ""
    verdict = row["verdict_of_finding"]
    return Cell(verdict, page=Markup("<b>{}</b>{}").format(verdict, why))


VERDICT_COLUMNS: Final = (
    FINDINGS["paper"].shown(only="text"),
    FINDINGS["claim"].shown(kind="row", css="wrapping"),
    FINDINGS["verdict_of_finding"].shown("Verdict", write=_verdict, css="wrapping"),
    FINDINGS["paper"].shown(only="page", css="wrapping"),
    TextColumn("Counted", lambda row: row["counted"], "text", "wrapping"),
)


def run_findings(run: RunFolder) -> Iterator[Block]:
    """Yield what is on record for the run's weights: verdicts that are reproduced, differ, and are not reproduced."""
    try:
        found = read_findings(PUBLISHED)
    except FileNotFoundError:
        return
    model = _model(found, run)
    if not model:
        return
    rows = [
        {
            "paper": paper["cited"],
            "claim": finding["claim"],
            "verdict_of_finding": result["verdict"],
            "why": result["why"],
            "counted": counted_as(finding),
        }
        for paper in found.papers
        for finding in paper["findings"]
        if (result := finding["results"].get(model)) and result["verdict"] != UNTESTABLE
    ]
    counts = found.counts[model]
    numbers = ", ".join(f"{count(counts[verdict])} {verdict}" for verdict in VERDICTS if counts[verdict])
    lacking = len(found.counted) - sum(counts.values())
    nothing = f", {count(lacking)} without a record" if lacking else ""
    yield Paragraph(
        f"Of {count(len(found.counted))} counted findings of {count(len(found.papers))} papers these weights "
        f"({model}) have these verdicts: {numbers}{nothing}. Nothing of this was measured in this run, and corpora "
        "may differ. A finding differs where some of its statements hold, or are not decided, and others do not "
        "hold. Findings that cannot be tested on these weights are left out of the table. All numbers and rules are "
        "on the page of all findings, reports/published/findings; 'headscope reproduce' measures them again."
    )
    rows.sort(key=lambda one: VERDICTS.index(one["verdict_of_finding"]))
    table = TextTable.of("Verdicts on published findings", VERDICT_COLUMNS, rows)
    yield Fold(f"Findings and their verdicts: {count(len(rows))}", [TableBlock(table, caption=False)])


def _model(found: Findings, run: RunFolder) -> str:
    """Return what the record calls the weights of a run; empty where it has not seen them.

    Random and permuted weights have the hash of those that they were made from, and others for every seed.
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
