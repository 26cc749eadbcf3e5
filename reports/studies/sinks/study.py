"""What reports hold of sinks: a table, which cards of heads and the first screen show, and methods in words."""

from __future__ import annotations

from typing import Final

from reports.sections.study_report import Method, StudyReport
from reports.studies.sinks.tables import SINK_TABLES

STUDY: Final = StudyReport(
    SINK_TABLES,
    methods=(
        Method(
            ("sinks",),
            "Sinks",
            "sinks",
            "A head is a sink if special tokens get at least half of the attention of words, over {texts} sentences of "
            "the report split at the most. What it writes is the length of its weighted values (Kobayashi et al. 2020, "
            "section 3.1). It writes little if attention to special tokens writes less than half of what as much "
            "attention to words does, and else it spreads what special tokens hold to all words. Both limits are ours.",
        ),
    ),
)
