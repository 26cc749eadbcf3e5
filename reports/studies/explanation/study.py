"""What reports hold of attention as explanation: a table, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.explanation.section import EXPLANATION_TERMS, explanation
from reports.studies.explanation.tables import EXPLANATION_TABLES

STUDY: Final = StudyReport(
    EXPLANATION_TABLES,
    ReportSection("explanation", "Attention as explanation", explanation, EXPLANATION_TERMS),
    (
        Method(
            ("explanation", "explanation_ranks"),
            "Attention as explanation",
            "explanation",
            "{classifiers} classifiers with tanh attention (Bahdanau et al. 2015) were trained on the states of the "
            "last layer, each of {sentences} sentences of the grammar (seed {seed}) whose verb is masked, to decide on "
            "the number of the main subject, and measured on half as many others: attention permuted and adversarial "
            "(Jain and Wallace 2019), pieces erased (Serrano and Smith 2019), and attention as the guide of a network "
            "without context (Wiegreffe and Pinter 2019). Attention is ranked beside gradients at the embeddings, with "
            "attention held, and beside the change of the output where a piece is not read (Kendall’s tau).",
        ),
    ),
)
