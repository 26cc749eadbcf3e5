"""Counts: the hits of every head by groups of texts, which a paired comparison of two runs needs of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from experiments.run.measure import Frames, Measure, Read
from reports.tables.shared_columns import QUESTION, place, run_table, whole
from reports.tables.table import Refuse

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes.scoring.tally import Question
    from probes.training.biography import Marks


def _check(frame: pd.DataFrame, refuse: Refuse) -> None:
    hits = frame[[column for column in frame.columns if column not in COUNTS.dtypes]]
    refuse(
        (hits.min(axis=1) < 0) | (hits.max(axis=1) > frame["n"] + 1e-3), "a head has fewer than 0 or more than n hits"
    )


COUNTS: Final = run_table(
    "One row for each label and direction of the report split and group of texts that has items of it. A further "
    "column for each head, such as 3-5, holds its hits among the n items, a tie of k candidates counting as 1 / k.",
    ("probe", "label", "variant", "group"),
    (
        *QUESTION,
        place("group", "Number of the group of texts; comparisons of runs go by groups."),
        whole("n", "Number of items that were scored in the group.", 1),
    ),
    _check,
    csv=False,
)


class CountsMeasure(Measure):
    """The hits of all heads on the report split, by question and group of clusters; every run keeps them."""

    name = "counts"
    place = 230
    tables = {"counts": COUNTS}

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return one row a question of the scores and group that has items of it; a column a head."""
        from probes.evidence.results import named_heads
        from probes.training.biography import marks

        found: dict[Question, Marks] = {}
        for part in read.parts:
            scored = set(zip(part.scores["probe"], part.scores["variant"], part.scores["label"], strict=True))
            found |= {name: mark for name, mark in marks(part.splits[1].heads).items() if name in scored}
        heads = pd.DataFrame(named_heads((run.model.layers, run.model.heads)))["name"].tolist()
        places = {question: np.flatnonzero(mark.n) for question, mark in found.items()}
        rows = [
            (*question, int(group), int(found[question].n[group]))
            for question, groups in places.items()
            for group in groups
        ]
        about = pd.DataFrame(rows, columns=["probe", "variant", "label", "group", "n"])
        hits = [mark.hits[places[question]] for question, mark in found.items()]
        counts = pd.DataFrame(np.concatenate(hits) if hits else None, columns=heads)
        return {"counts": pd.concat([about, counts], axis=1)}
