"""The page of the claims: what textbooks say, what was measured, and which verdict the interval gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reports.claims.charts import claim_charts
from reports.claims.figures import save_claim_figure
from reports.claims.record import RECORD as RECORD
from reports.claims.record import ClaimRecord, ordered, read_claims
from reports.claims.tables import CLAIM_TABLES, FAILS, HOLDS, OPEN
from reports.claims.text_tables import numbers, statements, summary, uncounted
from reports.drawing.charts import vega
from reports.formats import count, day, duration
from reports.progress import Step, each, silent
from reports.run.replacing import replace_text, replacing
from reports.templates.environment import asset, assets, environment

TEXTBOOKS = "Textbook claims about attention heads"

HEADINGS = {
    TEXTBOOKS: ("heads", "compute", "loop", "scaling", "emergence", "averaging", "mixing", "recurrence"),
    "Claims about attention heads in training": ("syntax", "patterns", "subnetworks"),
    "Claims about the heads of decoders": ("induction",),
    "Claims about one encoder of several languages": ("language-trees",),
}
"Heading of a page -> the claims that are its sections, in their order, where it has no others."

ORDER = tuple(claim for claims in HEADINGS.values() for claim in claims)


@dataclass(frozen=True)
class ClaimsPage:
    """Everything that the page shows."""

    claims: list[ClaimRecord]

    @property
    def version(self) -> str:
        """The version of headscope that measured the claims; several where they differ."""
        return ", ".join(sorted({str(one.record.get("headscope", "")) for one in self.claims} - {""}))

    @property
    def date(self) -> str:
        """The day of the newest claim."""
        return day(max((str(one.record.get("started", "")) for one in self.claims), default=""))

    @property
    def heading(self) -> str:
        """What the claims are about."""
        asked = {one.claim for one in self.claims}
        return next((heading for heading, claims in HEADINGS.items() if asked <= {*claims}), TEXTBOOKS)

    @property
    def lead(self) -> str:
        """How many statements hold, in a sentence."""
        verdicts = [statement.verdict for one in self.claims for statement in one.counted]
        others = sum(len(one.uncounted) for one in self.claims)
        apart = f" {others} more hold by arithmetic or are numbers alone, and are not counted." if others else ""
        parts = [f"{verdicts.count(verdict)} {said}" for verdict, said in _COUNTED.items() if verdict in verdicts]
        return (
            f"{len(self.claims)} claim{'s' if len(self.claims) != 1 else ''}, {len(verdicts)} "
            f"statement{'s' if len(verdicts) != 1 else ''}: {_listed(parts)}.{apart}"
        )

    @property
    def beforehand(self) -> str:
        """When the ranges were written down, and which of them changed after first numbers had been seen."""
        revised = [said for one in self.claims if (said := str(one.record.get("revised", "")))]
        if not revised:
            return "The range was written down before anything was measured."
        return " ".join(("The ranges were written down before anything was measured, with these exceptions.", *revised))


_COUNTED = {HOLDS: "held", FAILS: "did not", OPEN: "could not be decided"}


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else "none"


def write_claims_page(folder: Path, step: Step = silent) -> Path:
    """Write index.html, report.md and figures/ into `folder` from the claims in its folders; return the page's path.

    `step` is told how far it is. Everything is built beside its place: where anything fails, an older page stays as it
    was. Raises FileNotFoundError where there is no claim, ValueError where one cannot be understood.
    """
    folder = Path(folder)
    claims = ordered(read_claims(folder), ORDER)
    if not claims:
        raise FileNotFoundError(f"{folder}: no {RECORD} in any of its folders; 'headscope claim' makes them")
    page = ClaimsPage(claims)
    with replacing(folder / "figures") as unfinished:
        for claim in each("page: figures of claims", claims, step):
            if any(one.cells for one in claim.measures):
                save_claim_figure(claim.measures, claim.title, unfinished / claim.name)
        html, markdown = _rendered("claims.html.j2", page), _rendered("claims.md.j2", page)
    replace_text(folder / "report.md", re.sub(r"\n{3,}", "\n\n", markdown))
    return replace_text(folder / "index.html", html)


def facts(claim: ClaimRecord) -> list[tuple[str, str]]:
    """Return how a claim was measured, by name; what is unknown is left out."""
    record = claim.record
    machine = [record.get("platform"), f"{record['cores']} cores" if record.get("cores") else None]
    memory = record.get("peak_memory_mb")
    changed = "".join(f" --set {change}" for change in record.get("changes", ()))
    known = {
        "command": f"headscope claim {record['config_file']}{changed}" if record.get("config_file") else None,
        "measured": day(record["started"]) if record.get("started") else None,
        "commit": record.get("git_commit"),
        "commits of parts": ", ".join(sorted({str(one)[:8] for one in record.get("commits", {}).values()} - {"None"})),
        "Python": record.get("python"),
        "versions": ", ".join(f"{name} {version}" for name, version in record.get("versions", {}).items()),
        "machine": ", ".join(part for part in machine if part),
        "threads": record.get("threads"),
        "peak memory": f"{count(memory)} MB" if memory else None,
        "wall time": duration(record["wall_seconds"]) if "wall_seconds" in record else None,
    }
    return [(name, str(value)) for name, value in known.items() if value not in (None, "")]


def _rendered(template: str, page: ClaimsPage) -> str:
    """Return the page as HTML that loads nothing from anywhere, or as Markdown."""
    html = template.endswith(".html.j2")
    made = environment(html=html)
    charts = {claim.name: claim_charts(claim.measures) for claim in page.claims} if html else {}
    parts = ("page", "charts", "sandbox", "claims")
    return made.get_template(template).render(
        page=page,
        version=page.version,
        charts=charts,
        style=assets(parts, ".css"),
        script=asset("charts.js"),
        vega=vega() if any(charts.values()) else "",
        columns=CLAIM_TABLES,
        facts=facts,
        summary=summary,
        uncounted=uncounted,
        statements=statements,
        numbers=numbers,
    )
