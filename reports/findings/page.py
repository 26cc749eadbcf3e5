"""The page of findings: paper, claim, published number, ours with its interval, and the verdict, model beside model."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from reports.claims.record import Number, written
from reports.drawing.charts import vega
from reports.findings.charts import finding_chart
from reports.findings.figure import save_finding_figure
from reports.findings.record import (
    DIFFERS,
    NOT_REPRODUCED,
    REPRODUCED,
    UNTESTABLE,
    VERDICTS,
    Findings,
    number_of,
    published_words,
    read_findings,
)
from reports.findings.record import RECORD as RECORD
from reports.formats import count, day, duration, escaped
from reports.progress import Step, each, silent
from reports.tables.files import replace_file
from reports.templates.environment import assets, environment

TABLE = "findings.csv"
"One row a statement and model."

LOOKS = {REPRODUCED: "kept", DIFFERS: "open", NOT_REPRODUCED: "missed", UNTESTABLE: "none"}

HELD = {"holds": "kept", "does not hold": "missed", "not decided": "open"}


@dataclass(frozen=True)
class Page:
    """Everything that the page shows."""

    found: Findings

    @property
    def version(self) -> str:
        """The version of headscope that made the runs; several where they differ."""
        return ", ".join(sorted({str(one.get("headscope") or "") for one in self.found.record["runs"]} - {""}))

    @property
    def date(self) -> str:
        """The day of the newest run."""
        return day(max((str(one.get("started") or "") for one in self.found.record["runs"]), default=""))

    @property
    def lead(self) -> str:
        """How many findings of how many papers there are, and how many have a number."""
        papers, found = sum(bool(paper["findings"]) for paper in self.found.papers), self.found
        of = f"{len(found.findings)} findings of {papers} paper{'s' if papers != 1 else ''}"
        return f"{of}, {found.measured} measured on at least one model."


def write_findings_page(folder: Path, step: Step = silent) -> Path:
    """Write index.html, report.md, findings.csv and figures/ into `folder` from its record; return the page's path.

    `step` is told how far it is. Everything is built beside its place: where anything fails, an older page stays as it
    was. Raises FileNotFoundError where there is no record, ValueError where it cannot be understood.
    """
    folder = Path(folder)
    found = read_findings(folder)
    page, unfinished = Page(found), folder / f".page-{uuid4().hex}"
    try:
        unfinished.mkdir(parents=True)
        for finding in each("page: figures of findings", found.findings, step):
            if panels := panels_of(finding):
                save_finding_figure(panels, unfinished / finding["id"])
        html, markdown = _rendered("findings.html.j2", page), _rendered("findings.md.j2", page)
        shutil.rmtree(folder / "figures", ignore_errors=True)
        unfinished.rename(folder / "figures")
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    replace_file(found.table(), folder / TABLE)
    (folder / "report.md").write_text(re.sub(r"\n{3,}", "\n\n", markdown), encoding="utf-8")
    (folder / "index.html").write_text(html, encoding="utf-8")
    return folder / "index.html"


def panels_of(finding: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the figure of a finding for every model that it was measured on."""
    return [(model, one["figure"]) for model, one in finding["results"].items() if one["figure"]]


def beside(told: Mapping[str, Any], statement: Mapping[str, Any]) -> str:
    """Write our number beside the published one: value, interval, and the baseline where there is one."""
    if "decides" not in told:
        return str(told.get("missing", ""))
    ours = number_of(told["ours"], statement["shown"])
    parts = [_number(ours)] if ours is not None else []
    if told["baseline"] is not None:
        parts.append(f"(baseline {written(told['baseline'], statement['shown'])})")
    parts += [f"head {told['heads']}"] if told["heads"] else []
    return " ".join(parts)


def deciding(told: Mapping[str, Any], statement: Mapping[str, Any]) -> str:
    """Write the number that decides, with its interval and unit."""
    found = number_of(told.get("decides"), statement["unit"])
    return "" if found is None else _number(found)


def _number(found: Number) -> str:
    return " ".join(filter(None, (found.shown, found.unit, found.interval)))


def decided_by(statement: Mapping[str, Any]) -> str:
    """Say which number decides on a statement, and by which rule."""
    return f"Decided by: {statement['number']}. {statement['rule']}"


def common(finding: Mapping[str, Any]) -> str:
    """Return what decides on several statements of a finding, more than half of all; else empty."""
    said = Counter(decided_by(one) for one in finding["statements"])
    most, times = said.most_common(1)[0] if said else ("", 0)
    return most if times > 1 and 2 * times > len(finding["statements"]) else ""


def exceptions(finding: Mapping[str, Any]) -> bool:
    """Return whether something else than `common` decides on a statement of a finding."""
    return any(decided_by(one) != common(finding) for one in finding["statements"])


def with_network(finding: Mapping[str, Any], found: Findings) -> str:
    """Say how to hold the paper's own model against its numbers, where it is not among the models; else empty."""
    names = finding["original"]
    if not names or any(name in found.models for name in names):
        return ""
    return (
        f"The paper's own model is not among those here. With network: headscope reproduce {finding['id']} --model "
        f"{names[0]}; its values must then lie within their tolerance of the published ones."
    )


def tally(paper: Mapping[str, Any], found: Findings) -> list[tuple[str, str]]:
    """Return each model with its verdicts on the findings of a paper, counted in words."""
    verdicts = {
        model: Counter(one["results"][model]["verdict"] for one in paper["findings"] if model in one["results"])
        for model in found.models
    }
    return [
        (model, ", ".join(f"{of[verdict]} {verdict}" for verdict in VERDICTS if of[verdict]))
        for model, of in verdicts.items()
        if of
    ]


def runs_of(found: Findings, result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the runs behind a result: reading and the beginning of its hash."""
    return [(name, sha256[:12]) for name, sha256 in result["runs"].items()]


def facts(run: Mapping[str, Any]) -> str:
    """Say when, where and how long a reading was made."""
    parts = [day(run["started"]) if run.get("started") else "", duration(run["wall_seconds"] or 0)]
    parts += [f"{run['cores']} cores, {run['threads']} threads" if run.get("cores") else ""]
    parts += [f"commit {str(run['git_commit'])[:8]}" if run.get("git_commit") else "", str(run.get("platform") or "")]
    corpora = run.get("corpora") or {}
    parts.insert(0, " and ".join(dict.fromkeys(str(one) for one in corpora.values())))
    return ", ".join(part for part in parts if part)


def _rendered(template: str, page: Page) -> str:
    """Return the page as HTML that loads nothing from anywhere, or as Markdown."""
    html = template.endswith(".html.j2")
    made = environment(html=html)
    made.filters["md"] = escaped
    charts = {
        finding["id"]: [finding_chart(figure, model) for model, figure in panels_of(finding)]
        for finding in (page.found.findings if html else ())
    }
    styles, scripts = ("page", "charts", "claims", "findings"), ("fold", "charts")
    drawing: dict[str, object] = {"style": assets(styles, ".css"), "script": assets(scripts, ".js")}
    drawing |= {"charts": charts, "vega": vega() if any(charts.values()) else ""}
    told: dict[str, object] = {
        "published": published_words,
        "beside": beside,
        "deciding": deciding,
        "runs_of": runs_of,
        "facts": facts,
    }
    told |= {
        "panels": panels_of,
        "common": common,
        "exceptions": exceptions,
        "with_network": with_network,
        "decided_by": decided_by,
    }
    told |= {"tally": tally}
    words = {"verdicts": VERDICTS, "looks": LOOKS, "held": HELD, "count": count}
    return made.get_template(template).render(page=page, found=page.found, **drawing, **told, **words)
