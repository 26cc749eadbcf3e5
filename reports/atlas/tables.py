"""The table of an atlas."""

from __future__ import annotations

from typing import Final

from reports.tables.shared_columns import place, text
from reports.tables.table import Table
from reports.targets.tables import SELECTED

FILE: Final = "atlas.parquet"

ATLAS: Final = Table(
    "One row for each run of an atlas, label and direction: the selected head on the report split and its baselines.",
    ("run", "probe", "label", "variant"),
    (
        text("run", "Folder of the run, below runs/."),
        text("model", "What the grid calls the model."),
        text("corpus", "What the grid calls the corpus."),
        place("seed", "Seed of the run."),
        *SELECTED,
    ),
)
