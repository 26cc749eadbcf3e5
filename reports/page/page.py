"""The report of a run: its sections, written as one self-contained HTML page and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from reports.blocks.block import Block, Code, Facts, Fold, Heading, Paragraph, Points, Raw, Section, TableBlock, Terms
from reports.blocks.columns import columns_fold
from reports.blocks.page import Page, write_page
from reports.page.columns import tables_of
from reports.page.page_model import Contents, gather
from reports.progress import Step, each, silent
from reports.run.replacing import replacing
from reports.scores.best_heads import FEW_CLUSTERS
from reports.scores.glossary import LIMITS, MEANING

BEST: Final = (
    "Each row has the head selected on the selection split and its percentages on the report split. The grade also "
    "names other heads with a grade, the most accurate first. Where no head has a grade, it gives the verdict on all "
    "heads (“any head”) and the leads that are excluded. Rows are sorted by the lower end of the margin’s interval; "
    f"rows with an effective number of documents below {FEW_CLUSTERS} (⚠) come last."
)

DISPUTES: Final = (
    "For each metric the labels on which its best head and the best head by accuracy are furthest apart: each leads by "
    "its own metric, and the smaller of both leads is the largest. Subtypes of a relation count as one. Here both "
    "heads are selected on the report split itself, to compare metrics; to quote a head, take the tables above."
)

TRAINED: Final = (
    "Logistic regression on a pair’s two attention values in one head, fitted on the selection split; balanced "
    "accuracy on pairs, so chance is 50. The control task has the same inputs and random labels."
)


def write_report(run_folder: Path, step: Step = silent) -> Path:
    """Write report/index.html and report/report.md from the numbers in `run_folder`.

    Returns the path of index.html; `step` is told how far it is. Everything is built beside its place and renamed:
    where anything fails, an older report stays as it was. Raises FileNotFoundError or ValueError where the folder is no
    run folder (`Run.open`).
    """
    contents = gather(Path(run_folder), step)
    target = contents.run.folder / "report"
    with replacing(target) as unfinished:
        for page in each("page: texts", (run_page(contents),), step):
            write_page(unfinished, page)
    return target / "index.html"


def run_page(contents: Contents) -> Page:
    """Return the whole page of a run."""
    record = contents.provenance
    splits = {"select": "selected on", "report": "evaluated on"}
    corpora = [(splits.get(split, split), name) for split, name in record.corpora.items()]
    maps = [("maps", contents.maps)] if contents.maps_text else []
    return Page(
        title=f"Attention heads of {contents.about}",
        sections=tuple(_sections(contents)),
        byline=(*corpora, *maps, record.date, ("run", contents.run.name)),
        version=contents.run.record.headscope or "",
        assets=("opening", "role_marks"),
    )


def _sections(contents: Contents) -> Iterator[Section]:
    """Yield the sections of a page in their order."""
    yield Section("opening", "Summary", [Raw("opening", contents)])
    yield from (section for section in contents.sections if section.first)
    yield Section("best", "Best heads", tuple(_best(contents)))
    yield Section("maps", "Heat maps", [Raw("maps", contents)])
    if contents.rankings is not None:
        yield Section("metrics", "Agreement of metrics", tuple(_metrics(contents)))
    yield from (section for section in contents.sections if not section.first)
    if not contents.shows_attention:
        yield Section("examples", "Examples", [Raw("examples", contents)])
    yield Section("controls", "Baselines and controls", tuple(_controls(contents)))
    yield Section("dropped", "Coverage of the data", tuple(_coverage(contents)))
    yield Section("meaning", "Glossary", tuple(_glossary(contents)))
    yield Section("methods", "Methods", tuple(_methods(contents)))
    yield Section("provenance", "Provenance", tuple(_provenance(contents)))


def _best(contents: Contents) -> Iterator[Block]:
    yield Paragraph(BEST)
    if contents.maps_text:
        yield Paragraph(contents.maps_text)
    yield Raw("rivals_legend", None)
    for place, part in enumerate(sorted(contents.probes, key=lambda one: one.trained), 1):
        yield Heading(part.name)
        if part.trained:
            yield Paragraph(TRAINED)
        yield TableBlock(part.shown, caption=False, sorts=True, filter=str(place))


def _metrics(contents: Contents) -> Iterator[Block]:
    rankings = contents.rankings
    assert rankings is not None
    yield Paragraph(
        " ".join((*rankings.sentences, *["The numbers of all metrics are percent."] * bool(rankings.pairs)))
    )
    if rankings.pairs:
        yield Terms(rankings.terms)
        yield TableBlock(rankings.pair_table)
        yield TableBlock(rankings.variant_table)
    if rankings.disputes:
        yield Heading("Largest disagreements of metrics")
        yield Paragraph(DISPUTES)
        yield TableBlock(rankings.dispute_table)


def _controls(contents: Contents) -> Iterator[Block]:
    yield Paragraph(contents.controls_text)
    if contents.baselines:
        yield TableBlock(contents.baseline_table, caption=False)


def _coverage(contents: Contents) -> Iterator[Block]:
    record = contents.provenance
    if record.scored:
        yield TableBlock(record.scored_table, caption=False)
    yield TableBlock(record.dropped_table) if record.dropped else Paragraph("Nothing was dropped.")
    if contents.unscored:
        title = f"Pairs with nothing to score or no head to select: {len(contents.unscored)}"
        yield Fold(title, [Points([f"{row.probe}: {row.label} ({row.variant})" for row in contents.unscored])])


def _glossary(contents: Contents) -> Iterator[Block]:
    yield Terms(MEANING, folded=False)
    yield Heading("Limits")
    yield Points(LIMITS)
    yield columns_fold(tables_of(contents.run))


def _methods(contents: Contents) -> Iterator[Block]:
    yield Paragraph("What this run did, with its own settings: text for the methods section of a paper.", note=True)
    yield Terms(contents.methods, folded=False)
    yield Heading("Reproduce this run")
    command = contents.provenance.command
    if command:
        yield Paragraph("This command made the run:")
        yield Code(" ".join(command.splitlines()))
    first = "Or, from" if command else "The command that started this run is not recorded. From"
    yield Paragraph(f"{first} the config at the end of this page, which is in the run folder with all defaults:")
    yield Code("headscope run config.toml --out elsewhere")


def _provenance(contents: Contents) -> Iterator[Block]:
    versions = ", ".join(f"{package} {version}" for package, version in contents.provenance.versions)
    yield Facts([*contents.provenance.facts, *[("versions", versions)] * bool(versions)])
    if contents.notes:
        yield Heading("Notes")
        yield Points(contents.notes)
    yield Fold("config.toml, defaults included", [Code(contents.run.config)])
