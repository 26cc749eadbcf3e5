"""The rule by which a run grades heads, in words, and what it says of one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reports.formats import MISSING, decimal
from reports.run.folder import RunFolder
from reports.scores.controls import run_baselines
from reports.tables.grades import borderline_text, grade_name
from reports.tables.marks import FEW_CLUSTERS


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
        if borderline := borderline_text(row):
            return f"{named}{borderline}"
        if row["grade"] or not row["margin_low"] > self.margin:
            return named
        if self._documents_needed(row["margin"]) > row["effective_clusters"]:
            return f"{named}: too few documents (effective number {decimal(row['effective_clusters'], 1)})"
        return f"{named}: not significant after correction for all heads and labels"

    def _documents_needed(self, lead: float) -> float:
        """Return how many effective documents can show a lead above the margin, FEW_CLUSTERS at the least.

        In fewer, documents that would bring the lead down to the margin are all missing with a chance of alpha or more.
        """
        return max(FEW_CLUSTERS, math.log(self.alpha) / math.log1p(-(lead - self.margin) / (1 + lead)))


def run_thresholds(run: RunFolder) -> RunThresholds:
    """Return the rule of a run; raises RunFolderError where config.toml cannot be read."""
    controlled = any(one.is_control for one in run_baselines(run.scores, run.record, run.settings))
    return RunThresholds.of(run.settings, controlled=controlled)
