"""The rule by which a run grades heads, in words, and what it says of one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reports.formats import MISSING, decimal, percent, points
from reports.run.folder import RunFolder
from reports.scores.controls import run_baselines
from reports.tables.grades import STABLE, grade_name, grade_names
from reports.tables.marks import FEW_CLUSTERS
from reports.tables.scores import WHOLE_ATTENTION


@dataclass(frozen=True)
class RunThresholds:
    """The thresholds of a run, as its config gives them."""

    alpha: float = 0.05
    "The adjusted p must be below this."
    margin: float = 0.05
    "The lead over every rival that is tested: more than this."
    controlled: bool = True
    "Whether the run had any control."

    @classmethod
    def of(cls, config: Mapping[str, Any], *, controlled: bool = True) -> RunThresholds:
        """Return the rule of the table [verdict]; what it does not say has its default."""
        verdict = config.get("verdict", {})
        return cls(float(verdict.get("alpha", cls.alpha)), float(verdict.get("margin", cls.margin)), controlled)

    def grade(self, row: Mapping[Any, Any]) -> str:
        """Return the grade of a row of scores in words; "–" where nothing could be tested.

        Where the interval of the margin lies above the threshold and there is no grade all the same, it says why.
        """
        if math.isnan(row["p_adjusted"]):
            return MISSING
        named = grade_name(int(row["grade"]), str(row["probe"]), controlled=self.controlled)
        if row["grade"] or not row["margin_low"] > self.margin:
            return named
        if 1 - STABLE < row.get("holds", 0) < STABLE:
            return f"{named}: borderline (significant in {percent(row['holds'])} % of redraws of the controls)"
        if self._documents_needed(row["margin"]) > row["effective_clusters"]:
            return f"{named}: too few documents (effective number {decimal(row['effective_clusters'], 1)})"
        return f"{named}: not significant after correction for all heads and labels"

    def _documents_needed(self, lead: float) -> float:
        """Return how many effective documents can show a lead above the margin, FEW_CLUSTERS at the least.

        In fewer, documents that would bring the lead down to the margin are all missing with a chance of alpha or more.
        """
        return max(FEW_CLUSTERS, math.log(self.alpha) / math.log1p(-(lead - self.margin) / (1 + lead)))

    def terms(self) -> tuple[tuple[str, str], ...]:
        """Return the rule as (term, sentences)."""
        return (*self._grades(), *self._questions(), *_uncontrolled(controlled=self.controlled))

    def _grades(self) -> Iterator[tuple[str, str]]:
        """Yield how a head comes to its grade."""
        first = "every baseline and control" if self.controlled else "every baseline"
        baselines = (first, "the lexical table as well", "every rule of grammar as well")
        yield (
            "Grade",
            "A head has a grade in a label (in one direction) if, on the report split, its accuracy is more than "
            f"{points(self.margin)} points above that of every baseline of the grade. This lead is tested (adjusted p "
            f"below {self.alpha:g}). Grades are tested in turn and stop at the first failure.",
        )
        names = grade_names(controlled=self.controlled)[1:]
        for grade, (name, baseline) in enumerate(zip(names, baselines, strict=True), 1):
            yield f"Grade {grade}, {name}", f"Above {baseline}. Not assigned without such a baseline."
        yield (
            "Correction",
            "p is corrected for the heads of a label (Holm) and for all labels of the run (Benjamini and Yekutieli "
            "2001, for labels that depend on each other): for each grade the false discovery rate over labels and "
            f"directions is at most {points(self.alpha)} %.",
        )
        yield (
            "Specialised",
            "A head with a grade in a linguistic role; it may be a position head or a sink too.",
        )

    def _questions(self) -> Iterator[tuple[str, str]]:
        """Yield the verdict on a question, and what no test stands behind."""
        yield (
            "Verdict on a label and direction",
            "Yes: some head has a grade. No: the upper 95 % bound of every head's lead lies below "
            f"{points(self.margin)} points; each no has an error rate of 5 % by itself. Undecided: neither. The bound "
            "says which leads are excluded.",
        )
        yield (
            "Measured, not tested",
            f"Accuracy, mass, {' and '.join(column.name for column in WHOLE_ATTENTION)}: their intervals are "
            "descriptive. Only margins are tested.",
        )


def _uncontrolled(*, controlled: bool) -> Iterator[tuple[str, str]]:
    if not controlled:
        yield (
            "No controls",
            "This run had no controls, so grade 1 means above the baselines only. A model without knowledge might do "
            "as well.",
        )


def run_thresholds(run: RunFolder) -> RunThresholds:
    """Return the rule of a run; raises RunFolderError where config.toml cannot be read."""
    controlled = any(one.is_control for one in run_baselines(run.scores, run.record, run.settings))
    return RunThresholds.of(run.settings, controlled=controlled)
