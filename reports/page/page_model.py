"""Everything that a report says, gathered once from a run folder; HTML and Markdown only lay it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from reports.blocks.block import Section
from reports.drawing.arcs import Diagram, diagrams
from reports.drawing.heatmaps import heat_map_data
from reports.heads.sinks import kinds_of_sinks
from reports.notebook.run import Run
from reports.page.columns import unread_tables
from reports.page.methods import Paragraph, methods
from reports.page.provenance import Provenance, provenance
from reports.page.sections import sections
from reports.page.summary import Opening, opening
from reports.progress import Step, each, silent
from reports.run.folder import RunFolder
from reports.scores.best_heads import CLASSIFIER, BestHead, best_heads, page_scores, probes
from reports.scores.best_shown import best_shown, trained_shown
from reports.scores.controls import BASELINE_COLUMNS, ComparedBaseline, run_baselines
from reports.scores.glossary import MAPS_TEXT
from reports.scores.layer_attention import alternates, layer_attention
from reports.scores.rankings import Rankings, rankings
from reports.scores.thresholds import RunThresholds, run_thresholds
from reports.scores.verdicts import Verdicts, find_all
from reports.tables.text_table import TextTable

HEADS_WITH_EXAMPLES = 6
"How many of a probe's best heads are shown at work."


@dataclass(frozen=True)
class ProbePart:
    """What a page shows of one probe."""

    name: str
    best: tuple[BestHead, ...]
    rule: RunThresholds
    heat: dict[str, Any]
    "Output of `heat_map_data`."
    examples: tuple[Diagram, ...]
    alternates: bool = False
    "Whether the model has local and global layers."

    @property
    def trained(self) -> bool:
        """Whether the rows are trained classifiers."""
        return self.name == CLASSIFIER

    @property
    def shown(self) -> TextTable:
        """The table of the best heads."""
        if self.trained:
            return trained_shown(self.name, self.best)
        return best_shown(self.name, self.best, self.rule, layers=self.alternates)


@dataclass(frozen=True)
class Contents:
    """All that a report says, in the order in which it says it."""

    run: RunFolder
    model: str
    maps: str
    "What was read of the heads, a key of `reports.scores.glossary.MAPS`."
    layers: int
    heads: int
    provenance: Provenance
    opening: Opening
    verdicts: Verdicts
    baselines: tuple[ComparedBaseline, ...]
    "The controls of the run, then its baselines."
    probes: tuple[ProbePart, ...]
    rankings: Rankings | None
    "How far metrics agree; None where the run did not compare them."
    sections: tuple[Section, ...]
    "What was measured beside scores."
    examples_total: int
    unscored: tuple[BestHead, ...]
    "Label-variant pairs with nothing to score or no head to choose."
    notes: tuple[str, ...]
    methods: tuple[Paragraph, ...]
    "What was done, in words."

    @property
    def maps_text(self) -> str:
        """How to read numbers that are not about attention weights; "" for those that are."""
        return MAPS_TEXT.get(self.maps, "")

    @property
    def about(self) -> str:
        """The model and the corpus of the report split, for titles."""
        return f"{self.model} on {self.provenance.corpora.get('report', 'the report split')}"

    @property
    def controls(self) -> tuple[ComparedBaseline, ...]:
        """The controls of the run."""
        return tuple(baseline for baseline in self.baselines if baseline.is_control)

    @property
    def controls_text(self) -> str:
        """What heads were compared with, in two sentences."""
        names = ", ".join(baseline.name for baseline in self.controls)
        if not names:
            return (
                "This run had no controls: grade 1 means above the baselines only. A model without knowledge might do "
                "as well. Controls are asked for in the config’s table [controls]."
            )
        return (
            "For grade 1 a head must lead all of these, but for the lexical table (grade 2) and the rules of grammar "
            "(grade 3). Controls of "
            f"this run: {names}. A control is represented by a head that is selected with the report split in view, "
            "which favours it."
        )

    @property
    def baseline_table(self) -> TextTable:
        """The controls, then the baselines."""
        return TextTable.of("Baselines and controls", BASELINE_COLUMNS, self.baselines)

    @property
    def shows_attention(self) -> bool:
        """Whether the HTML page shows every head on the example sentences, and so needs no drawings of some."""
        return any(section.name == "attention" for section in self.sections)

    @property
    def examples_shown(self) -> int:
        """Number of drawn sentences."""
        return sum(len(part.examples) for part in self.probes)


def gather(folder: Path, step: Step = silent) -> Contents:
    """Read the run folder and collect what its report says."""
    run = Run.open(folder)
    scores, left_out = _shown_scores(run)
    best, config, told = _best(scores), run.settings, tuple(sections(run, step))
    against = run_baselines(scores, run.record, config)
    verdicts = Verdicts(run_thresholds(run), find_all(scores), kinds_of_sinks(run))
    layers, heads, maps = int(scores["layer"].max()) + 1, int(scores["head"].max()) + 1, str(scores["maps"].iloc[0])
    return Contents(
        run=run,
        model=run.record.model.name or str(scores["model"].iloc[0]),
        maps=maps,
        layers=layers,
        heads=heads,
        provenance=provenance(run, maps),
        opening=opening(best, run, verdicts, layers * heads),
        verdicts=verdicts,
        baselines=against,
        probes=tuple(
            _probe_part(run, scores, probe, rows, verdicts.rule)
            for probe, rows in each("page: probes", tuple(best.items()), step)
        ),
        rankings=rankings(run),
        sections=told,
        examples_total=int(run.examples.groupby(["example"]).ngroups),
        unscored=tuple(row for rows in best.values() for row in rows if row.n == 0),
        notes=(*left_out, *unread_tables(run.folder), *run.record.notes),
        methods=methods(run, config, _of_untrained(best), against, verdicts),
    )


def _shown_scores(run: RunFolder) -> tuple[pd.DataFrame, list[str]]:
    """Return the scores that the page shows, at least one, and what it therefore leaves out."""
    scores, left_out = page_scores(run.scores)
    if scores.empty:
        raise ValueError(
            f"{run.folder / 'scores.parquet'}: no rows, so there is nothing to report; check run.json's notes"
        )
    return scores, left_out


def _best(scores: pd.DataFrame) -> dict[str, tuple[BestHead, ...]]:
    """Return the best heads of each probe that has any."""
    best = {probe: best_heads(scores, probe) for probe in probes(scores)}
    return {probe: rows for probe, rows in best.items() if rows}


def _of_untrained(best: Mapping[str, Sequence[BestHead]]) -> list[BestHead]:
    """Return the rows of all probes but the trained classifiers."""
    return [row for probe, rows in best.items() if probe != CLASSIFIER for row in rows]


def _probe_part(
    run: RunFolder, scores: pd.DataFrame, probe: str, rows: tuple[BestHead, ...], rule: RunThresholds
) -> ProbePart:
    drawn = tuple(diagrams(run.examples, rows, HEADS_WITH_EXAMPLES))
    heat = heat_map_data(scores, probe, rows, controlled=rule.controlled)
    return ProbePart(probe, rows, rule, heat, drawn, alternates(layer_attention(scores)))
