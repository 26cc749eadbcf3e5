"""What reports hold of sinks: a table, which cards of heads and the first screen show, and methods."""

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
            "Over {texts} sentences of the report split at the most. Where special tokens get at least half of the "
            "attention of words, a sink is of one of two kinds. It writes little where the values of special tokens, "
            "each weighted by the attention that it gets, are at most half as long as those of pieces of words "
            "(transformed values, Kobayashi et al. 2020, section 3.1). Otherwise it spreads what special tokens hold "
            "to all words. Both limits are ours.",
        ),
    ),
)
