"""The table of activation patching: what share of an answer each head restores, with intervals and corrected tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from probes.causal.patching import ROLES, Effects, PatchItem
from probes.evidence.question import Effort
from probes.evidence.results import named_heads
from probes.evidence.statistics import Bootstrap, Resamples, SignFlips, adjust
from probes.scoring.tally import Numbers

ALL = "all places"
"The role of a row that is about all places at once."


@dataclass(frozen=True)
class PatchingAgreement:
    """How far a quick measure of all heads agrees with patching them."""

    rho: float
    "Spearman's rank correlation over heads of their shares; NaN where one of both is constant."
    low: float
    high: float
    slope: float
    "Least-squares slope through the origin of the quick shares on the patched ones: 1 where they are equally large."


def patch_table(items: Sequence[PatchItem], effects: Effects, effort: Effort) -> pd.DataFrame:
    """Return a row a role and head: the share of the answer that the head restores there.

    A share is the ratio of two sums over the items that have the role: what is gained, and the difference between clean
    and corrupted run; NaN where nothing is lost by the corruption. Intervals are those of a bootstrap over clusters;
    NaN where it is not sure that something is lost, for a ratio then has no bounds (Fieller 1954). p
    is that of a two-sided sign-flip test of what is gained, corrected for all heads and both directions (`p_label`) and
    for all roles (`p_adjusted`).
    """
    shape = (effects.whole.shape[1], effects.whole.shape[2])
    frames = []
    for role in (ALL, *ROLES):
        sums = _sums(items, effects, role)
        if not len(sums.clusters):
            continue
        gained, quick = (sums.ratio(one) for one in (sums.gained, sums.estimated))
        low, high = sums.interval(effort)
        p, p_label = _tests(sums, effort)
        told = {"role": role, "n": sums.items, "clusters": len(sums.clusters), "share": gained, "estimate": quick}
        told |= {"ci_low": low, "ci_high": high, "p": p, "p_label": p_label}
        told |= {"direct": sums.ratio(sums.direct) if sums.direct is not None else np.nan}
        frames.append(pd.DataFrame(named_heads(shape) | told))
    adjusted = adjust([frame["p_label"].to_numpy() for frame in frames], dependent=False)
    frames = [frame.assign(p_adjusted=one) for frame, one in zip(frames, adjusted, strict=True)]
    return pd.concat(frames, ignore_index=True)


def estimate_agreement(items: Sequence[PatchItem], effects: Effects, effort: Effort) -> PatchingAgreement:
    """Return how far the first-order estimate of all heads agrees with patching them at all places at once."""
    sums = _sums(items, effects, ALL)
    return _agreement(sums, sums.estimated, effort)


def direct_agreement(items: Sequence[PatchItem], effects: Effects, effort: Effort) -> PatchingAgreement | None:
    """Return how far direct logit attribution agrees with patching; None where it could not be told."""
    sums = _sums(items, effects, ALL)
    return None if sums.direct is None else _agreement(sums, sums.direct, effort)


@dataclass(frozen=True)
class _Sums:
    """Sums over the items of each cluster."""

    items: int
    clusters: Sequence[str]
    gap: Numbers
    "[cluster]"
    gained: Numbers
    "[cluster, head], heads layer by layer; so are the others."
    estimated: Numbers
    direct: Numbers | None

    @property
    def known(self) -> bool:
        """Whether the corruption loses anything that could be restored."""
        return bool(self.gap.sum() > 0)

    def resamples(self, effort: Effort) -> Resamples:
        """Return resamples of the clusters, in which the gap is what items are elsewhere."""
        places = range(len(self.clusters))
        return Bootstrap.draw(places, effort.replicates, effort.seed).of(places, self.gap)

    def interval(self, effort: Effort) -> Numbers:
        """Return [2, head], the interval of the shares gained; NaN where more than a tail of resamples lose nothing."""
        resamples = self.resamples(effort)
        if len(resamples.n) < effort.replicates * (1 + resamples.level) / 2:
            return np.full((2, self.gained.shape[1]), np.nan)
        return resamples.interval(resamples.means(self.gained))

    def ratio(self, totals: Numbers) -> Numbers:
        """Return [head], the ratio of sums; NaN where nothing is lost."""
        return totals.sum(0) / self.gap.sum() if self.known else np.full(totals.shape[1], np.nan)


def _sums(items: Sequence[PatchItem], effects: Effects, role: str) -> _Sums:
    """Return the sums of the items that have a role; estimates of all places are those of all roles together."""
    if role == ALL:
        chosen = np.ones(len(items), bool)
        gained, estimated = effects.whole, effects.estimated.sum(-1)
    else:
        place = ROLES.index(role)
        chosen = np.array([bool((item.roles == place).any()) for item in items])
        gained, estimated = effects.placed[..., place], effects.estimated[..., place]
    sources = [item.source for item, has in zip(items, chosen, strict=True) if has]
    clusters, member = np.unique(sources, return_inverse=True)

    def summed(values: object) -> Numbers:
        found = np.asarray(values, np.float64).reshape(len(items), -1)[chosen]
        totals = np.zeros((len(clusters), found.shape[1]))
        np.add.at(totals, member, found)
        return totals

    direct = summed(effects.direct) if role == ALL and effects.direct is not None else None
    return _Sums(
        int(chosen.sum()), list(clusters), summed(effects.gap)[:, 0], summed(gained), summed(estimated), direct
    )


def _tests(sums: _Sums, effort: Effort) -> tuple[Numbers, Numbers]:
    places = range(len(sums.clusters))
    both = np.concatenate([sums.gained, -sums.gained], axis=1)
    found = SignFlips.draw(places, effort.flips, effort.seed).test(places, both, np.zeros((len(both), 1)))
    up, down = found.p.reshape(2, -1)
    return np.minimum(2 * np.minimum(up, down), 1), found.p_label.reshape(2, -1).min(0)


def _agreement(sums: _Sums, quick: Numbers, effort: Effort) -> PatchingAgreement:
    from scipy import stats

    true, told = sums.ratio(sums.gained), sums.ratio(quick)
    if not sums.known or np.ptp(true) == 0 or np.ptp(told) == 0:
        return PatchingAgreement(np.nan, np.nan, np.nan, np.nan)
    resamples = sums.resamples(effort)
    pairs = zip(resamples.means(sums.gained), resamples.means(quick), strict=True)
    drawn = np.array([[stats.spearmanr(one, other).statistic] for one, other in pairs])
    low, high = resamples.interval(drawn)[:, 0]
    return PatchingAgreement(
        float(stats.spearmanr(true, told).statistic), low, high, float(true @ told / (true @ true))
    )
