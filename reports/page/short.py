"""The short page of a run, which is its Markdown: which heads do what, and what that rests on, on one screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from reports.blocks.block import Block, Charts, Paragraph, Section, TableBlock
from reports.blocks.short import short_form
from reports.formats import names
from reports.measures.registry import measures_of
from reports.page.summary import STABILITY, Opening
from reports.run.folder import RunFolder
from reports.scores.best_heads import leaders, run_best_heads
from reports.scores.controls import ComparedBaseline
from reports.scores.verdicts import Verdicts

if TYPE_CHECKING:
    from reports.drawing.charts import Chart

NAMED: Final = 5
"Baselines, and sections that are not shown, that it names."


def short_blocks(
    first: Opening,
    run: RunFolder,
    verdicts: Verdicts,
    baselines: Sequence[ComparedBaseline],
    sections: Sequence[Section],
) -> Iterator[Block]:
    """Yield the blocks of the short page of a run whose page has `sections` and opens with `first`."""
    named = [one.name for one in baselines if not one.is_control]
    compared = f"Baselines: {names(named, NAMED)}. {first.controls}" if named else first.controls
    others = names([section.title for section in sections if section.name not in ("opening", "best")], NAMED)
    return short_form(
        [Paragraph(first.headline), TableBlock(first.table, caption=False)],
        [
            dict(first.uncertainty).get(STABILITY, ""),
            compared,
            *(" ".join(measure.results(run)) for measure in measures_of(run)),
            " ".join((first.effect, *first.first_effects[1:])),
            first.scope,
        ],
        " ".join((run.record.command or "headscope run config.toml").splitlines()),
        f"other labels and directions, and sections such as {others}; scores.parquet has every head",
        _effect_charts(run, verdicts, sections),
        recorded=False,
    )


def answers_figure(run: RunFolder) -> Chart:
    """Return the rows of its table as a figure, which only a published page has."""
    from reports.drawing.charts import Chart
    from reports.notebook.run_charts import MARKS, beside_baselines

    return Chart("Heads beside baselines", MARKS, beside_baselines(leaders(run_best_heads(run.scores))))


def _effect_charts(run: RunFolder, verdicts: Verdicts, sections: Sequence[Section]) -> Sequence[Chart]:
    """Return the first chart of the measures that say something of causal effects, if any."""
    told = {measure.anchor or measure.name for measure in measures_of(run) if any(measure.effects(run, verdicts))}
    blocks = (block for section in sections if section.name in told for block in section.blocks)
    return next((block.charts[:1] for block in blocks if isinstance(block, Charts)), ())
