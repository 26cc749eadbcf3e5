"""The page of the claims: what textbooks say, what was measured, and which verdict the interval gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from reports.blocks.block import Block, Charts, Code, Facts, Fold, Heading, Paragraph, Points, Section, TableBlock
from reports.blocks.made import made_facts
from reports.blocks.page import Page, columns_fold, write_page
from reports.claims.charts import claim_charts
from reports.claims.record import RECORD as RECORD
from reports.claims.record import ClaimRecord, ordered, read_claims
from reports.claims.tables import CLAIM_TABLES, FAILS, HOLDS, OPEN
from reports.claims.text_tables import numbers, statements, summary, uncounted
from reports.formats import day
from reports.progress import Step, each, silent

TEXTBOOKS = "Textbook claims about attention heads"

HEADINGS = {
    TEXTBOOKS: ("heads", "compute", "loop", "scaling", "emergence", "averaging", "mixing", "recurrence"),
    "Claims about attention heads in training": ("syntax", "patterns", "subnetworks"),
    "Claims about the heads of decoders": ("induction",),
    "Claims about one encoder of several languages": ("language-trees",),
}
"Heading of a page -> the claims that are its sections, in their order, where it has no others."

ORDER = tuple(claim for claims in HEADINGS.values() for claim in claims)

RULE = (
    "A statement holds where the whole 95 % interval of its number lies in the range of the statement; it does not "
    "hold where the whole interval lies outside, and otherwise it is not decided."
)

_COUNTED = {HOLDS: "held", FAILS: "did not", OPEN: "could not be decided"}


def write_claims_page(folder: Path, step: Step = silent) -> Path:
    """Write index.html and report.md into `folder` from the claims in its folders; return the page's path.

    `step` is told how far it is. Where anything fails, an older page stays as it was. Raises FileNotFoundError where
    there is no claim, ValueError where one cannot be understood.
    """
    folder = Path(folder)
    claims = ordered(read_claims(folder), ORDER)
    if not claims:
        raise FileNotFoundError(f"{folder}: no {RECORD} in any of its folders; 'headscope claim' makes them")
    for page in each("page: texts", (claims_page(claims),), step):
        write_page(folder, page)
    return folder / "index.html"


def claims_page(claims: Sequence[ClaimRecord]) -> Page:
    """Return the page of claims: their verdicts, then a section each."""
    version = ", ".join(sorted({str(one.record.get("headscope", "")) for one in claims} - {""}))
    newest = max((str(one.record.get("started", "")) for one in claims), default="")
    return Page(
        title=f"{heading(claims)}, measured",
        sections=(
            Section("summary", "Verdicts", tuple(_summary(claims))),
            *(Section(one.name, one.title, tuple(_claim(one))) for one in claims),
            Section("columns", "Columns", (columns_fold(CLAIM_TABLES, "a claim’s record"),)),
        ),
        byline=(day(newest), ("headscope", version)),
        kicker="headscope claims",
        version=version,
    )


def heading(claims: Sequence[ClaimRecord]) -> str:
    """Return what the claims are about."""
    asked = {one.claim for one in claims}
    return next((heading for heading, claims in HEADINGS.items() if asked <= {*claims}), TEXTBOOKS)


def _summary(claims: Sequence[ClaimRecord]) -> Iterator[Block]:
    yield Paragraph(_lead(claims))
    yield Paragraph(f"{RULE} {_beforehand(claims)}")
    yield TableBlock(summary(claims), caption=False)
    apart = uncounted(claims)
    if apart.rows:
        yield Heading(apart.title)
        yield TableBlock(apart, caption=False)


def _lead(claims: Sequence[ClaimRecord]) -> str:
    """Say how many statements hold."""
    verdicts = [statement.verdict for one in claims for statement in one.counted]
    others = sum(len(one.uncounted) for one in claims)
    apart = f" {others} more hold by arithmetic or are numbers alone, and are not counted." if others else ""
    parts = [f"{verdicts.count(verdict)} {said}" for verdict, said in _COUNTED.items() if verdict in verdicts]
    listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts) or "none"
    return (
        f"{len(claims)} claim{'s' if len(claims) != 1 else ''}, {len(verdicts)} "
        f"statement{'s' if len(verdicts) != 1 else ''}: {listed}.{apart}"
    )


def _beforehand(claims: Sequence[ClaimRecord]) -> str:
    """Say when the ranges were written down, and which of them changed after first numbers had been seen."""
    revised = [said for one in claims if (said := str(one.record.get("revised", "")))]
    if not revised:
        return "The range was written down before anything was measured."
    return " ".join(("The ranges were written down before anything was measured, with these exceptions.", *revised))


def _claim(claim: ClaimRecord) -> Iterator[Block]:
    """Yield the section of one claim."""
    yield Paragraph(claim.sentence)
    yield Paragraph(f"After {claim.source}", note=True)
    yield TableBlock(statements(claim), caption=False)
    if claim.uncounted:
        yield TableBlock(uncounted([claim]))
    yield from map(Paragraph, claim.noticed)
    yield Heading("How it was measured")
    yield from map(Paragraph, claim.about)
    if charts := claim_charts(claim.measures):
        yield Charts(charts)
    yield Fold("All numbers", [TableBlock(numbers(claim), caption=False, sorts=True)])
    yield Heading("Limits")
    yield Points(claim.limits)
    yield Fold("Config, machine and commit", [Facts(made_facts(claim.record, _command(claim))), Code(claim.config)])


def _command(claim: ClaimRecord) -> str | None:
    changed = "".join(f" --set {change}" for change in claim.record.get("changes", ()))
    config = claim.record.get("config_file")
    return f"headscope claim {config}{changed}" if config else None
