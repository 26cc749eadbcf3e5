"""The sections of a page that report what was measured beside scores: those of studies, and three more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reports.blocks.block import Section
from reports.heads.attention import attention_view
from reports.heads.grid import head_grid
from reports.measures.registry import measures
from reports.page.run_findings import run_findings
from reports.progress import Step, each, silent
from reports.run.folder import RunFolder
from reports.sections.report_section import FilledSection, ReportSection
from reports.studies.registry import STUDY_REPORTS

SECTIONS: Final = (
    ReportSection("heads", "All heads", head_grid, first=True, by_head=True),
    ReportSection("attention", "Examples", attention_view, first=True),
    *(study.section for study in STUDY_REPORTS if study.section is not None),
    ReportSection("run_findings", "Published findings", run_findings),
)
"In the order of the page."


def sections(run: RunFolder, step: Step = silent) -> Iterator[FilledSection | Section]:
    """Yield what a page tells of a run beside scores."""
    for section in each("page: sections", SECTIONS, step):
        found = section.gather(run, step) if section.by_head else section.gather(run)
        if found is not None:
            yield FilledSection(section, found)
    for measure in each("page: measures", measures(), step):
        if blocks := tuple(measure.page(run)):
            yield Section(measure.anchor or measure.name, measure.title, blocks)
