"""The report of a run: its sections, written as one self-contained HTML page and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np
import pandas as pd

from reports.blocks.block import Block, Code, Fold, Heading, Paragraph, Points, Raw, Section, TableBlock, Terms
from reports.blocks.page import Page, columns_fold, write_page
from reports.drawing.charts import begin_vega
from reports.formats import MISSING, count, day
from reports.heads.attention import attention_view
from reports.heads.card_parts import CardSource
from reports.heads.examples import example_blocks
from reports.heads.grid import head_grid
from reports.measures.registry import measures_of, tables_of, unread_tables
from reports.measures.reported import Reported
from reports.notebook.run import Run
from reports.page.methods import coverage_tables, methods, provenance_facts
from reports.page.run_findings import run_findings
from reports.page.short import short_blocks
from reports.page.summary import Opening, opening
from reports.progress import Step, each, silent
from reports.run.replacing import replacing
from reports.scores.best_heads import (
    CLASSIFIER,
    GLOBAL,
    BestHead,
    best_heads,
    best_rows,
    layer_attention,
    page_scores,
    probes,
)
from reports.scores.best_table import best_shown, every_head, trained_shown
from reports.scores.controls import ComparedBaseline, baseline_table, run_baselines
from reports.scores.glossary import LIMITS, MAPS_TEXT, MEANING
from reports.scores.verdicts import Verdicts

BEST: Final = (
    "For each label and direction the head selected on the selection split, evaluated on the report split: significant "
    "ones first, those with few documents (⚠) last. All columns have the codes of labels and what else was measured."
)

TRAINED: Final = (
    "Logistic regression on a pair’s two attention values in one head, fitted on the selection split; balanced "
    "accuracy on pairs, so chance is 50. The control task has the same inputs and random labels."
)

MEASURES, ABOUT = "Measures", "About"
"Links on top that lead to several sections."

UNCONTROLLED: Final = (
    "This run had no controls: significant means above the baselines only. A model without knowledge might do as well. "
    "Controls are asked for in the config’s table [controls]."
)

CONTROLLED: Final = (
    "A significant head is above all of these but the table of words and distances and the rules of grammar, which are "
    "compared apart. Controls of this run: {}. Each counts by the accuracy that the best heads of 95 % of such models "
    "stay below, shuffled word order by its mean."
)


@dataclass(frozen=True)
class PageSource:
    """What several sections of a page read."""

    run: Run
    scores: pd.DataFrame
    "Those that the page shows, at least one row."
    left_out: Sequence[str]
    "What the page therefore leaves out, in sentences."
    best: Mapping[str, Sequence[BestHead]]
    "Probe -> its best heads; no probe without any."
    verdicts: Verdicts
    baselines: Sequence[ComparedBaseline]

    @classmethod
    def of(cls, run: Run) -> Self:
        """Read a run; ValueError says that it has no scores."""
        scores, left_out = page_scores(run.scores)
        if scores.empty:
            path = run.folder / "scores.parquet"
            raise ValueError(f"{path}: no rows, so there is nothing to report; check run.json's notes")
        best = {probe: rows for probe in probes(scores) if (rows := best_heads(scores, probe))}
        return cls(run, scores, left_out, best, run.verdicts, run_baselines(scores, run.record, run.settings))

    @property
    def maps(self) -> str:
        """What was read of the heads, a key of `reports.scores.glossary.MAPS`."""
        return str(self.scores["maps"].iloc[0])


def write_report(run_folder: Path, step: Step = silent) -> Path:
    """Write report/index.html and report/report.md from the numbers in `run_folder`.

    Returns the path of index.html; `step` is told how far it is. Everything is built beside its place and renamed:
    where anything fails, an older report stays as it was. Raises FileNotFoundError or ValueError where the folder is no
    run folder (`Run.open`).
    """
    begin_vega()
    run = Run.open(Path(run_folder))
    page, target = run_page(run, step), run.folder / "report"
    with replacing(target) as unfinished:
        write_page(unfinished, page, step)
    return target / "index.html"


def run_page(run: Run, step: Step = silent) -> Page:
    """Return the whole page of a run."""
    source, record = PageSource.of(run), run.record
    corpora = {split: corpus.name or MISSING for split, corpus in record.corpora.items()}
    splits = {"select": "selected on", "report": "evaluated on"}
    byline = [(splits.get(split, split), name) for split, name in corpora.items()]
    byline += [("maps", source.maps)] * (source.maps in MAPS_TEXT)
    model = record.model.title or str(source.scores["model"].iloc[0])
    first = opening(source.best, run, source.verdicts, source.baselines)
    sections = tuple(_sections(source, first, step))
    return Page(
        title=f"Attention heads of {model} on {corpora.get('report', 'the report split')}",
        sections=sections,
        byline=(*byline, day(record.started), ("run", run.name)),
        version=record.headscope or "",
        assets=("opening", "role_marks"),
        short=tuple(short_blocks(first, run, source.verdicts, source.baselines, sections)),
    )


def _sections(source: PageSource, first: Opening, step: Step) -> Iterator[Section]:
    """Yield the sections of a page in their order."""
    run, cards, measured = source.run, CardSource(source.run), measures_of(source.run)
    yield Section("opening", "Summary", [Raw("opening", first)])
    maps = [one for measure in measured for one in measure.maps(run) if np.isfinite(one.values).any()]
    if (grid := head_grid(cards, step, [one.card for one in measured], maps)) is not None:
        lines = every_head(cards.main_rows, source.verdicts.rule)
        listed = TableBlock(lines, caption=False, sorts=True, filter="heads", wraps=True)
        yield Section(
            "heads", "All heads", [Raw("heads", grid), Fold(f"All {count(len(lines))} heads as a list", [listed])]
        )
    told = {one: blocks for one in each("page: measures", measured, step) if (blocks := tuple(one.page(run)))}
    yield from _measured(told, first=True)
    if (shown := attention_view(cards)) is not None:
        yield Section("attention", "Examples", [Raw("attention", shown)])
    yield Section("best", "Best heads", tuple(_best(source)))
    yield from _measured(told, first=False)
    if findings := tuple(run_findings(run)):
        yield Section("run_findings", "Published findings", findings, MEASURES)
    if shown is None:
        yield Section("examples", "Examples", tuple(example_blocks(run.examples, source.best)))
    yield Section("controls", "Baselines and controls", tuple(_controls(source)))
    yield Section("dropped", "Coverage of the data", tuple(_coverage(source)), ABOUT, folded=True)
    yield Section("meaning", "Glossary", tuple(_glossary(run)), ABOUT, folded=True)
    yield Section("methods", "Methods", tuple(_methods(source)), ABOUT, folded=True)
    yield Section("provenance", "Provenance", tuple(_provenance(source)), ABOUT, folded=True)


def _measured(measured: Mapping[type[Reported], tuple[Block, ...]], *, first: bool) -> Iterator[Section]:
    """Yield the sections of measures, of those that stand first or of the others."""
    for measure, blocks in measured.items():
        if (measure.place < 0) == first:
            yield Section(measure.anchor or measure.name, measure.title, blocks, MEASURES)


def _best(source: PageSource) -> Iterator[Block]:
    yield Paragraph(BEST)
    if source.maps in MAPS_TEXT:
        yield Paragraph(MAPS_TEXT[source.maps])
    yield Raw("rivals_legend", None)
    layers = GLOBAL in layer_attention(source.scores).values()  # and local ones, or there are none
    for place, (probe, rows) in enumerate(sorted(source.best.items(), key=lambda one: one[0] == CLASSIFIER), 1):
        yield Heading(probe)
        if probe == CLASSIFIER:
            yield Paragraph(TRAINED)
            shown = trained_shown(probe, rows)
        else:
            significant_first = sorted(rows, key=lambda row: not row.grade)
            shown = best_shown(probe, significant_first, source.verdicts.rule, layers=layers)
        yield TableBlock(shown, caption=False, sorts=True, filter=str(place), wraps=probe != CLASSIFIER)


def _controls(source: PageSource) -> Iterator[Block]:
    names = ", ".join(one.name for one in source.baselines if one.is_control)
    yield Paragraph(CONTROLLED.format(names) if names else UNCONTROLLED)
    if source.baselines:
        yield TableBlock(baseline_table(source.baselines), caption=False)


def _coverage(source: PageSource) -> Iterator[Block]:
    yield from coverage_tables(source.run.record)
    if unscored := [row for rows in source.best.values() for row in rows if row.n == 0]:
        title = f"Labels and directions with nothing to score or no head to select: {len(unscored)}"
        yield Fold(title, [Points([f"{row.probe}: {row.label} ({row.variant})" for row in unscored])])


def _glossary(run: Run) -> Iterator[Block]:
    yield Terms(MEANING.items(), folded=False)
    yield Heading("Limits")
    yield Points(LIMITS)
    yield columns_fold(tables_of(run))


def _methods(source: PageSource) -> Iterator[Block]:
    run = source.run
    yield Paragraph("What this run did, with its own settings: text for the methods section of a paper.", note=True)
    told = methods(run, run.settings, best_rows(source.best), source.baselines, source.verdicts)
    yield Terms(told, folded=False)
    yield Heading("Reproduce this run")
    if command := run.record.command:
        yield Paragraph("This command made the run:")
        yield Code(" ".join(command.splitlines()))
    first = "Or, from" if command else "The command that started this run is not recorded. From"
    yield Paragraph(f"{first} the config at the end of this page, which is in the run folder with all defaults:")
    yield Code("headscope run config.toml --out elsewhere")


def _provenance(source: PageSource) -> Iterator[Block]:
    run = source.run
    yield provenance_facts(run, source.maps)
    if notes := [*source.left_out, *unread_tables(run.folder), *run.record.notes]:
        yield Heading("Notes")
        yield Points(notes)
    yield Fold("config.toml, defaults included", [Code(run.config)])
