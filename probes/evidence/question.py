"""What one question and split say of every head: estimates, intervals, leads, tests, and how stable the best is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from probes.evidence.leads import Documents, holm, p_of_leads
from probes.evidence.statistics import MARGIN, Bootstrap
from probes.scoring.tally import Numbers, Sums


@dataclass(frozen=True)
class Effort:
    """How many resamples are drawn, and from which seed."""

    replicates: int = 2000
    "Resamples of the bootstrap."
    flips: int = 9999
    "Random signs of sign-flip tests, which studies of shapes, ablation and patching make."
    seed: int = 0

    def resamples(self, clusters: Sequence[int], split: int) -> Bootstrap:
        """Draw resamples of the clusters of a split; `split` is its number, so that splits have draws of their own."""
        return Bootstrap.draw(clusters, self.replicates, self.seed + split)


@dataclass(frozen=True)
class Evidence:
    """The numbers of all heads on one question and split. An interval is [2, head]; what was not measured is NaN."""

    n: int
    clusters: int
    effective_clusters: float
    "How many clusters of equal length would weigh as these do."
    accuracy: Numbers
    accuracy_interval: Numbers
    mass: Numbers
    mass_interval: Numbers
    coverage: Numbers
    near_ties: Numbers
    stability: Numbers
    "[head] Share of the resamples in which the head is the best one."
    baseline: str
    "The strongest baseline or control on this split; the first by name of equals, empty where there is none."
    baseline_accuracy: float
    margin: Numbers
    margin_interval: Numbers
    lexical_accuracy: float
    lexical_interval: Numbers
    "Of the margin over the lexical table."
    rule: str
    "The strongest rule of grammar on this split; the first by name of equals, empty where there is none."
    rule_accuracy: float
    rule_interval: Numbers
    "Of the margin over that rule."
    excluded: float
    "Upper bound of every head's lead over all baselines, the largest of all heads; NaN where nothing is tested."
    p: Numbers
    "[head] That the head leads some baseline or control by no more than the margin, uncorrected."
    p_label: Numbers
    "[grade, head] The same for the baselines up to each grade, corrected for heads; NaN where a grade has no baseline."

    @property
    def leads(self) -> Numbers:
        """[grade, head] Lead over the strongest baseline up to each grade."""
        return strongest_leads(self.margin, self.accuracy - self.lexical_accuracy, self.accuracy - self.rule_accuracy)


def strongest_leads(*leads: Numbers) -> Numbers:
    """Return [grade, head], the lead over all baselines up to each grade, from those of each grade alone."""
    return np.fmin.accumulate(np.stack(leads))


def weigh(
    heads: Sums,
    baselines: Mapping[str, Sums],
    table: Sums | None,
    bootstrap: Bootstrap,
    *,
    test: bool,
    rules: Mapping[str, Sums] = MappingProxyType({}),
    blind: Mapping[str, Sums] = MappingProxyType({}),
    margin: float = MARGIN,
) -> Evidence:
    """Return the evidence on one question: intervals for all heads and, where `test`, tests of leads above `margin`.

    Leads are paired by cluster. `baselines` and `rules` have one scored column each and the clusters of `heads`. Bounds
    take controls from `blind`: a head that was chosen knowing this split looks better on it than it is, which leaves
    too little of a lead.
    """
    n = heads.n.sum()
    resamples = bootstrap.of(heads.clusters, heads.n)
    accuracy = heads.hits.sum(0) / n
    documents = Documents.of(heads.n)
    strongest, baseline_accuracy = _strongest(baselines, n)
    rule, rule_accuracy = _strongest(rules, n)
    baseline = baselines.get(strongest)
    lead, blind_lead = (_lead_interval(documents, heads, one) for one in (baseline, blind.get(strongest, baseline)))
    tested = _tested(documents, heads, baselines, table, rules, margin if test else None)
    return Evidence(
        n=int(n),
        clusters=len(heads.clusters),
        effective_clusters=documents.effective,
        accuracy=accuracy,
        accuracy_interval=documents.share_interval(heads.hits),
        mass=heads.mass.sum(0) / n,
        mass_interval=np.clip(documents.interval(heads.mass), 0, 1 if (heads.mass <= heads.n[:, None]).all() else None),
        coverage=heads.coverage / n,
        near_ties=heads.near_ties,
        stability=resamples.wins(resamples.means(heads.hits)),
        baseline=strongest,
        baseline_accuracy=baseline_accuracy,
        margin=accuracy - baseline_accuracy,
        margin_interval=np.stack([lead[0], blind_lead[1]]),
        lexical_accuracy=np.nan if table is None else float(table.hits.sum() / n),
        lexical_interval=_lead_interval(documents, heads, table),
        rule=rule,
        rule_accuracy=rule_accuracy,
        rule_interval=_lead_interval(documents, heads, rules.get(rule)),
        excluded=_excluded(documents, heads, [*{**baselines, **blind}.values()]) if test else np.nan,
        p=tested[0],
        p_label=np.stack([holm(p) for p in tested]),
    )


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
