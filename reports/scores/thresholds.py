"""The rule by which a run grades heads, in words, and what it says of one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from reports.formats import MISSING, count, decimal, percent
from reports.run.folder import RunFolder
from reports.scores.controls import run_baselines
from reports.tables.grades import borderline_text, grade_name
from reports.tables.marks import FEW_CLUSTERS, fewest_documents, fewest_unseen


@dataclass(frozen=True)
class RunThresholds:
    """The thresholds of a run, as its config gives them."""

    alpha: float = 0.05
    "The adjusted p must be below this."
    margin: float = 0.05
    "The lead over every rival that is tested: more than this."
    controlled: bool = True
    "Whether the run had any control."
    correction: float = field(default=1, compare=False)
    "What p of a head is multiplied with, at the least: the heads, and 1 + 1/2 + ... of the labels that were tested."

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
        if borderline := borderline_text(row):
            return f"{named}{borderline}"
        if row["grade"] or not row["margin_low"] > self.margin:
            return named
        if self._documents_needed(row["margin"]) > row["effective_clusters"]:
            return f"{named}: too few documents (effective number {decimal(row['effective_clusters'], 1)})"
        return f"{named}: not significant after correction for all heads and labels"

    def _documents_needed(self, lead: float) -> float:
        """Return how many effective documents can show a lead above the margin, FEW_CLUSTERS at the least."""
        return max(FEW_CLUSTERS, fewest_unseen(lead, self.margin, self.alpha))

    def out_of_reach(self, row: Any) -> str:
        """Say of a best head's row why no head can be significant, not even with an accuracy of 100 %; else ""."""
        signs = fewest_documents(self.correction, self.alpha)
        unseen = fewest_unseen(1 - row.baseline_accuracy, self.margin, self.alpha)
        if math.isnan(row.p_adjusted) or (signs <= row.clusters and unseen < row.effective_clusters):
            return ""
        if math.isinf(unseen):
            return f"no head can be significant beside a baseline or control of {percent(row.baseline_accuracy)} %"
        there, effective = count(int(row.clusters)), decimal(row.effective_clusters, 1)
        worth, equal = ("", "") if effective == f"{there}.0" else (f" (effective number {effective})", "of equal size ")
        needed = count(max(signs, math.ceil(unseen)))
        return f"no head can be significant with {there} documents{worth}, at least {needed} {equal}are needed"


def run_thresholds(run: RunFolder) -> RunThresholds:
    """Return the rule of a run; raises RunFolderError where config.toml cannot be read."""
    controlled = any(one.is_control for one in run_baselines(run.scores, run.record, run.settings))
    tested = run.scores[(run.scores["split"] == "report") & run.scores["p_adjusted"].notna()]
    labels = len(tested[["probe", "variant", "label"]].drop_duplicates())
    correction = run.layers * run.heads * sum(1 / i for i in range(1, labels + 1))
    return replace(RunThresholds.of(run.settings, controlled=controlled), correction=max(correction, 1))
