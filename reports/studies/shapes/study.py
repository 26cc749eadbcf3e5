"""What reports hold of attention statistics: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.shapes.charts import save_shapes, shape_charts
from reports.studies.shapes.section import head_shapes
from reports.studies.shapes.tables import SHAPE_TABLES
from reports.studies.shapes.terms import SHAPES

STUDY: Final = StudyReport(
    SHAPE_TABLES,
    ReportSection("shapes", "Attention statistics", head_shapes, SHAPES, shape_charts, save_shapes),
    (
        Method(
            ("shapes",),
            "Attention statistics",
            "shapes",
            "Entropy, attention by distance and kind of token, sieves and classes of every map were measured in the "
            "pass in which heads are scored. A head has the bias of a sieve whose score is significantly above "
            "{threshold} (Pande et al. 2021).",
        ),
    ),
)
