"""What one question and split say of every head: estimates, intervals, margins, tests, and how stable the best is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from probes.evidence.statistics import Bootstrap, Resamples, SignFlips
from probes.scoring.tally import Numbers, Sums


@dataclass(frozen=True)
class Effort:
    """How many resamples are drawn, and from which seed."""

    replicates: int = 2000
    "Resamples of the bootstrap."
    flips: int = 9999
    "Random signs of the tests."
    seed: int = 0


@dataclass(frozen=True)
class Draws:
    """What is drawn once for a split and used for all of its questions."""

    bootstrap: Bootstrap
    flips: SignFlips

    @classmethod
    def of(cls, clusters: Sequence[int], effort: Effort, split: int, *, test: bool = True) -> Draws:
        """Draw for the clusters of a split; `split` is its number, so that splits have draws of their own.

        Signs are drawn only where something is to be tested.
        """
        bootstrap = Bootstrap.draw(clusters, effort.replicates, effort.seed + split)
        return cls(bootstrap, SignFlips.draw(clusters, effort.flips if test else 0, effort.seed + split))


@dataclass(frozen=True)
class Evidence:
    """The numbers of all heads on one question and split. An interval is [2, head]; what was not measured is NaN."""

    n: int
    clusters: int
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
    p: Numbers
    p_label: Numbers


def weigh(
    heads: Sums,
    baselines: Mapping[str, Sums],
    table: Sums | None,
    draws: Draws,
    *,
    test: bool,
    rules: Mapping[str, Sums] = MappingProxyType({}),
) -> Evidence:
    """Return the evidence on one question: intervals for all heads and, where `test`, tests against all baselines.

    Margins are paired by cluster. `baselines` and `rules` have one scored column each and the clusters of `heads`.
    """
    n = heads.n.sum()
    resamples = draws.bootstrap.of(heads.clusters, heads.n)
    means = resamples.means(heads.hits)
    accuracy = heads.hits.sum(0) / n
    strongest, baseline_accuracy = _strongest(baselines, n)
    rule, rule_accuracy = _strongest(rules, n)
    beaten = [sums.hits for _, sums in sorted(baselines.items())]
    significance = draws.flips.test(
        heads.clusters, heads.hits, np.concatenate(beaten, axis=1) if test and beaten else heads.hits[:, :0]
    )
    return Evidence(
        n=int(n),
        clusters=len(heads.clusters),
        accuracy=accuracy,
        accuracy_interval=resamples.interval(means),
        mass=heads.mass.sum(0) / n,
        mass_interval=resamples.interval(resamples.means(heads.mass)),
        coverage=heads.coverage.sum(0) / n,
        near_ties=heads.near_ties.sum(0),
        stability=resamples.wins(means),
        baseline=strongest,
        baseline_accuracy=baseline_accuracy,
        margin=accuracy - baseline_accuracy,
        margin_interval=_margin(resamples, means, baselines.get(strongest)),
        lexical_accuracy=np.nan if table is None else float(table.hits.sum() / n),
        lexical_interval=_margin(resamples, means, table),
        rule=rule,
        rule_accuracy=rule_accuracy,
        rule_interval=_margin(resamples, means, rules.get(rule)),
        p=significance.p,
        p_label=significance.p_label,
    )


def _strongest(rivals: Mapping[str, Sums], n: float) -> tuple[str, float]:
    """Return the rival with the highest accuracy, the first by name of equals; "" and NaN where there is none."""
    found = {name: float(sums.hits.sum() / n) for name, sums in sorted(rivals.items())}
    name = max(found, key=found.__getitem__, default="")
    return name, found.get(name, np.nan)


def _margin(resamples: Resamples, means: Numbers, other: Sums | None) -> Numbers:
    """Return the interval of the paired margin over `other`."""
    if other is None:
        return np.full((2, means.shape[1]), np.nan)
    return resamples.interval(means - resamples.means(other.hits))
