"""What heads and their leads over rivals are, give or take: intervals, tests and bounds for documents of any length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from probes.scoring.tally import Numbers

ALONE = 1 - 1e-6
"A document with more leverage than this decides a coefficient by itself."


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

    def interval(self, totals: Numbers, level: float = 0.95) -> Numbers:
        """Return [2, scored], the interval of sum(totals) / sum(n); NaN for fewer than two documents."""
        far = _quantile((1 + level) / 2, self.freedom) * self.error(totals)
        mean = totals.sum(0) / self.n.sum()
        return np.stack([mean - far, mean + far])

    def share_interval(self, totals: Numbers, level: float = 0.95) -> Numbers:
        """Return [2, scored], the interval of a share, made on the scale of log odds: it stays within [0, 1].

        It has no width where the share is 0 or 1.
        """
        from scipy.special import expit, logit

        share = totals.sum(0) / self.n.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            far = _quantile((1 + level) / 2, self.freedom) * self.error(totals) / (share * (1 - share))
            ends = expit(np.stack([logit(share) - far, logit(share) + far]))
        known = np.isfinite(self.freedom) & ((share <= 0) | (share >= 1))
        interval: Numbers = np.where(known, share, ends)
        return interval

    def upper_bound(self, totals: Numbers, level: float = 0.95) -> Numbers:
        """Return [scored], what sum(totals) / sum(n) is not above, each by itself at that level."""
        bound: Numbers = totals.sum(0) / self.n.sum() + _quantile(level, self.freedom) * self.error(totals)
        return bound

    def p_above(self, totals: Numbers, margin: float) -> Numbers:
        """Return [scored], the one-sided p of "sum(totals) / sum(n) is at most `margin`".

        No p is below one in all choices of a sign for every document: fewer than five documents show nothing at 5 %.
        """
        from scipy.special import stdtr

        error = self.error(totals)
        lead = totals.sum(0) / self.n.sum() - margin
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(np.abs(lead) < 1e-12, 0, lead / error)
        p: Numbers = np.maximum(stdtr(self.freedom, -far), 0.5 ** len(self.n))
        return p


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


def p_of_leads(documents: Documents, heads: Numbers, rivals: Numbers, margin: float) -> Numbers:
    """Return [head], the p of "the head leads some rival by no more than `margin`": hits [document, head or rival].

    It is that of the rival over which the lead is least sure, and needs no correction for their number
    (intersection-union, Berger 1982, Technometrics 24:4). NaN without a rival, and for fewer than two documents.
    """
    if not rivals.shape[1] or np.isnan(documents.freedom):
        return np.full(heads.shape[1], np.nan)
    over = [documents.p_above(heads - rivals[:, [rival]], margin) for rival in range(rivals.shape[1])]
    largest: Numbers = np.max(over, axis=0)
    return largest


def holm(p: Numbers) -> Numbers:
    """Return p-values corrected for their number, however they depend on each other (Holm 1979)."""
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return corrected
