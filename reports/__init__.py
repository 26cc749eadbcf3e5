"""Run folders and what is made from them: tables, figures, pages. Reads numbers only; runs no model."""

from reports.notebook.paper_figures import best_heads_figure, heat_map_figure
from reports.notebook.run import Run
from reports.page.page import write_report
from reports.run.sentence_attention import write_attention
from reports.studies.tables import write_studies
from reports.tables.run_files import (
    read_examples,
    read_scores,
    validate,
    write_behaviour,
    write_examples,
    write_metrics,
    write_scores,
)
from reports.tables.scores import BEHAVIOUR_COLUMNS, EXAMPLE_COLUMNS, SCORE_COLUMNS
from reports.view.view import write_view

__all__ = [
    "BEHAVIOUR_COLUMNS",
    "EXAMPLE_COLUMNS",
    "SCORE_COLUMNS",
    "Run",
    "best_heads_figure",
    "heat_map_figure",
    "read_examples",
    "read_scores",
    "validate",
    "write_attention",
    "write_behaviour",
    "write_examples",
    "write_metrics",
    "write_report",
    "write_scores",
    "write_studies",
    "write_view",
]
