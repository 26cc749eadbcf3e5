"""What reports hold of mixing: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.mixing.section import MIXING_TERMS, mixing
from reports.studies.mixing.tables import MIXING_TABLES

STUDY: Final = StudyReport(
    MIXING_TABLES,
    ReportSection("mixing", "Mixing by attention", mixing, MIXING_TERMS),
    (
        Method(
            ("mixing", "effective_attention", "effective_texts"),
            "Mixing by attention",
            "mixing",
            "On {texts} sentences of the report split and as many windows, at the most: effective attention (Brunner "
            "et al. 2020), mixing ratios of the attention block (Kobayashi et al. 2021), and the relative residual of "
            "the states in passes without skip connections or feed-forward nets (Dong et al. 2021). The linear maps "
            "that identify word pieces are fitted on as many texts of the selection split.",
        ),
    ),
)
