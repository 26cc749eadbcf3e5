"""The table of findings: what papers say, what was measured, and the verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.formats import plain
from reports.tables.shared_columns import NOT_NEGATIVE, number, text
from reports.tables.table import Table

VERDICTS: Final = (
    "reproduced",
    "weaker version holds",
    "differs",
    "not reproduced",
    "not measured",
    "not testable here",
)
"On a finding, in the order in which they are counted."

FINDINGS: Final = Table(
    "One row for each statement of a finding and model. Numbers are in `unit`, those that decide in `decides_unit`.",
    ("finding", "statement", "model"),
    (
        text("paper", "The paper, by authors and year."),
        text("where", "Where in the paper the finding stands."),
        text("finding", "Short name of the finding."),
        text("claim", "What the paper claims, in a sentence."),
        text("statement", "Short name of the statement, one part of the finding."),
        text("text", "The statement that can be tested, in a sentence."),
        text("original_model", "Model of the paper."),
        number("published", "Value that the paper reports; missing where it does not report one."),
        number("published_baseline", "Baseline that the paper reports; missing where it does not report one."),
        text("published_text", "What else the paper prints."),
        text("provenance", "How the published number was obtained, such as from the paper's text."),
        text("erratum", "What is known to be wrong in the paper's number; empty for nothing."),
        text("unit", "Unit of the published value and of ours."),
        number("ours", "Value that was measured; missing where nothing was measured.", None, "ours"),
        number("ours_low", "Lower end of the 95 % interval of our value."),
        number("ours_high", "Upper end of the 95 % interval of our value."),
        number("ours_baseline", "Baseline that was measured; missing where nothing was measured."),
        text("number", "Which number decides the statement."),
        number("decides", "Value of the number that decides; missing where nothing was measured.", None, "decides"),
        number("decides_low", "Lower end of the 95 % interval of the number that decides."),
        number("decides_high", "Upper end of the 95 % interval of the number that decides."),
        text("decides_unit", "Unit of the number that decides."),
        number(
            "n", "Number of items that it comes from; missing where nothing was measured.", NOT_NEGATIVE, write=plain
        ),
        text("rule", "Rule by which the number decides, in a sentence."),
        text("heads", "Heads that the number comes from; empty without one."),
        text("missing", "Why nothing was measured; empty where something was."),
        text("verdict", "Verdict on the statement."),
        text("verdict_of_finding", "Verdict on the finding as a whole.", VERDICTS),
        text("model", "Model that was measured."),
        text("runs", "Runs that the number comes from."),
    ),
)

FINDING_TABLES: Final[Mapping[str, Table]] = {"findings": FINDINGS}
