"""What reports hold of heads from few labels: a table, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.few_labels.figure import few_label_charts, save_few_labels
from reports.studies.few_labels.section import FEW_LABEL_TERMS, few_labels
from reports.studies.few_labels.tables import FEW_LABELS_TABLES

STUDY: Final = StudyReport(
    FEW_LABELS_TABLES,
    ReportSection(
        "few_labels", "Heads from few labels", few_labels, FEW_LABEL_TERMS, few_label_charts, save_few_labels
    ),
    (
        Method(
            ("few_labels",),
            "Heads from few labels",
            "few_labels",
            "For the {relations} labels with the most items {arcs} labelled arcs were drawn from the selection split, "
            "{draws} times. Selected from the same arcs: the best head, an ensemble of at most {largest} heads whose "
            "maps are averaged, the best head of a randomly initialised model, and the best rule that needs no labels. "
            "Learned from them: the most frequent offset, a lexical table of word forms and offsets, the nearest word "
            "of at most five part-of-speech tags. Intervals are percentiles over draws, each with resampled documents "
            "of the held-out text.",
        ),
    ),
)
