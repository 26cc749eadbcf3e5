"""Heads across corpora: the head selected on one, on the report split of another, beside the one selected there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Self

import numpy as np
import pandas as pd

from experiments.compare.answers import strongest_baseline
from experiments.compare.grid import GridRun
from experiments.compare.sides import QUESTION, Question, counts_of, report_rows
from experiments.config.sections import CorpusSection
from probes.evidence.leads import paired_difference
from reports import Run
from reports.compare.atlas_record import ACROSS
from reports.scores.best_heads import BestHead, best_head


@dataclass(frozen=True)
class ScoredRun:
    """What a run measured of every head on its report split."""

    corpus: str
    rows: pd.DataFrame
    "By probe, label, variant and name of the head."
    selected: Mapping[Question, str]
    "The head selected on the run's own selection split."
    graded: Mapping[Question, frozenset[str]]
    "Heads with a grade, of the questions that have any."
    specialised: frozenset[str]
    "Heads with a stable grade in a linguistic role."
    counts: Mapping[Question, pd.DataFrame]
    "n and the hits of each head, by group of texts."

    @classmethod
    def of(cls, corpus: str, run: Run) -> Self:
        """Read a run; `corpus` is what the grid calls its corpus."""
        rows, _ = report_rows(run)
        selected: dict[Any, str] = rows[rows["selected"]].set_index(QUESTION)["name"].to_dict()
        graded: dict[Any, Any] = rows[rows["grade"] > 0].groupby(QUESTION)["name"].agg(frozenset).to_dict()
        specialised = frozenset(rows.loc[rows["specialised"], "name"])
        by_head = rows.set_index([*QUESTION, "name"]).sort_index()
        return cls(corpus, by_head, selected, graded, specialised, counts_of(run))

    def head(self, question: Question, name: str) -> BestHead | None:
        """Return the numbers of a head as those of a selected one; None where it was not scored."""
        key: Any = (*question, name)
        if key not in self.rows.index:
            return None
        row: dict[Any, Any] = self.rows.loc[key].to_dict()
        return best_head(row | dict(zip((*QUESTION, "name"), key, strict=True)))


def across(runs: Sequence[tuple[GridRun, Run]]) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of `ACROSS` for the runs of one model and seed, and a sentence for each pair that is left out.

    Each ordered pair of their corpora is compared, but where a head would be evaluated on texts that selected it.
    """
    scored = [(cell, ScoredRun.of(cell.corpus, run)) for cell, run in runs]
    rows: list[dict[str, Any]] = []
    left_out = []
    for (cell, home), (other, away) in permutations(scored, 2):
        if overlaps(cell.config.corpus, other.config.corpus):
            left_out.append(
                f"{cell.model}: heads selected on {cell.corpus} are not evaluated on {other.corpus}, whose report "
                "split may hold the texts that selected them."
            )
            continue
        rows += [{"model": cell.model, "seed": cell.seed} | row for row in _pair(home, away)]
    return pd.DataFrame(rows, columns=[*ACROSS.names]), left_out


def overlaps(home: CorpusSection, away: CorpusSection) -> bool:
    """Return whether the selection split of one corpus may share texts with the report split of another.

    Both halves of one corpus, divided by the hash of its documents' ids, share none.
    """
    whole = {"first", "documents"}
    source, evaluated = (part.model_dump(exclude=whole) for part in (home.select, away.report or away.select))
    return source == evaluated and not (home.report is None and away.report is None)


def _pair(home: ScoredRun, away: ScoredRun) -> Iterator[dict[str, Any]]:
    """Yield a row for each question that has a selected head on both corpora."""
    for question, name in home.selected.items():
        there, moved = home.head(question, name), away.head(question, name)
        own = away.head(question, away.selected.get(question, ""))
        if there is None or moved is None or own is None:
            continue
        graded, others = away.graded.get(question, frozenset()), home.specialised - {name}
        row: dict[str, Any] = {"selected_on": home.corpus, "evaluated_on": away.corpus}
        row |= dict(zip(QUESTION, question, strict=True))
        row |= {key: getattr(moved, key) for key in ("name", "n", "effective_clusters", "accuracy", "grade")}
        row |= {key: strongest_baseline(moved)[key] for key in ("strongest", "strongest_accuracy")}
        row |= {"home_grade": there.grade, "graded_heads": len(graded)}
        row |= {"others": len(others), "others_graded": len(others & graded)}
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
    pair, _ = paired_difference(n, before, now)
    return dict(zip(names, (pair.value, pair.low, pair.high), strict=True))
