"""What pages of selected heads share: the columns of their tables, a label in words, and the terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from reports.formats import percent, signed
from reports.scores.plain_names import task
from reports.tables.cells import Cell
from reports.tables.column import Column
from reports.tables.grades import GRADES, STABLE
from reports.tables.marks import FEW_CLUSTERS
from reports.tables.scores import SCORES
from reports.tables.shared_columns import FRACTIONS, difference, ends, fraction, text, whole

STRONGEST: Final[tuple[Column, ...]] = (
    text("strongest", "Strongest of baselines, controls, lexical table and rules of grammar; empty without any."),
    fraction("strongest_accuracy", "Accuracy of that baseline on the same words; missing without one."),
)
"The strongest baseline of a head."

SELECTED: Final[tuple[Column, ...]] = (
    replace(SCORES["name"], meaning="Head selected on the selection split, as layer-head counted from 1."),
    SCORES["n"],
    SCORES["effective_clusters"],
    replace(SCORES["accuracy"], title="recall"),
    *ends("ci", "accuracy", percent, FRACTIONS),
    *STRONGEST,
    difference("lead", "Accuracy of the head minus that of its strongest baseline; missing without one.", "lead"),
    *ends("lead", "the lead", signed),
)
"The selected head of a label and direction on the report split, beside its strongest baseline."

HIGHEST: Final[tuple[Column, ...]] = (
    whole("highest", f"Highest stable grade that any head has for this label and direction, 0 to {len(GRADES) - 1}."),
    text("highest_heads", "Heads with that grade, the most accurate first; empty where no head has a stable grade."),
)
"The heads with the highest grade, whichever was selected."

TERMS: Final = {
    "Selected head": "The best head for the label and direction on the selection split, evaluated on the report split "
    "(held out).",
    "Recall": "Accuracy: the share of scored words whose most attended candidate is correct, with its 95 % interval.",
    "Strongest baseline": "The most accurate of baselines, controls, lexical table and rules of grammar on the same "
    "words of the report split, which never favours the head. The margin over it is recall minus its accuracy, with "
    "the 95 % interval of the paired difference. On pages of runs margins leave the lexical table and the rules out, "
    "and differ.",
    "Grade": "Which baselines the head significantly exceeds by the margin of [verdict], corrected for all heads and "
    "labels of the run: 1 baselines of position and controls, 2 the lexical table too, 3 the rules of grammar too. Not "
    "available where there is no such baseline.",
    "Verdict": "Yes: some head has a grade. No: every head’s lead over baselines of position and controls lies below "
    "the margin of [verdict]. Undecided: neither. The bound says which of these leads are excluded, for any head; the "
    "margin in the table is over all baselines, for the selected head.",
}
"Terms of a selected head and what they mean."

SPECIALISED: Final = (
    "A head is specialised where its accuracy in a linguistic role is significantly above every baseline of position "
    f"and control, in {100 * STABLE:g} % of redraws of the controls too (else borderline). "
)
"What is said of it beside a table."

CAUTION: Final = {
    "⚠": f"The effective number of documents is below {FEW_CLUSTERS}: intervals and tests are rough.",
}


def question_cell(row: Mapping[Any, Any]) -> Cell:
    """Return a label and direction as a cell: what a head does there in words, and its names beside it."""
    named = f"{row['probe']}: {row['label']}, {row['variant']}"
    return Cell(task(row["probe"], row["label"], row["variant"]), named)
