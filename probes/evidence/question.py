"""The scores of every head on one question and split: estimates, intervals, leads, tests, stability of the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from probes.evidence.leads import Documents, holm, p_of_leads
from probes.evidence.statistics import MARGIN, Bootstrap
from probes.scoring.tally import Numbers, Sums


@dataclass(frozen=True)
class Effort:
    """How many resamples are drawn, and from which seed."""

    replicates: int = 2000
    "Resamples of the bootstrap."
    flips: int = 9999
    "Random signs of sign-flip tests, which measures of shapes, ablation and patching make."
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


def estimate(
    heads: Sums,
    baselines: Mapping[str, Sums],
    table: Sums | None,
    *,
    test: bool,
    rules: Mapping[str, Sums] = MappingProxyType({}),
    blind: Mapping[str, Sums] = MappingProxyType({}),
    margin: float = MARGIN,
) -> QuestionScores:
    """Return the scores of one question: intervals for all heads and, where `test`, tests of leads above `margin`.

    Leads are paired by cluster. `baselines` and `rules` have one scored column each and the clusters of `heads`. Bounds
    take controls from `blind`: a head that was chosen knowing this split looks better on it than it is, which leaves
    too little of a lead.
    """
    n = heads.n.sum()
    accuracy = heads.hits.sum(0) / n
    documents = Documents.of(heads.n)
    strongest, baseline_accuracy = _strongest(baselines, n)
    rule, rule_accuracy = _strongest(rules, n)
    baseline = baselines.get(strongest)
    lead, blind_lead = (_lead_interval(documents, heads, one) for one in (baseline, blind.get(strongest, baseline)))
    mass, fraction = heads.mass.sum(0) / n, bool((heads.mass <= heads.n[:, None]).all())
    coverage = heads.coverage / n
    tested = _tested(documents, heads, baselines, table, rules, margin if test else None)
    return {
        **{"n": int(n), "clusters": len(heads.clusters), "effective_clusters": documents.effective},
        "accuracy": accuracy,
        **within("ci", documents.share_interval(heads.hits)),
        "mass": mass,
        **within("mass", np.clip(documents.interval(heads.mass), 0, 1 if fraction else None)),
        "coverage": coverage,
        "share": np.divide(mass, coverage, out=np.full(len(mass), np.nan), where=coverage > 0),
        **{"baseline": strongest, "baseline_accuracy": baseline_accuracy, "margin": accuracy - baseline_accuracy},
        **within("margin", np.stack([lead[0], blind_lead[1]])),
        "lexical_accuracy": np.nan if table is None else float(table.hits.sum() / n),
        **within("lexical_margin", _lead_interval(documents, heads, table)),
        **{"rule": rule, "rule_accuracy": rule_accuracy},
        **within("rule_margin", _lead_interval(documents, heads, rules.get(rule))),
        "near_ties": heads.near_ties,
        "p": tested[0],
        **{name: holm(p) for name, p in zip(GRADED, tested, strict=True)},
        "excluded": _excluded(documents, heads, [*{**baselines, **blind}.values()]) if test else np.nan,
    }


def _tested(
    documents: Documents,
    heads: Sums,
    baselines: Mapping[str, Sums],
    table: Sums | None,
    rules: Mapping[str, Sums],
    margin: float | None,
) -> list[Numbers]:
    """Return the p of every grade, [head] each: of a lead over its own baselines and those of the grades below."""
    found: list[Numbers] = []
    beaten = heads.hits[:, :0]
    for rivals in ([*baselines.values()], [] if table is None else [table], [*rules.values()]):
        known = margin is not None and bool(rivals) and (not found or np.isfinite(found[-1]).all())
        beaten = np.concatenate([beaten, *(sums.hits for sums in rivals)], axis=1)
        found.append(p_of_leads(documents, heads.hits, beaten if known else beaten[:, :0], margin or 0))
    return found


def _strongest(baselines: Mapping[str, Sums], n: float) -> tuple[str, float]:
    """Return the baseline with the highest accuracy, the first by name of equals; "" and NaN where there is none."""
    found = {name: float(sums.hits.sum() / n) for name, sums in sorted(baselines.items())}
    name = max(found, key=found.__getitem__, default="")
    return name, found.get(name, np.nan)


def _lead_interval(documents: Documents, heads: Sums, baseline: Sums | None) -> Numbers:
    """Return [2, head], the interval of the lead over `baseline`."""
    if baseline is None:
        return np.full((2, heads.hits.shape[1]), np.nan)
    return documents.lead_interval(heads.hits - baseline.hits)


def _excluded(documents: Documents, heads: Sums, baselines: Sequence[Sums]) -> float:
    """Return the lead over all baselines that no head reaches.

    A head is bounded by the baseline over which it leads least significantly, each bound being held to its share of
    the level (Bonferroni), for which baseline is strongest is not known. Heads are bounded one by one: that all of
    them stay below a margin is shown where each does (Berger 1982).
    """
    if not baselines:
        return np.nan
    level = 1 - 0.05 / len(baselines)
    bounds = [documents.upper_bound(heads.hits - baseline.hits, level) for baseline in baselines]
    return float(np.min(bounds, axis=0).max())
