"""The table of an atlas: the selected head of every label and direction of every run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from reports.scores.selected_head import HIGHEST, SELECTED
from reports.tables.scores import SCORES
from reports.tables.shared_columns import CORPUS, MODEL, QUESTION, place, text
from reports.tables.table import Table

NAME: Final = "atlas"
"Of the files of the table, without their endings."

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

ATLAS_TABLES: Final[Mapping[str, Table]] = {NAME: ATLAS}
"Name of the files -> what they must hold."
