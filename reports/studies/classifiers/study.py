"""What reports hold of classifiers and parsers: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.classifiers.figure import save_classifiers
from reports.studies.classifiers.section import classifiers
from reports.studies.classifiers.tables import CLASSIFIER_TABLES
from reports.studies.classifiers.terms import CLASSIFIERS

STUDY: Final = StudyReport(
    CLASSIFIER_TABLES,
    ReportSection("classifiers", "Trained classifiers of heads", classifiers, CLASSIFIERS, save=save_classifiers),
    (
        Method(
            ("classifiers", "layers"),
            "Classifiers",
            "classifiers",
            "For the tasks {tasks}, classifiers were trained on the output of every head at words, on {examples} "
            "examples a task and split at the most, beside control tasks (Hewitt and Liang 2019) and with minimum "
            "description length (Voita and Titov 2020); on heads of a model with randomly initialised weights: "
            "{random}.",
        ),
        Method(
            ("pairs",),
            "Pairs of words",
            "classifiers",
            "Classifiers of every head learned whether two words are related, from its attention between them and from "
            "its outputs, on {examples} examples a task and split at the most. Heads were selected on one split and "
            "tested on the other against the embedding, paired by documents, with Holm's correction for all heads.",
        ),
        Method(
            ("codes",),
            "Codes, drawn again",
            "classifiers",
            "Labels of the selection split (tasks: {coded}) were coded {codes} times more, each time of other "
            "examples, in another order of documents and beside another control task, to estimate what part of a "
            "compression is chance.",
        ),
        Method(
            ("parser",),
            "Parsers",
            "classifiers",
            "Parsers were trained on the attention of all heads at once, on {sentences} sentences a split at the most.",
        ),
    ),
)
