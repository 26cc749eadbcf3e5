"""What reports hold of deciles: two tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.deciles.section import DECILE_TERMS, decile_results
from reports.studies.deciles.tables import DECILE_TABLES

STUDY: Final = StudyReport(
    DECILE_TABLES,
    ReportSection("deciles", "All of a head's attention", decile_results, DECILE_TERMS),
    (
        Method(
            ("deciles", "descriptions"),
            "Deciles and descriptions",
            "deciles",
            "Attention between different words of a sentence was counted over the whole report split, head by head, in "
            "bins whose upper edge is an eighth above the lower one at most; deciles are put together from bins. A "
            "description is the rule (an offset up to 4, the syntactic head, the first or last word, the nearest word "
            "of a part of speech before or after) that names the most attended other word of the most words of the "
            "selection split, with rules of their own for at most three parts of speech. Its accuracy is that on the "
            "report split, beside the best offset, and a randomly initialised model on {random_texts} sentences a "
            "split.",
        ),
    ),
)
