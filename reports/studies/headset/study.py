"""What reports hold of relations between heads: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.headset.charts import headset_charts
from reports.studies.headset.figure import save_headset
from reports.studies.headset.section import heads_together
from reports.studies.headset.tables import HEADSET_TABLES
from reports.studies.headset.terms import HEADSET

STUDY: Final = StudyReport(
    HEADSET_TABLES,
    ReportSection("headset", "Relations between heads", heads_together, HEADSET, headset_charts, save_headset),
    (
        Method(
            ("distances", "subspaces", "contrasts", "places"),
            "Relations between heads",
            "heads",
            "All heads were compared by their maps and outputs on at most {texts} texts and {words} words of the "
            "report split; the similarity of heads of one layer was tested with {permutations} permutations of heads.",
        ),
        Method(
            ("ensembles",),
            "Ensembles",
            "heads",
            "In each scope (sentences, windows), for at most the {relations} labels with the most items, mean maps of "
            "up to {largest} heads were selected on at most {choice_texts} texts of the selection split, and evaluated "
            "on the report split (held out).",
        ),
    ),
)
