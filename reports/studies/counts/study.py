"""What reports hold of counts: a table; no page shows it."""

from __future__ import annotations

from typing import Final

from reports.sections.study_report import StudyReport
from reports.studies.counts.tables import COUNT_TABLES

STUDY: Final = StudyReport(COUNT_TABLES)
