"""Simulated runs: documents drawn from the counts of one large pass, judged by the statistics that judge real runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from probes.evidence.control_heads import away
from probes.evidence.leads import p_unseen
from probes.evidence.question import GRADED, QuestionScores, strongest_leads
from probes.evidence.results import Split
from probes.evidence.statistics import VerdictRule, adjust
from probes.records import IntArray
from probes.scoring.baselines import LEXICAL
from probes.scoring.expert_rules import RULES
from probes.scoring.tally import Numbers, Pooled, Question, Sums

GRADES = (1, 2, 3)
"Beyond position and controls, beyond words, beyond grammar rules."


@dataclass(frozen=True)
class Pool:
    """The counts of one large pass, question by question: the population that documents are drawn from."""

    documents: int
    heads: Pooled
    baselines: Mapping[str, Pooled]
    "One scored column each; the lexical table and the rules of grammar among them."
    controls: Mapping[str, Pooled]
    "By kind of control, the best heads of its models, [document, model]; a run draws MODELS of them."
    sampled: int = 200
    "Documents that controls read at the most."

    @classmethod
    def of(cls, split: Split) -> Pool:
        """Return the population that has the documents of a report split, as often as a run draws them."""
        documents = max(split.clusters) + 1
        return cls(documents, split.heads, split.baselines, split.controls, documents)

    def columns(self, heads: Sequence[int]) -> Pool:
        """Return the pool of a model that has only these heads."""
        keep = np.array(heads, np.int64)
        return replace(self, heads={question: sums.columns(keep) for question, sums in self.heads.items()})

    def only(self, questions: Sequence[Question]) -> Pool:
        """Return the pool of a run that asks these questions only."""
        return self.mapped(lambda pooled: {question: pooled[question] for question in questions if question in pooled})

    def mapped(self, change: Callable[[Pooled], Pooled]) -> Pool:
        """Return the pool with all its sums changed."""
        baselines, controls = (
            {name: change(pooled) for name, pooled in parts.items()} for parts in (self.baselines, self.controls)
        )
        return replace(self, heads=change(self.heads), baselines=baselines, controls=controls)

    def truth(self, question: Question) -> Truth:
        """Return what an endless run would find."""
        sums = self.heads[question]
        n, best = sums.n.sum(), np.full(len(GRADES), np.nan)
        for name, pooled in self.baselines.items():
            if question in pooled:
                grade = baseline_grade(name)
                best[grade - 1] = np.fmax(best[grade - 1], float(pooled[question].hits.sum() / n))
        for kind, pooled in self.controls.items():
            if question in pooled:
                best[0] = np.fmax(best[0], true_level(pooled[question], away(kind)))
        accuracy = sums.hits.sum(0) / n
        strongest = np.maximum.accumulate(best)  # NaN from the first grade on that has no baseline
        return Truth(accuracy, sums.mass.sum(0) / n, accuracy - strongest[:, None])

    def level(self, grade: int, lead: float, only: Mapping[Question, int] | None = None) -> Pool:
        """Return the pool in which every head is ahead of all baselines up to a grade by exactly `lead`, or by more.

        The strongest of them is led by that much. The hits of all documents are moved by as much an item, so that how
        they vary stays as it is. With `only` one head of each of these questions is moved, and the others stay.
        """
        moved = {}
        for question, sums in self.heads.items():
            off = self.truth(question).leads[grade - 1] - lead
            if only is not None:
                off = np.where(np.arange(len(off)) == only.get(question, -1), off, 0)
            moved[question] = replace(sums, hits=sums.hits - sums.n[:, None] * off)
        return replace(self, heads=moved)

    def unequal(self, spread: float, seed: int) -> Pool:
        """Return the pool whose documents are joined to longer ones of very unequal length.

        The logarithm of how many are joined is normal with standard deviation `spread` (rounded up).
        """
        random = np.random.default_rng(seed)
        sizes = np.ceil(np.exp(random.normal(0, spread, self.documents))).astype(np.int64)
        group = np.repeat(np.arange(len(sizes)), sizes)[: self.documents]
        joined = self.mapped(lambda pooled: _joined(pooled, group))
        return replace(joined, documents=int(group.max()) + 1)

    def tilted(self, slope: float) -> Pool:
        """Return the pool whose heads have `slope` more hits an item for each halving of a document's length.

        All in all they are as good as before. A run that draws other lengths finds other accuracies.
        """
        tilted = {}
        for question, sums in self.heads.items():
            shorter = -np.log2(sums.n)
            extra = slope * sums.n * (shorter - (shorter * sums.n).sum() / sums.n.sum())
            tilted[question] = replace(sums, hits=sums.hits + extra[:, None])
        return replace(self, heads=tilted)


def true_level(best: Sums, far: float) -> float:
    """Return the level of the models of which these are the best heads, were there no other models or documents.

    It lies `far` standard deviations above their mean.
    """
    accuracies = best.hits.sum(0) / best.n.sum()
    return min(float(accuracies.mean() + far * accuracies.std()), 1.0)


def baseline_grade(name: str) -> int:
    """Return the grade that a head must lead this baseline, control, table or rule for."""
    return 2 if name == LEXICAL else 3 if name in RULES else 1


def _joined(pooled: Pooled, group: IntArray) -> Pooled:
    """Return the sums of joined documents; `group` is the number of each document's new one."""
    joined = {}
    for question, sums in pooled.items():
        clusters, place = np.unique(group[list(sums.clusters)], return_inverse=True)
        by_cluster: dict[str, Numbers] = {}
        for name in ("n", "hits", "mass"):
            part = getattr(sums, name)
            by_cluster[name] = np.zeros((len(clusters), *part.shape[1:]))
            np.add.at(by_cluster[name], place, part)
        joined[question] = replace(sums, clusters=tuple(clusters.tolist()), **by_cluster)
    return joined


@dataclass(frozen=True)
class Truth:
    """What holds in the population, [head] each."""

    accuracy: Numbers
    mass: Numbers
    leads: Numbers
    "[grade, head] Over the strongest of all baselines up to each grade; NaN from the first grade on that has none."

    @property
    def margin(self) -> Numbers:
        """The lead over the strongest baseline or control."""
        margin: Numbers = self.leads[0]
        return margin


@dataclass(frozen=True)
class SimulatedQuestion:
    """One question of one simulated run."""

    scores: QuestionScores
    split: Split
    "What the scores are of: the sums of the report split."
    p_adjusted: Numbers
    "[grade, head] Corrected for heads and labels."
    grade: IntArray
    "[head]"
    verdict: str
    "yes, no, undecided, or empty where nothing was tested."


def simulated_runs(
    pool: Pool, documents: int, runs: range, rule: VerdictRule, seed: Sequence[int]
) -> Iterator[dict[Question, SimulatedQuestion]]:
    """Yield what the runs of these numbers find, with `documents` documents in either split, drawn with replacement.

    Controls are drawn anew in each run; what is learned (offsets, the lexical table) was learned once, on the
    whole population.
    """
    for number in runs:
        random = np.random.default_rng([*seed, number])
        select, report = (random.integers(pool.documents, size=documents) for _ in range(2))
        yield judge(pool, select, report, rule, random)


def judge(
    pool: Pool, select: IntArray, report: IntArray, rule: VerdictRule, random: np.random.Generator
) -> dict[Question, SimulatedQuestion]:
    """Return what a run finds whose splits are these documents of the pool; all its labels are one family."""
    split = _report_split(pool, report, random)
    found: dict[Question, QuestionScores] = {}
    for question in split.heads:
        selected = bool(np.isin(select, pool.heads[question].clusters).any())
        found[question] = split.estimate(question, test=selected, margin=rule.margin)
    adjusted = _adjusted(found, rule.margin)
    return {
        question: _judged(scores, split, p_adjusted, rule)
        for (question, scores), p_adjusted in zip(found.items(), adjusted, strict=True)
    }


MODELS = 20
"Models of each kind of control that a run has, at the most."


def _report_split(pool: Pool, report: IntArray, random: np.random.Generator) -> Split:
    """Return the sums of the report split, with models of controls that were drawn for it and read some of it."""
    heads = _all_drawn(pool.heads, report)
    baselines = {name: _all_drawn(pooled, report) for name, pooled in pool.baselines.items()}
    controls = dict[str, Pooled]()
    for name, pooled in pool.controls.items():
        count = next(iter(pooled.values())).hits.shape[1]
        models = random.integers(count, size=min(MODELS, count))
        sample = _all_drawn(pooled, report[: pool.sampled])
        controls[name] = {question: sums.columns(models) for question, sums in sample.items()}
    return Split(heads, baselines, controls)


def _adjusted(found: Mapping[Question, QuestionScores], margin: float) -> list[Numbers]:
    """Return [grade, head] of each question: p corrected for the heads of a label, then for all labels of the run."""
    by_grade = [adjust([one[name] for one in found.values()], dependent=True) for name in GRADED]
    return [
        np.maximum(np.stack(grades), p_unseen(strongest_leads(one), one["effective_clusters"], margin))
        for one, grades in zip(found.values(), zip(*by_grade, strict=True), strict=True)
    ]


def _judged(scores: QuestionScores, split: Split, p_adjusted: Numbers, rule: VerdictRule) -> SimulatedQuestion:
    grade = rule.grades([*p_adjusted])
    verdict = "yes" if grade.any() else "no" if scores["excluded"] < rule.margin else "undecided"
    tested = np.isfinite(scores["p"]).any()
    return SimulatedQuestion(scores, split, p_adjusted, grade, verdict if tested else "")


def stacked(pools: Sequence[Pool]) -> Pool:
    """Return the pool of all documents of several pools that have the same questions."""
    first = pools[0]

    def join(parts: Sequence[Pooled]) -> Pooled:
        shift = [sum(pool.documents for pool in pools[:number]) for number in range(len(pools))]
        return {
            question: Sums(
                tuple(
                    cluster + by for part, by in zip(parts, shift, strict=True) for cluster in part[question].clusters
                ),
                *(np.concatenate([getattr(part[question], name) for part in parts]) for name in ("n", "hits", "mass")),
                *(
                    np.sum([getattr(part[question], name) for part in parts], axis=0)
                    for name in ("coverage", "near_ties")
                ),
            )
            for question in parts[0]
        }

    return Pool(
        sum(pool.documents for pool in pools),
        join([pool.heads for pool in pools]),
        {name: join([pool.baselines[name] for pool in pools]) for name in first.baselines},
        {name: join([pool.controls[name] for pool in pools]) for name in first.controls},
        first.sampled,
    )


def drawn(sums: Sums, documents: IntArray) -> Sums | None:
    """Return the sums of drawn documents as clusters of their own, in the order drawn; None if none has an item.

    Coverage and near-ties, which sums do not keep by document, are missing.
    """
    place = np.searchsorted(sums.clusters, documents).clip(max=len(sums.clusters) - 1)
    there = np.flatnonzero(np.asarray(sums.clusters)[place] == documents)
    if not len(there):
        return None
    rows = place[there]
    return Sums.of_hits(tuple(there.tolist()), sums.n[rows], sums.hits[rows], sums.mass[rows])


def _all_drawn(pooled: Pooled, documents: IntArray) -> Pooled:
    """Return the sums of drawn documents for every question that has an item there."""
    parts = ((question, drawn(sums, documents)) for question, sums in pooled.items())
    return {question: sums for question, sums in parts if sums is not None}
