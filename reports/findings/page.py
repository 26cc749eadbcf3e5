"""The page of findings: paper, claim, published number, ours with its interval, and the verdict, model beside model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from reports.drawing.charts import vega
from reports.findings.charts import finding_chart
from reports.findings.figure import save_finding_figure
from reports.findings.published_figure import beside_published
from reports.findings.record import RECORD as RECORD
from reports.findings.record import VERDICTS, Findings, read_findings
from reports.findings.text_tables import all_findings, runs, statements, verdict_counts
from reports.findings.words import common, counted_words, exceptions, provenance, with_network, without_untrained
from reports.formats import day
from reports.progress import Step, each, silent
from reports.run.replacing import replace_text, replacing
from reports.tables.files import replace_file
from reports.tables.marks import verdict_class
from reports.templates.environment import assets, environment

TABLE = "findings.csv"
"One row a statement and model."


@dataclass(frozen=True)
class FindingsPage:
    """Everything that the page shows."""

    findings: Findings

    @property
    def version(self) -> str:
        """The version of headscope that made the runs; several where they differ."""
        return ", ".join(sorted({str(one.get("headscope") or "") for one in self.findings.record["runs"]} - {""}))

    @property
    def date(self) -> str:
        """The day of the newest run."""
        return day(max((str(one.get("started") or "") for one in self.findings.record["runs"]), default=""))

    @property
    def lead(self) -> str:
        """How many findings of how many papers there are, and how many have a number."""
        papers, found = sum(bool(paper["findings"]) for paper in self.findings.papers), self.findings
        of = f"{len(found.findings)} findings of {papers} paper{'s' if papers != 1 else ''}"
        return f"{of}, {found.measured} measured on at least one model. {counted_words(found)}"

    @property
    def requested(self) -> list[dict[str, Any]]:
        """The papers of the findings that were asked, with these alone; none where all were."""
        return self._papers(lambda name: name in self.findings.requested)

    @property
    def others(self) -> list[dict[str, Any]]:
        """The papers with their findings, without those that were asked."""
        return self._papers(lambda name: name not in self.findings.requested)

    def _papers(self, wanted: Callable[[str], bool]) -> list[dict[str, Any]]:
        kept = [
            paper | {"findings": [one for one in paper["findings"] if wanted(one["id"])]}
            for paper in self.findings.papers
        ]
        return [paper for paper in kept if paper["findings"]]


def write_findings_page(folder: Path, step: Step = silent) -> Path:
    """Write index.html, report.md, findings.csv and figures/ into `folder` from its record; return the page's path.

    `step` is told how far it is. Everything is built beside its place: where anything fails, an older page stays as it
    was. Raises FileNotFoundError where there is no record, ValueError where it cannot be understood.
    """
    folder = Path(folder)
    found = read_findings(folder)
    page = FindingsPage(found)
    with replacing(folder / "figures") as unfinished:
        for finding in each("page: figures of findings", found.findings, step):
            if panels := panels_of(finding, found):
                save_finding_figure(panels, unfinished / finding["id"])
        html, markdown = _rendered("findings.html.j2", page), _rendered("findings.md.j2", page)
    replace_file(found.table(), folder / TABLE)
    replace_text(folder / "report.md", re.sub(r"\n{3,}", "\n\n", markdown))
    return replace_text(folder / "index.html", html)


def panels_of(finding: Mapping[str, Any], findings: Findings) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the figure of a finding for every model that it was measured on.

    A finding that was asked by name and has none gets bars of our numbers beside the published ones.
    """
    drawn = [(model, one["figure"]) for model, one in finding["results"].items() if one["figure"]]
    if drawn or finding["id"] not in findings.requested:
        return drawn
    bars = ((model, beside_published(finding, one)) for model, one in finding["results"].items())
    return [(model, figure) for model, figure in bars if figure is not None]


def tally(paper: Mapping[str, Any], findings: Findings) -> list[tuple[str, str]]:
    """Return each model with its verdicts on the findings of a paper, counted in words."""
    verdicts = {
        model: Counter(one["results"][model]["verdict"] for one in paper["findings"] if model in one["results"])
        for model in findings.models
    }
    return [
        (model, ", ".join(f"{of[verdict]} {verdict}" for verdict in VERDICTS if of[verdict]))
        for model, of in verdicts.items()
        if of
    ]


def runs_of(findings: Findings, result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the runs behind a result: reading and the beginning of its hash."""
    return [(name, sha256[:12]) for name, sha256 in result["runs"].items()]


def _rendered(template: str, page: FindingsPage) -> str:
    """Return the page as HTML that loads nothing from anywhere, or as Markdown."""
    html = template.endswith(".html.j2")
    made = environment(html=html)
    charts = {
        finding["id"]: [finding_chart(figure, model) for model, figure in panels_of(finding, page.findings)]
        for finding in (page.findings.findings if html else ())
    }
    styles, scripts = ("page", "charts", "claims", "findings"), ("fold", "charts")
    drawing: dict[str, object] = {"style": assets(styles, ".css"), "script": assets(scripts, ".js")}
    drawing |= {"charts": charts, "vega": vega() if any(charts.values()) else ""}
    told: dict[str, object] = {"common": common, "exceptions": exceptions, "tally": tally, "provenance": provenance}
    told |= {"panels": partial(panels_of, findings=page.findings), "with_network": with_network, "runs_of": runs_of}
    told |= {"verdict_class": verdict_class, "without_untrained": without_untrained}
    tables = {"verdict_counts": verdict_counts, "all_findings": all_findings, "statements": statements, "runs": runs}
    told["version"] = page.version
    return made.get_template(template).render(page=page, findings=page.findings, **drawing, **told, **tables)
