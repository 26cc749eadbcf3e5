"""What the terms of tables of selected heads mean, in sentences for a glossary."""

from __future__ import annotations

from typing import Final

from reports.scores.best_heads import FEW_CLUSTERS

HEAD_TERMS: Final = (
    (
        "Selected head",
        "The best head for the label and direction on the selection split, evaluated on the report split (held out).",
    ),
    (
        "Recall",
        "Accuracy: the share of scored words whose most attended candidate is correct, with its 95 % interval.",
    ),
    (
        "Strongest baseline",
        "The most accurate of baselines, controls, lexical table and rules of grammar on the same words: the strongest "
        "on the report split itself, which never favours the head. The margin over it is recall minus its accuracy, "
        "with the 95 % interval of the paired difference.",
    ),
    (
        "Grade",
        "Which baselines the head significantly exceeds by the margin of [verdict], corrected for all heads and labels "
        "of the run: 1 baselines of position and controls, 2 the lexical table too, 3 the rules of grammar too. Not "
        "available where there is no such baseline.",
    ),
    (
        "Verdict",
        "Yes: some head has a grade. No: every head’s lead over baselines of position and controls lies below the "
        "margin of [verdict]. Undecided: neither. The bound says which of these leads are excluded, for any head; the "
        "margin in the table is over all baselines, for the selected head.",
    ),
)
"Terms of a selected head, its baselines and its verdict."

FEW_DOCUMENTS: Final = (
    "⚠",
    f"The effective number of documents is below {FEW_CLUSTERS}: intervals and tests are rough.",
)
