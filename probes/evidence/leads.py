"""Leads of heads over baselines, and differences of runs: intervals, tests, bounds, and documents that they take."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

import numpy as np

from probes.scoring.tally import Numbers
from reports.tables.estimate import Estimate
from reports.tables.marks import fewest_documents, fewest_unseen

LARGEST = 10_000_000
"More documents than this are not told."


@dataclass(frozen=True)
class LeadTest:
    """The test of a head's lead in one label: what it asks, and how the documents of a corpus vary."""

    lead: float
    "The lead that is to be found, over all documents there are."
    margin: float
    "What it must be more than."
    level: float
    "What the uncorrected p must be below."
    alpha: float
    "What the adjusted p must be below."
    spread: float
    "Standard deviation of the leads of documents of mean weight: the standard error times the root of their number."

    def power(self, documents: float) -> float:
        """Return the share of corpora of so many (effective) documents in which the lead is found.

        That of Student's t, which follows the noncentral distribution where leads of documents are normal; 0 for fewer
        documents than show any p below the level (see `Documents.p_above` and `p_unseen` of `probes.evidence.leads`).
        """
        from scipy.special import stdtrit
        from scipy.stats import nct

        if documents < self.fewest:
            return 0.0
        away = (self.lead - self.margin) * math.sqrt(documents) / max(self.spread, 1e-9)
        freedom = documents - 1
        return float(nct.sf(stdtrit(freedom, 1 - self.level), freedom, away)) if away < 30 else 1.0

    @property
    def fewest(self) -> float:
        """How few documents can show the lead at all; infinite where it is no larger than the margin."""
        return max(2, fewest_unseen(self.lead, self.margin, self.alpha), fewest_documents(1, self.level))

    def documents(self, power: float) -> int | None:
        """Return how many documents find the lead in that share of corpora; None for more than LARGEST."""
        if not self.fewest < LARGEST or self.power(LARGEST) < power:
            return None
        few = math.ceil(self.fewest)
        return few + bisect_left(range(few, LARGEST), power, key=self.power)


ALONE = 1 - 1e-6
"A document with more leverage than this decides a coefficient by itself."

LEVEL = 0.95
"Of intervals."

TINY = 1e-9
"The least error: a head that loses to its baseline on every item has none."

FAR = 1.959963984540054
"Standard deviations between a number and the ends of its 95 % interval, where it is normal."


@dataclass(frozen=True)
class ControlLevel:
    """The accuracy of a baseline that was estimated on other items than the heads: a number, or an array of them."""

    accuracy: float | Numbers
    error: float | Numbers
    "Standard error of the estimate."
    freedom: float | Numbers
    "Degrees of freedom of the error."


EXACT: Final = ControlLevel(0.0, 0.0, math.inf)
"Of leads that are paired item by item: nothing is to be taken away."


@dataclass(frozen=True)
class Means:
    """Means over the items of a corpus, and how they err from corpus to corpus; [scored] each."""

    total: Numbers
    n: float
    "Number of items."
    error: Numbers
    "Standard error of total / n."
    freedom: float
    cubes: Numbers
    "Sum over documents of the third power of what each moves the mean by."
    documents: int

    def _guarded(self, more: float, over: ControlLevel) -> tuple[Numbers, Numbers, Numbers | float]:
        """Return lead, error and its degrees of freedom with one more item, a document by itself, that has `more`.

        Where documents say all the same their own error is 0, and what was never seen would be excluded for certain.
        Errors of heads and control count as independent, their degrees of freedom are Welch's (1947, Biometrika 34).
        """
        lead = self.total / self.n - over.accuracy
        error = np.hypot(self.error, (more - lead) / (self.n + 1))
        lead = (self.total - over.accuracy * self.n + more) / (self.n + 1)
        if np.all(over.error == 0):
            return lead, error, self.freedom
        both = np.hypot(error, over.error)
        shares = error**4 / self.freedom + over.error**4 / over.freedom
        return lead, both, both**4 / np.maximum(shares, TINY**4)

    def bound(self, level: float, sign: float, over: ControlLevel) -> Numbers:
        """Return the one-sided bound of the lead over `over` at that level: the upper one for sign 1, else -1."""
        from scipy.special import stdtrit

        mean, error, freedom = self._guarded(sign, over)
        bound: Numbers = mean + sign * stdtrit(freedom, level) * error
        return bound

    def p_above(self, margin: float, over: ControlLevel, more: float = -1.0) -> Numbers:
        """Return the one-sided p of "the lead over `over` is at most `margin`".

        One more item is added that has `more`: of leads, the head is wrong there and its baseline right. Where few
        documents have a far smaller lead than the others, t is taken less their skewness (Hall 1992, Journal of the
        Royal Statistical Society B 54:1). No p is below one in all choices of a sign for every document: fewer than
        five documents show nothing at 5 %.
        """
        from scipy.special import stdtr

        mean, error, freedom = self._guarded(more, over)
        error = np.maximum(error, TINY)
        far = (mean - margin) / error
        skew = self.cubes / error**3
        bent = far + skew * far**2 / 3 + skew**2 * far**3 / 27 + skew / 6
        p: Numbers = np.maximum(stdtr(freedom, -np.minimum(far, bent)), 0.5**self.documents)
        return p


@dataclass(frozen=True)
class Documents:
    """The documents of one question, and what a mean over all of their items can err by.

    A head may do better in short documents than in long ones. So the mean of each document is regressed on the
    logarithm of its number of items, weighted by that number, and evaluated at the lengths of this very corpus: the
    estimate is the plain share of all items. Its error is that of leaving out one document after the other (CR3),
    with Satterthwaite's degrees of freedom where documents vary alike (Bell and McCaffrey 2002, Survey Methodology
    28:2; Pustejovsky and Tipton 2018, Journal of Business and Economic Statistics 36:4). To its square comes the part
    that is due to lengths: other documents of the same kind would have others.
    """

    n: Numbers
    "[document] Number of items, at least 1 each."
    design: Numbers
    "[document, coefficient] What means are regressed on."
    solve: Numbers
    "[coefficient, document] Coefficients from the means of documents."
    weight: Numbers
    "[document] Of the squared residuals in the squared error."
    lengths: Numbers
    "[coefficient, coefficient] Squared error of the mean row of the design."
    freedom: float
    "Effective degrees of freedom; NaN for fewer than two documents."

    @classmethod
    def of(cls, n: Numbers) -> Documents:
        """Return the documents with so many items each."""
        ones, logs = np.ones(len(n)), np.log(n)
        varied = len(n) > 2 and np.ptp(logs) > 0
        designs = [*([np.column_stack([ones, logs - logs.mean()])] if varied else []), ones[:, None]]
        for design in designs:
            solve = np.linalg.solve((design * n[:, None]).T @ design, (design * n[:, None]).T)
            leverage = (design * solve.T).sum(1)
            if leverage.max(initial=0) < ALONE:
                break
        share = n / n.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = share**2 / (1 - leverage) ** 2
            away = (design - share @ design) * (share / (1 - share))[:, None]
        fewest = len(n) < 2 or leverage.max() >= ALONE
        return cls(n, design, solve, weight, away.T @ away, np.nan if fewest else _freedom(design, solve, weight))

    @property
    def effective(self) -> float:
        """Effective number of documents (Kish 1965): how many of equal length would weigh as these do."""
        return float(self.n.sum() ** 2 / (self.n**2).sum())

    def error(self, totals: Numbers) -> Numbers:
        """Return [scored], the standard error of sum(totals) / sum(n); `totals` is [document, scored]."""
        if np.isnan(self.freedom):
            return np.full(totals.shape[1], np.nan)
        means = totals / self.n[:, None]
        slopes = self.solve @ means
        residuals = means - self.design @ slopes
        error: Numbers = np.sqrt(self.weight @ residuals**2 + (slopes * (self.lengths @ slopes)).sum(0))
        return error

    def lead_interval(self, totals: Numbers, over: ControlLevel = EXACT) -> Numbers:
        """Return [2, scored], the interval of a lead, the difference of two shares: that of `interval` in [-1, 1].

        `totals` are those over a baseline that was scored on the same items; beside one that was not, and is a `over`
        level, they are the hits.
        """
        interval: Numbers = np.clip(self.interval(totals, over), -1, 1)
        return interval

    def interval(self, totals: Numbers, over: ControlLevel = EXACT) -> Numbers:
        """Return [2, scored], the interval of sum(totals) / sum(n), less `over`; NaN for fewer than two documents.

        Each end is that of a one-sided bound, which one more item pulls outwards: after Agresti and Min (2005,
        Statistics in Medicine 24:5), who add such pairs so that the intervals of small corpora are wide enough.
        """
        measured = self.measured(totals)
        return np.stack([measured.bound((1 + LEVEL) / 2, sign, over) for sign in (-1.0, 1.0)])

    def measured(self, totals: Numbers) -> Means:
        """Return what sum(totals) / sum(n) is and how it errs, from which bounds and tests follow."""
        influence = self._influence(totals)
        cubes = (influence * influence * influence).sum(0)  # a power takes ten times as long
        return Means(totals.sum(0), self.n.sum(), self.error(totals), self.freedom, cubes, len(self.n))

    def share_interval(self, totals: Numbers) -> Numbers:
        """Return [2, scored], the interval of a share, cut off at 0 and 1.

        Two hits and two misses are added, each a document by itself (Agresti and Coull 1998, The American Statistician
        52:2), for where all documents say the same their own error is 0.
        """
        n = self.n.sum()
        middle = (totals.sum(0) + 2) / (n + 4)
        added = 2 * (middle**2 + (1 - middle) ** 2)
        far = _quantile((1 + LEVEL) / 2, self.freedom) * np.sqrt((n * self.error(totals)) ** 2 + added) / (n + 4)
        interval: Numbers = np.clip([middle - far, middle + far], 0, 1)
        return interval

    def upper_bound(self, totals: Numbers, level: float = 0.95, over: ControlLevel = EXACT) -> Numbers:
        """Return [scored], what the lead sum(totals) / sum(n), less `over`, is not above, each by itself; at most 1.

        One more item is added on which the head is right and its baseline wrong.
        """
        bound: Numbers = np.minimum(self.measured(totals).bound(level, 1.0, over), 1)
        return bound

    def p_above(self, totals: Numbers, margin: float, over: ControlLevel = EXACT) -> Numbers:
        """Return [scored], the p of "the lead sum(totals) / sum(n), less `over`, is at most `margin`"."""
        return self.measured(totals).p_above(margin, over)

    def _influence(self, totals: Numbers) -> Numbers:
        """Return [document, scored], how far each document moves the estimate."""
        n, mean = self.n[:, None], totals.sum(0) / self.n.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            influence: Numbers = (totals - n * mean) / (n.sum() - n)
        return influence


def _freedom(design: Numbers, solve: Numbers, weight: Numbers) -> float:
    """Return Satterthwaite's degrees of freedom of sum(weight * residual**2) for means of equal variance.

    Residuals have the covariance 1 - `left` @ `right`.T, so that no matrix [document, document] is needed.
    """
    left = np.concatenate([design, solve.T], axis=1)
    right = np.concatenate([solve.T - design @ (solve @ solve.T), design], axis=1)
    shared = (left * right).sum(1)
    first = (weight * (1 - shared)).sum()
    crossed = ((left * weight[:, None]).T @ left) * ((right * weight[:, None]).T @ right)
    second = (weight**2 * (1 - 2 * shared)).sum() + crossed.sum()
    return float(first**2 / second)


def _quantile(level: float, freedom: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, level))


def p_unseen(leads: Numbers, documents: Numbers | float, margin: float) -> Numbers:
    """Return how likely documents are all missing from a corpus in which heads fail, and that would matter.

    A test sees how documents vary that there are. Were a head wrong and its baseline right in all words of some share
    of documents, its lead of `leads` in the others could be the margin over all; that so many (effective) documents
    hold none of them has this probability. It is that of one head, and is not corrected for their number.
    """
    share = np.clip((leads - margin) / np.maximum(1 + leads, 1e-9), 0, 1)
    missing: Numbers = (1 - share) ** documents
    return missing


def p_of_leads(documents: Documents, heads: Numbers, baselines: Numbers, margin: float) -> Numbers:
    """Return [head], the p of "the head leads some baseline by no more than `margin`", of hits [document, head].

    It is that of the baseline over which the lead is least sure. NaN without a baseline, and for fewer than two
    documents.
    """
    if not baselines.shape[1] or np.isnan(documents.freedom):
        return np.full(heads.shape[1], np.nan)
    over = [documents.p_above(heads - baselines[:, [baseline]], margin) for baseline in range(baselines.shape[1])]
    largest: Numbers = np.max(over, axis=0)
    return largest


def holm(p: Numbers) -> Numbers:
    """Return p-values corrected for their number, however they depend on each other (Holm 1979)."""
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return corrected


def two_sided(n: Numbers, totals: Numbers, against: float = 0.0) -> Numbers:
    """Return [2, scored], p of "the mean is 0", each by itself and corrected for their number (Holm 1979).

    Of `n` [cluster] items, whose sums are `totals` [cluster, scored]. p is twice that of the direction that was seen,
    as of leads: Student's t by cluster, less its skewness (`Means.p_above`), with one more item that is `against` the
    direction: 1 for shares, 0 for values without bounds, of which the unit does not matter. NaN for one cluster.
    """
    documents = Documents.of(n)
    if not against:
        totals = totals / np.maximum(np.abs(totals).max(0), np.finfo(float).tiny)
    p = [documents.measured(sign * totals).p_above(0, EXACT, -against) for sign in (1, -1)]
    single = np.minimum(2 * np.minimum(*p), 1)
    return np.stack([single, holm(single)])


def paired_difference(n: Numbers, first: Numbers, second: Numbers) -> tuple[Estimate, float]:
    """Return second minus first where both runs answered the same items, and its p; `n` and the hits are [document].

    Interval and p are those of leads (`Documents`), p twice that of the direction that was seen.
    """
    more = (second - first)[:, None]
    low, high = Documents.of(n).lead_interval(more)[:, 0].tolist()
    return Estimate(float(more.sum() / n.sum()), low, high, int(n.sum())), float(two_sided(n, more, 1)[0, 0])


def independent_difference(first: Estimate, second: Estimate) -> tuple[Estimate, float]:
    """Return second minus first, and its p, as they follow from both numbers' intervals, as if independent.

    Each end of the interval takes the ends of both that lie in its direction (Zou and Donner 2008, Statistics in
    Medicine 27:10, the MOVER). Runs that read the same texts err in the same direction, mostly, and then this interval
    is too wide. p is below 0.05 exactly where the interval leaves 0 out.
    """
    value = second.value - first.value
    low = value - math.hypot(second.value - second.low, first.high - first.value)
    high = value + math.hypot(second.high - second.value, first.value - first.low)
    found = Estimate(value, low, high, min(first.n, second.n))
    return found, _p(abs(value), value - low if value > 0 else high - value)


def _p(distance: float, reach: float) -> float:
    """Return the two-sided p of a difference that lies `distance` from 0, and `reach` from the end nearest to 0."""
    if math.isnan(distance) or math.isnan(reach):
        return math.nan
    if distance == 0:
        return 1.0
    return math.erfc(FAR * distance / reach / math.sqrt(2)) if reach > 0 else math.nan
