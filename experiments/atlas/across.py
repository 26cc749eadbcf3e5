"""Heads across corpora: the head selected on one corpus, on the report split of another, beside that one's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Self

import numpy as np
import pandas as pd

from experiments.atlas.grid import GridRun
from experiments.targets.answers import strongest_baseline
from probes.evidence.contrast import paired_difference
from reports import Run
from reports.atlas.tables import ACROSS
from reports.scores.best_heads import CLASSIFIER, BestHead, page_scores

Question = tuple[str, str, str]
"Probe, label and variant."

QUESTION = ["probe", "label", "variant"]


@dataclass(frozen=True)
class ScoredRun:
    """What a run says of every head on its report split."""

    corpus: str
    rows: pd.DataFrame
    "By probe, label, variant and name of the head."
    selected: Mapping[Question, str]
    "The head selected on the run's own selection split."
    graded: Mapping[Question, int]
    "How many heads have a grade."
    counts: Mapping[Question, pd.DataFrame]
    "n and the hits of each head, by group of texts."

    @classmethod
    def of(cls, corpus: str, run: Run) -> Self:
        """Read a run; `corpus` is what the grid calls its corpus."""
        rows, _ = page_scores(run.scores)
        rows = rows[(rows["split"] == "report") & (rows["probe"] != CLASSIFIER) & (rows["n"] > 0)]
        chosen: dict[Any, str] = rows[rows["selected"]].set_index(QUESTION)["name"].to_dict()
        graded: dict[Any, Any] = (rows["grade"] > 0).groupby([rows[column] for column in QUESTION]).sum().to_dict()
        counts = run.studies.get("counts", pd.DataFrame(columns=QUESTION))
        groups: dict[Any, pd.DataFrame] = dict(list(counts.groupby(QUESTION, sort=False)))
        return cls(corpus, rows.set_index([*QUESTION, "name"]).sort_index(), chosen, graded, groups)

    def head(self, question: Question, name: str) -> BestHead | None:
        """Return what is said of a head, as of one that was selected; None where nothing is."""
        key: Any = (*question, name)
        if key not in self.rows.index:
            return None
        row: dict[Any, Any] = self.rows.loc[key].to_dict()
        return BestHead.of(row | dict(zip((*QUESTION, "name"), key, strict=True)))


def across(runs: Sequence[tuple[GridRun, Run]]) -> pd.DataFrame:
    """Return the rows of `ACROSS` for the runs of one model and seed: each ordered pair of their corpora."""
    scored = [(cell, ScoredRun.of(cell.corpus, run)) for cell, run in runs]
    rows = [
        {"model": cell.model, "seed": cell.seed} | row
        for (cell, home), (_, away) in permutations(scored, 2)
        for row in _pair(home, away)
    ]
    return pd.DataFrame(rows, columns=[*ACROSS.names])


def _pair(home: ScoredRun, away: ScoredRun) -> Iterator[dict[str, Any]]:
    """Yield a row for each question that has a selected head on both corpora."""
    heads = away.rows.index.get_level_values("name").nunique()
    for question, name in home.selected.items():
        there, moved = home.head(question, name), away.head(question, name)
        own = away.head(question, away.selected.get(question, ""))
        if there is None or moved is None or own is None:
            continue
        row: dict[str, Any] = {"selected_on": home.corpus, "evaluated_on": away.corpus}
        row |= dict(zip(QUESTION, question, strict=True))
        row |= {key: getattr(moved, key) for key in ("name", "n", "effective_clusters", "accuracy", "grade")}
        row |= {key: strongest_baseline(moved)[key] for key in ("strongest", "strongest_accuracy")}
        row |= {"home_grade": there.grade, "graded_heads": int(away.graded[question]), "heads": heads}
        row |= {"own_name": own.name, "own_accuracy": own.accuracy, "own_grade": own.grade}
        yield row | _difference(away.counts.get(question), moved, own)


def _difference(counts: pd.DataFrame | None, moved: BestHead, own: BestHead) -> dict[str, float]:
    """Return accuracy minus that of the corpus's own head, with a paired interval where the run kept its counts."""
    names = ("difference", "difference_low", "difference_high")
    if moved.name == own.name:
        return dict.fromkeys(names, 0.0)
    if counts is None:
        return dict(zip(names, (moved.accuracy - own.accuracy, np.nan, np.nan), strict=True))
    n, before, now = (counts[column].to_numpy(np.float64) for column in ("n", own.name, moved.name))
    pair = paired_difference(n, before, now)
    return dict(zip(names, (pair.value, pair.low, pair.high), strict=True))
