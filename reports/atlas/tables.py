"""The tables of an atlas: the selected head of every label of every run, and the same heads on the other corpora."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from reports.formats import signed
from reports.scores.selected_head import HIGHEST, SELECTED, STRONGEST
from reports.tables.grades import GRADES
from reports.tables.scores import SCORES
from reports.tables.shared_columns import CORPUS, MODEL, QUESTION, difference, ends, fraction, place, text, whole
from reports.tables.table import Table

ATLAS: Final = Table(
    "One row for each run, label and direction: the selected head on the report split, beside its strongest baseline.",
    ("run", "probe", "label", "variant"),
    (
        text("run", "Name of the run: its folder below runs/."),
        replace(MODEL, meaning="Model as the grid names it."),
        replace(CORPUS, meaning="Corpus as the grid names it."),
        place("seed", "Seed of the run: of its controls and its bootstrap."),
        *QUESTION,
        *SELECTED,
        *(SCORES[name] for name in ("p_adjusted", "grade", "verdict", "excluded")),
        *HIGHEST,
    ),
)

ACROSS: Final = Table(
    "One row for each model, seed, label, direction and ordered pair of corpora: the head selected on the selection "
    "split of the one, on the report split of the other.",
    ("model", "seed", "probe", "label", "variant", "selected_on", "evaluated_on"),
    (
        replace(MODEL, meaning="Model as the grid names it."),
        place("seed", "Seed of both runs."),
        *QUESTION,
        text("selected_on", "Corpus, as the grid names it, on whose selection split the head was selected."),
        text("evaluated_on", "Corpus, as the grid names it, whose report split all accuracies are from."),
        replace(SCORES["name"], meaning="Head selected on the first corpus, as layer-head counted from 1."),
        SCORES["n"],
        SCORES["effective_clusters"],
        replace(SCORES["accuracy"], title="recall", interval=None),
        *STRONGEST,
        SCORES["grade"],
        whole("home_grade", f"Grade of the same head on the report split of the first corpus, 0 to {len(GRADES) - 1}."),
        text("own_name", "Head selected on the second corpus itself."),
        fraction("own_accuracy", "Accuracy of that head on the same words."),
        whole("own_grade", f"Grade of that head, 0 to {len(GRADES) - 1}."),
        difference("difference", "Accuracy minus that of the second corpus's own head.", "difference"),
        *ends("difference", "that difference, paired by document", signed),
        whole("graded_heads", "Heads of the model that have a grade for the label on the second corpus."),
        whole("others", "Other heads that are specialised on the first corpus, in any label."),
        whole("others_graded", "How many of these have a grade for this label on the second corpus."),
    ),
)

ATLAS_TABLES: Final[Mapping[str, Table]] = {"atlas": ATLAS, "across": ACROSS}
"Name of the files -> what they must hold."
