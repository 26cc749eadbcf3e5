"""The sections of a page that report what was measured beside scores."""

from __future__ import annotations

from collections.abc import Iterator

from reports.blocks.block import Paragraph, Raw, Section, TableBlock
from reports.heads.attention import attention_view
from reports.heads.grid import head_grid
from reports.measures.registry import measures
from reports.page.run_findings import run_findings
from reports.progress import Step, each, silent
from reports.run.folder import RunFolder


def sections(run: RunFolder, step: Step = silent) -> Iterator[Section]:
    """Yield what a page tells of a run beside scores."""
    if (grid := head_grid(run, step, [one.card for one in measures()])) is not None:
        yield Section("heads", "All heads", [Raw("heads", grid)], first=True)
    if (shown := attention_view(run)) is not None:
        yield Section("attention", "Examples", [Raw("attention", shown)], first=True)
    for measure in each("page: measures", measures(), step):
        if blocks := tuple(measure.page(run)):
            yield Section(measure.anchor or measure.name, measure.title, blocks)
    if (found := run_findings(run)) is not None:
        yield Section(
            "run_findings", "Published findings", [Paragraph(found.summary), TableBlock(found.shown, caption=False)]
        )
