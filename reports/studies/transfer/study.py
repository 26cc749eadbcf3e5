"""What reports hold of transfer: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.transfer.section import TRANSFER, transferred
from reports.studies.transfer.tables import TRANSFER_TABLES

STUDY: Final = StudyReport(
    TRANSFER_TABLES,
    ReportSection("transfer", "Transfer of the answer to other sentences", transferred, TRANSFER),
    (
        Method(
            ("transfer",),
            "Transfer",
            "transfer",
            "On at most {items} pairs of each behaviour ({behaviours}; seed {seed}), the output of a head at the "
            "masked verb was replaced by that at the verb of another sentence with the same answer, of one with the "
            "other answer, and by its mean (arXiv 2606.08292).",
        ),
    ),
)
