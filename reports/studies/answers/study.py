"""What reports hold of answers: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.answers.section import ANSWERS, answers
from reports.studies.answers.tables import ANSWER_TABLES

STUDY: Final = StudyReport(
    ANSWER_TABLES,
    ReportSection("answers", "Answers to the training task", answers, ANSWERS),
    (
        Method(
            ("answers",),
            "Answers",
            "answers",
            "The model was asked {questions} held-out texts of its training at the most, each to be answered in one "
            "of two words.",
        ),
        Method(
            ("flows",),
            "Attention, rollout and flow",
            "answers",
            "For {texts} of the questions, of {shortest} to {longest} words, attention, rollout and flow from the "
            "answer to the words were compared with blanking each word out and with gradients (Abnar and Zuidema "
            "2020).",
        ),
        Method(
            ("one_head",),
            "One head a layer",
            "answers",
            "{one_head} of the questions were asked again with one head of a layer left, each in turn (Michel et al. "
            "2019).",
        ),
    ),
)
