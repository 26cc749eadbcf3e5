"""The scores of every head on one question and split: estimates, intervals, leads, tests, stability of the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from probes.evidence.control_heads import ControlHeads
from probes.evidence.leads import ControlLevel, Documents, Means, holm, p_of_leads
from probes.evidence.statistics import MARGIN, Bootstrap
from probes.scoring.tally import Numbers, Sums


@dataclass(frozen=True)
class Effort:
    """How many resamples are drawn, and from which seed."""

    replicates: int = 2000
    "Resamples of the bootstrap."
    seed: int = 0

    def resamples(self, clusters: Sequence[int], split: int) -> Bootstrap:
        """Draw resamples of the clusters of a split; `split` is its number, so that splits have draws of their own."""
        return Bootstrap.draw(clusters, self.replicates, self.seed + split)


QuestionScores = dict[str, Any]
"""Columns of `reports.tables.scores.SCORES` on one question and split, by name: numbers [head], or one for all heads.

What was not measured is NaN."""

GRADED = ("p_label", "p_words", "p_rules")
"The columns with the p of each grade in turn, corrected for the heads of the label."


def strongest_leads(scores: Mapping[str, Any] | pd.DataFrame) -> Numbers:
    """Return [grade, head], the lead over all baselines up to each grade, of scores by column."""
    baselines = ("baseline_accuracy", "lexical_accuracy", "rule_accuracy")
    leads = [np.asarray(scores["accuracy"] - scores[name], np.float64) for name in baselines]
    return np.fmin.accumulate(np.stack(leads))


def within(name: str, bounds: Numbers) -> QuestionScores:
    """Return the columns of an interval [2, head], the ends of which are named after `name`."""
    return {f"{name}_low": bounds[0], f"{name}_high": bounds[1]}


def stability(heads: Sums, bootstrap: Bootstrap) -> Numbers:
    """Return [head], the share of resamples in which each has the highest accuracy, the first of equals."""
    resamples = bootstrap.of(heads.clusters, heads.n)
    return resamples.wins(resamples.means(heads.hits))


@dataclass(frozen=True)
class Comparisons:
    """What the heads are compared with on one question."""

    baselines: Mapping[str, Sums]
    "One scored column each, with the clusters of the heads, as the table and the rules."
    controls: Mapping[str, ControlHeads] = field(default_factory=dict)
    "By kind; they are of the first grade, as the baselines are."
    table: Sums | None = None
    rules: Mapping[str, Sums] = field(default_factory=dict)


def estimate(
    heads: Sums, compared: Comparisons, *, test: bool, margin: float = MARGIN, redraws: int = 0
) -> QuestionScores:
    """Return the scores of one question: intervals for all heads and, where `test`, tests of leads above `margin`.

    Leads over baselines are paired by cluster; the level of a control has an error of its own. The p of
    `redraws` of all controls stand in columns of their own, `redrawn` names them.
    """
    n = heads.n.sum()
    accuracy = heads.hits.sum(0) / n
    documents = Documents.of(heads.n)
    levels = {name: one.level() for name, one in compared.controls.items()}
    rates = {name: float(level.accuracy) for name, level in levels.items()}
    strongest, baseline_accuracy = _strongest(_accuracies(compared.baselines, n) | rates)
    rule, rule_accuracy = _strongest(_accuracies(compared.rules, n))
    table = compared.table
    mass, fraction = heads.mass.sum(0) / n, bool((heads.mass <= heads.n[:, None]).all())
    coverage = heads.coverage / n
    tests = _Tests.of(documents, heads, compared, margin if test else None)
    p = tests.p(levels)
    lead = (
        documents.lead_interval(heads.hits, levels[strongest])
        if strongest in levels
        else _lead_interval(documents, heads, compared.baselines.get(strongest))
    )
    return {
        **{"n": int(n), "clusters": len(heads.clusters), "effective_clusters": documents.effective},
        "accuracy": accuracy,
        **within("ci", documents.share_interval(heads.hits)),
        "mass": mass,
        **within("mass", np.clip(documents.interval(heads.mass), 0, 1 if fraction else None)),
        "coverage": coverage,
        "share": np.divide(mass, coverage, out=np.full(len(mass), np.nan), where=coverage > 0),
        **{"baseline": strongest, "baseline_accuracy": baseline_accuracy, "margin": accuracy - baseline_accuracy},
        **within("margin", lead),
        "lexical_accuracy": np.nan if table is None else float(table.hits.sum() / n),
        **within("lexical_margin", _lead_interval(documents, heads, table)),
        **{"rule": rule, "rule_accuracy": rule_accuracy},
        **within("rule_margin", _lead_interval(documents, heads, compared.rules.get(rule))),
        "near_ties": heads.near_ties,
        "p": p[0],
        **{name: holm(one) for name, one in zip(GRADED, p, strict=True)},
        **tests.redrawn(compared.controls, redraws),
        "excluded": _excluded(documents, heads, compared.baselines, levels) if test else np.nan,
    }


def redrawn(name: str, number: int) -> str:
    """Return the column with the p of GRADED of that name in one redraw of the controls."""
    return f"{name}, redraw {number + 1}"


@dataclass(frozen=True)
class _Tests:
    """The tests of the leads of all heads on one question."""

    paired: Sequence[Numbers]
    "The p of each grade over what is new in it and was scored on the same items, [head]; NaN where nothing was."
    hits: Means
    margin: float | None
    "None where nothing is tested."

    @classmethod
    def of(cls, documents: Documents, heads: Sums, compared: Comparisons, margin: float | None) -> _Tests:
        """Return the tests of these heads."""
        grades = (
            [*compared.baselines.values()],
            [] if compared.table is None else [compared.table],
            [*compared.rules.values()],
        )
        none = heads.hits[:, :0]
        beaten = [np.concatenate([none, *(sums.hits for sums in grade)], axis=1) for grade in grades]
        paired = [p_of_leads(documents, heads.hits, none if margin is None else hits, margin or 0) for hits in beaten]
        return cls(paired, documents.measured(heads.hits), margin)

    def p(self, levels: Mapping[str, ControlLevel]) -> list[Numbers]:
        """Return the p of each grade in turn: of a lead over its own baselines and those of the grades below.

        It is that of the baseline over which the lead is least sure, and needs no correction for their number
        (intersection-union, Berger 1982, Technometrics 24:4).
        """
        over = [] if self.margin is None else [self.hits.p_above(self.margin, level) for level in levels.values()]
        first = self.paired[0]
        if over:  # a question without any baseline has levels alone
            known = [] if np.isnan(first).all() else [np.broadcast_to(first, over[0].shape)]
            first = np.max([*known, *over], axis=0)
        return [first, second := np.maximum(first, self.paired[1]), np.maximum(second, self.paired[2])]

    def redrawn(self, controls: Mapping[str, ControlHeads], redraws: int) -> QuestionScores:
        """Return the columns of all redraws."""
        if not redraws:
            return {}
        drawn = self.p({name: one.redrawn(redraws) for name, one in controls.items()})
        shape = (redraws, len(self.hits.total))
        by_grade = [np.broadcast_to(p, shape) for p in drawn]
        return {
            redrawn(name, number): holm(p[number])
            for name, p in zip(GRADED, by_grade, strict=True)
            for number in range(redraws)
        }


def _accuracies(baselines: Mapping[str, Sums], n: float) -> dict[str, float]:
    return {name: float(sums.hits.sum() / n) for name, sums in baselines.items()}


def _strongest(accuracies: Mapping[str, float]) -> tuple[str, float]:
    """Return the baseline with the highest accuracy, the first by name of equals; "" and NaN where there is none."""
    name = max(sorted(accuracies), key=accuracies.__getitem__, default="")
    return name, accuracies.get(name, np.nan)


def _lead_interval(documents: Documents, heads: Sums, baseline: Sums | None) -> Numbers:
    """Return [2, head], the interval of the lead over `baseline`."""
    if baseline is None:
        return np.full((2, heads.hits.shape[1]), np.nan)
    return documents.lead_interval(heads.hits - baseline.hits)


def _excluded(
    documents: Documents, heads: Sums, baselines: Mapping[str, Sums], levels: Mapping[str, ControlLevel]
) -> float:
    """Return the lead over all baselines and levels that no head reaches.

    A head is bounded by the one over which it leads least significantly, each bound being held to its share of the
    level (Bonferroni), for which one is strongest is not known. Heads are bounded one by one: that all of them stay
    below a margin is shown where each does (Berger 1982).
    """
    if not baselines and not levels:
        return np.nan
    level = 1 - 0.05 / (len(baselines) + len(levels))
    bounds = [documents.upper_bound(heads.hits - baseline.hits, level) for baseline in baselines.values()]
    bounds += [documents.upper_bound(heads.hits, level, one) for one in levels.values()]
    return float(np.fmin.reduce(bounds, axis=0).max())
