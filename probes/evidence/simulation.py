"""Simulated runs: documents drawn from the counts of one large pass, judged by the statistics that judge real runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from probes.evidence.question import Draws, Effort, Evidence, weigh
from probes.evidence.results import control_sums
from probes.evidence.statistics import VerdictRule, adjust
from probes.records import IntArray
from probes.registry import CONTROL_ARCS
from probes.scoring.baselines import LEXICAL
from probes.scoring.tally import Numbers, Pooled, Question, Sums

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Pool:
    """The counts of one large pass, question by question: the population that documents are drawn from."""

    documents: int
    heads: Pooled
    baselines: Mapping[str, Pooled]
    "One scored column each; the lexical table among them."
    arcs: Pooled
    "The same heads on control arcs."
    controls: Mapping[str, Pooled]
    "Heads of other models. Of these, as of control arcs, a run takes the head that is best on its two splits together."

    def columns(self, heads: Sequence[int]) -> Pool:
        """Return the pool of a model that has only these heads."""
        keep = np.array(heads, np.int64)
        own, arcs = (
            {question: _take(sums, columns=keep) for question, sums in pooled.items()}
            for pooled in (self.heads, self.arcs)
        )
        return replace(self, heads=own, arcs=arcs)

    def only(self, questions: Sequence[Question]) -> Pool:
        """Return the pool of a run that asks these questions only."""

        def kept(pooled: Pooled) -> Pooled:
            return {question: pooled[question] for question in questions if question in pooled}

        baselines, controls = (
            {name: kept(pooled) for name, pooled in parts.items()} for parts in (self.baselines, self.controls)
        )
        return Pool(self.documents, kept(self.heads), baselines, kept(self.arcs), controls)

    def chosen(self, question: Question) -> dict[str, Sums]:
        """Return what has several heads of which the best is a control of the question."""
        several = {CONTROL_ARCS: self.arcs, **self.controls}
        return {name: pooled[question] for name, pooled in several.items() if question in pooled}

    def truth(self, question: Question) -> Truth:
        """Return what an endless run would find."""
        sums = self.heads[question]
        single = {name: pooled[question] for name, pooled in self.baselines.items() if question in pooled}
        single.pop(LEXICAL, None)
        n = sums.n.sum()
        beaten = [float((one.hits.sum(0) / n).max()) for one in (*single.values(), *self.chosen(question).values())]
        accuracy = sums.hits.sum(0) / n
        return Truth(accuracy, sums.mass.sum(0) / n, accuracy - max(beaten))

    def level(self) -> Pool:
        """Return the pool in which every head has exactly the accuracy of the strongest baseline or control.

        The hits of all its documents are moved by as much an item, so that how they vary stays as it is: the border of
        the null hypothesis.
        """
        moved = {}
        for question, sums in self.heads.items():
            moved[question] = replace(sums, hits=sums.hits - sums.n[:, None] * self.truth(question).margin)
        return replace(self, heads=moved)

    def unequal(self, spread: float, slope: float, seed: int) -> Pool:
        """Return the pool whose documents are joined to longer ones of very unequal length.

        The logarithm of how many are joined is normal with standard deviation `spread` (rounded up). Heads get `slope`
        more hits an item for each halving of the length of a document, and as much less in long ones that their
        accuracies stay: what the sign-flip test does not allow for.
        """
        random = np.random.default_rng(seed)
        sizes = np.ceil(np.exp(random.normal(0, spread, self.documents))).astype(np.int64)
        group = np.repeat(np.arange(len(sizes)), sizes)[: self.documents]
        heads, arcs = _joined(self.heads, group), _joined(self.arcs, group)
        tilted = {}
        for question, sums in heads.items():
            shorter = -np.log2(sums.n)
            extra = slope * sums.n * (shorter - (shorter * sums.n).sum() / sums.n.sum())
            tilted[question] = replace(sums, hits=sums.hits + extra[:, None])
        baselines, controls = (
            {name: _joined(pooled, group) for name, pooled in parts.items()}
            for parts in (self.baselines, self.controls)
        )
        return Pool(int(group.max()) + 1, tilted, baselines, arcs, controls)


def _joined(pooled: Pooled, group: IntArray) -> Pooled:
    """Return the sums of joined documents; `group` is the number of each document's new one."""
    joined = {}
    for question, sums in pooled.items():
        clusters, place = np.unique(group[list(sums.clusters)], return_inverse=True)
        parts = (sums.n[:, None], sums.hits, sums.mass, sums.coverage, sums.near_ties)
        n, *others = (np.zeros((len(clusters), part.shape[1])) for part in parts)
        for total, part in zip((n, *others), parts, strict=True):
            np.add.at(total, place, part)
        joined[question] = Sums(tuple(clusters.tolist()), n[:, 0], *others)
    return joined


@dataclass(frozen=True)
class Truth:
    """What holds in the population, [head] each."""

    accuracy: Numbers
    mass: Numbers
    margin: Numbers


@dataclass(frozen=True)
class SimulatedQuestion:
    """One question of one simulated run, [head] each."""

    evidence: Evidence
    p_adjusted: Numbers
    specialised: Flags


def simulated_runs(
    pool: Pool, documents: int, runs: range, effort: Effort, rule: VerdictRule, seed: Sequence[int]
) -> Iterator[dict[Question, SimulatedQuestion]]:
    """Yield what the runs of these numbers find, with `documents` documents in either split, drawn with replacement.

    The heads of controls are chosen anew in each run, as in a real run; what is learned (offsets, the lexical table)
    was learned once, on the whole population.
    """
    for number in runs:
        random = np.random.default_rng([*seed, number])
        select, report = (random.integers(pool.documents, size=documents) for _ in range(2))
        yield judge(pool, select, report, replace(effort, seed=int(random.integers(2**32))), rule)


def judge(
    pool: Pool, select: IntArray, report: IntArray, effort: Effort, rule: VerdictRule
) -> dict[Question, SimulatedQuestion]:
    """Return what a run finds whose splits are these documents of the pool."""
    draws = Draws.of(range(len(report)), effort, 1)
    found: dict[Question, Evidence] = {}
    for question in pool.heads:
        told = drawn(pool.heads[question], report)
        if told is None:
            continue
        beaten = {
            name: _known(drawn(pooled[question], report))
            for name, pooled in pool.baselines.items()
            if question in pooled
        }
        table = beaten.pop(LEXICAL, None)
        for name, sums in pool.chosen(question).items():
            if (seen := drawn(sums, select)) is not None:
                pair = {question: seen}, {question: _known(drawn(sums, report))}
                beaten[name] = control_sums(*pair)[1][question]
        found[question] = weigh(told, beaten, table, draws, test=True)
    adjusted = adjust([evidence.p_label for evidence in found.values()])
    return {
        question: SimulatedQuestion(evidence, p, rule.specialised(p, evidence.margin))
        for (question, evidence), p in zip(found.items(), adjusted, strict=True)
    }


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
                *(
                    np.concatenate([getattr(part[question], name) for part in parts])
                    for name in ("n", "hits", "mass", "coverage", "near_ties")
                ),
            )
            for question in parts[0]
        }

    return Pool(
        sum(pool.documents for pool in pools),
        join([pool.heads for pool in pools]),
        {name: join([pool.baselines[name] for pool in pools]) for name in first.baselines},
        join([pool.arcs for pool in pools]),
        {name: join([pool.controls[name] for pool in pools]) for name in first.controls},
    )


def drawn(sums: Sums, documents: IntArray) -> Sums | None:
    """Return the sums of drawn documents as clusters of their own, in the order drawn; None if none has an item."""
    place = np.searchsorted(sums.clusters, documents).clip(max=len(sums.clusters) - 1)
    there = np.flatnonzero(np.asarray(sums.clusters)[place] == documents)
    if not len(there):
        return None
    return replace(_take(sums, rows=place[there]), clusters=tuple(there.tolist()))


def _known(sums: Sums | None) -> Sums:
    assert sums is not None  # a baseline answers every item that heads are asked
    return sums


def _take(sums: Sums, rows: IntArray | None = None, columns: IntArray | None = None) -> Sums:
    across = slice(None) if rows is None else rows
    parts = (sums.hits, sums.mass, sums.coverage, sums.near_ties)
    hits, mass, coverage, near_ties = (part[across] if columns is None else part[across][:, columns] for part in parts)
    return replace(sums, n=sums.n[across], hits=hits, mass=mass, coverage=coverage, near_ties=near_ties)
