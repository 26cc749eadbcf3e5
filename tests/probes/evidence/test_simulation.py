"""Simulated runs: what is drawn, what is true of a population, and that real runs give the same numbers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from probes.evidence.control_heads import QUANTILE
from probes.evidence.question import Effort
from probes.evidence.results import ADJUSTED, Split, add_verdicts, score_table
from probes.evidence.simulation import Pool, SimulatedQuestion, drawn, judge, stacked
from probes.evidence.statistics import VerdictRule
from probes.registry import RANDOM, WORDS
from probes.scoring.baselines import LEXICAL
from probes.scoring.tally import Pooled, Question, Sums

A: Question = ("dependency", "v", "a")
B: Question = ("dependency", "v", "b")
C: Question = ("position", "v", "c")
EFFORT = Effort(replicates=200, seed=3)
SHAPE = (2, 3)


def sums_of(n: Sequence[float], hits: object, clusters: Sequence[int] | None = None) -> Sums:
    """Sums with a row of hits a cluster; mass, coverage and near-ties are other numbers."""
    columns = np.array(hits, np.float64).reshape(len(n), -1)
    numbers = tuple(range(len(n))) if clusters is None else tuple(clusters)
    return Sums(numbers, np.array(n, np.float64), columns, columns / 2, (columns + 1).sum(0), columns.sum(0) / 4)


def random_sums(random: np.random.Generator, clusters: Sequence[int], rates: Sequence[float]) -> Sums:
    """Sums of as many heads as there are rates; clusters have 5 to 20 items each."""
    n = np.array([5 + cluster % 16 for cluster in clusters], np.float64)
    hits = random.binomial(n[:, None].astype(int), np.array(rates), size=(len(n), len(rates))).astype(float)
    return Sums(tuple(clusters), n, hits, hits * 0.9, hits.sum(0) + n.sum() / 20, hits.sum(0) // 4)


def random_pool(documents: int, seed: int = 0) -> Pool:
    """Three questions with all kinds of controls; B is asked in two of three documents, and C has no table."""
    random = np.random.default_rng(seed)
    every = list(range(documents))
    some = [number for number in every if number % 3]
    asked = {A: every, B: some, C: every}

    def pooled(rates: dict[Question, Sequence[float]]) -> Pooled:
        return {question: random_sums(random, asked[question], rates[question]) for question in rates}

    return Pool(
        documents,
        pooled({A: [0.2, 0.25, 0.5, 0.3, 0.1, 0.3], B: [0.8, 0.3, 0.3, 0.3, 0.3, 0.42], C: [0.1, 0.2, 0.3, 0.3, 0, 1]}),
        {
            "offset": pooled({A: [0.3], B: [0.32], C: [0.25]}),
            "uniform": pooled({A: [0.1], B: [0.1], C: [0.05]}),
            LEXICAL: pooled({A: [0.45], B: [0.5]}),
            "nearest word of a tag set": pooled({A: [0.4], B: [0.6]}),
            "nearest noun or pronoun": pooled({B: [0.65]}),
        },
        {RANDOM: pooled({A: [0.3, 0.1, 0.33, 0.2], B: [0.2, 0.2, 0.2, 0.2], C: [0.1, 0.2, 0.3, 0.3]})},
    )


# --- drawn


def test_drawn_documents_are_clusters_of_their_own_in_the_order_drawn() -> None:
    """Document 7 is drawn twice, 3 has no item of the question, 9 is beyond all that have one."""
    found = drawn(sums_of([10, 20, 30], [[1, 2], [3, 4], [5, 6]], clusters=[2, 5, 7]), np.array([7, 3, 2, 7, 9]))
    assert found is not None
    assert found.clusters == (0, 2, 3)
    assert found.n.tolist() == [30, 10, 30]
    assert found.hits.tolist() == [[5, 6], [1, 2], [5, 6]]
    assert found.mass.tolist() == [[2.5, 3], [0.5, 1], [2.5, 3]]
    assert np.isnan([found.coverage, found.near_ties]).all()


# --- Pool


POOL = Pool(
    3,
    {A: sums_of([10, 30, 10], [[5, 1, 10], [20, 3, 30], [5, 1, 10]]), B: sums_of([20], [[2, 4, 10]], clusters=[1])},
    {
        "offset": {A: sums_of([10, 30, 10], [3, 12, 5])},
        LEXICAL: {A: sums_of([10, 30, 10], [9, 28, 9])},
        "nearest word of a tag set": {A: sums_of([10, 30, 10], [9, 20, 1]), B: sums_of([20], [20], clusters=[1])},
        "first noun or pronoun": {A: sums_of([10, 30, 10], [10, 30, 8])},
    },
    {RANDOM: {A: sums_of([10, 30, 10], [[5, 5], [15, 15], [5, 5]]), B: sums_of([20], [[6, 6]], clusters=[1])}},
)
"""Of question A heads have 30, 5 and 50 of 50, the offset 20, the models of the control 25 each, the table 46 and the
best of two rules 48. B has no table."""


def test_leads_for_a_grade_are_over_the_rivals_up_to_it_and_unknown_from_the_first_grade_on_that_has_none() -> None:
    leads = POOL.truth(A).leads
    np.testing.assert_allclose(leads, [[0.1, -0.4, 0.5], [-0.32, -0.82, 0.08], [-0.36, -0.86, 0.04]])
    np.testing.assert_allclose(POOL.truth(B).leads, [[-0.2, -0.1, 0.2], [np.nan] * 3, [np.nan] * 3])
    weak = replace(POOL, baselines=POOL.baselines | {LEXICAL: {A: sums_of([10, 30, 10], [1, 1, 1])}})
    np.testing.assert_allclose(weak.truth(A).leads[1], leads[0], err_msg="the offset is stronger than the table")


def test_of_word_orders_the_mean_counts_and_of_models_what_95_percent_stay_below() -> None:
    """Models of 12 and 38 of 50: their mean is 25 of 50, their standard deviation 13 of 50."""
    both = {A: sums_of([10, 30, 10], [[2, 8], [8, 22], [2, 8]])}
    orders, models = (replace(POOL, baselines={}, controls={kind: both}).truth(A).margin for kind in (WORDS, RANDOM))
    np.testing.assert_allclose(orders, [0.1, -0.4, 0.5])
    np.testing.assert_allclose(models, orders - QUANTILE * 13 / 50)


@pytest.mark.parametrize("grade", [1, 2, 3])
def test_in_a_level_pool_every_head_has_the_lead_of_the_grade_and_varies_as_before(grade: int) -> None:
    pool = random_pool(40).only([A, B])
    level = pool.level(grade, 0.05)
    for question, sums in pool.heads.items():
        leads = level.truth(question).leads
        np.testing.assert_allclose(leads[grade - 1], 0.05, atol=1e-12)
        assert (leads[: grade - 1] >= 0.05 - 1e-12).all()
        before, after = (part.hits / sums.n[:, None] for part in (sums, level.heads[question]))
        np.testing.assert_allclose(before - after, np.broadcast_to((before - after)[:1], before.shape), atol=1e-12)
        np.testing.assert_array_equal(level.heads[question].mass, sums.mass)
    assert level.controls == pool.controls
    np.testing.assert_allclose(level.level(grade, 0.05).heads[A].hits, level.heads[A].hits, atol=1e-9)


def test_stacked_pools_have_the_documents_of_all_one_after_the_other() -> None:
    one, two = random_pool(6), random_pool(9, seed=1)
    both = stacked([one, two])
    assert both.documents == 15
    assert both.heads[B].clusters == (1, 2, 4, 5, 7, 8, 10, 11, 13, 14)
    for part in (lambda pool: pool.heads, lambda pool: pool.controls[RANDOM]):
        for field in ("n", "hits", "mass"):
            apart = np.concatenate([getattr(part(pool)[B], field) for pool in (one, two)])
            np.testing.assert_array_equal(getattr(part(both)[B], field), apart)
        for field in ("coverage", "near_ties"):
            apart = sum(getattr(part(pool)[B], field) for pool in (one, two))
            np.testing.assert_array_equal(getattr(part(both)[B], field), apart)
    assert sorted(both.baselines) == sorted(one.baselines)
    again = drawn(both.heads[B], np.array([6 + 4]))
    assert again is not None
    np.testing.assert_array_equal(again.hits, two.heads[B].hits[[2]])


# --- the statistics of real runs


def renumbered(pooled: Pooled, documents: range) -> dict[Question, Sums]:
    """The sums of some documents as a corpus of theirs would have them, but for totals, which are 0 here."""
    found = {}
    for question, sums in pooled.items():
        rows = [row for row, cluster in enumerate(sums.clusters) if cluster in documents]
        if rows:
            clusters = tuple(sums.clusters[row] - documents.start for row in rows)
            totals = np.zeros((2, sums.hits.shape[1]))
            found[question] = Sums(clusters, sums.n[rows], sums.hits[rows], sums.mass[rows], *totals)
    return found


def real_run(
    pool: Pool, select: range, report: range, models: np.ndarray, effort: Effort, rule: VerdictRule
) -> pd.DataFrame:
    """The scores of a run on two splits as `experiments.run.run` makes them."""
    splits = [
        Split(renumbered(pool.heads, part), {name: renumbered(pooled, part) for name, pooled in pool.baselines.items()})
        for part in (select, report)
    ]
    for name, pooled in pool.controls.items():
        found = renumbered(pooled, report)
        splits[1].controls[name] = {question: sums.columns(models) for question, sums in found.items()}
    return add_verdicts(score_table(*splits, shape=SHAPE, effort=effort, margin=rule.margin), rule)


def assert_same(judged: dict[Question, SimulatedQuestion], scores: pd.DataFrame) -> None:
    told = scores[scores.split == "report"].groupby(["probe", "variant", "label"])
    assert set(judged) == set(told.groups)
    for question, one in judged.items():
        rows = told.get_group(question)
        untold = {"coverage", "share", "near_ties", "stability"}  # sums do not keep them by document
        pairs = {name: values for name, values in one.scores.items() if name not in untold and name in rows}
        pairs |= dict(zip(ADJUSTED, one.p_adjusted, strict=True)) | {"grade": one.grade, "verdict": one.verdict}
        for column, values in pairs.items():
            expected = np.broadcast_to(np.asarray(values), len(rows))
            np.testing.assert_array_equal(rows[column].to_numpy(), expected, err_msg=f"{question} {column}")


@pytest.mark.parametrize(
    ("documents", "margin", "verdict"), [(12, 0.05, "undecided"), (120, 0.05, "yes"), (60, 0.6, "no")]
)
@pytest.mark.parametrize("seed", range(3))
def test_a_run_in_which_every_document_is_drawn_once_is_judged_as_a_real_run(
    documents: int, margin: float, verdict: str, seed: int
) -> None:
    """Of the same pool, with three grades; C has the first alone."""
    pool, rule = random_pool(2 * documents, seed), VerdictRule(margin=margin)
    select, report = range(documents), range(documents, 2 * documents)
    judged = judge(pool, np.array(select), np.array(report), rule, np.random.default_rng(5))
    models = np.random.default_rng(5).integers(4, size=4)
    scores = real_run(pool, select, report, models, EFFORT, rule)
    assert_same(judged, scores)
    assert verdict in {*scores.verdict}
    assert scores.p_rules.notna().any()


def test_joined_documents_have_the_sums_of_their_parts_and_tilted_heads_their_accuracies() -> None:
    pool = random_pool(60).level(1, 0.05)
    plain = pool.unequal(1.0, seed=3)
    tilted = plain.tilted(0.1)
    assert plain.documents == tilted.documents < 60
    for question, sums in pool.heads.items():
        joined = plain.heads[question]
        assert joined.n.sum() == sums.n.sum()
        assert len(joined.n) < len(sums.n)
        for part in ("hits", "mass"):
            np.testing.assert_allclose(getattr(joined, part).sum(0), getattr(sums, part).sum(0))
        for total in ("coverage", "near_ties"):
            np.testing.assert_array_equal(getattr(joined, total), getattr(sums, total))
        np.testing.assert_allclose(tilted.truth(question).margin, 0.05, atol=1e-12)
        rate = (tilted.heads[question].hits - joined.hits)[:, 0] / joined.n
        assert np.ptp(rate + 0.1 * np.log2(joined.n)) < 1e-9
        assert rate[joined.n.argmin()] > 0 > rate[joined.n.argmax()]
    for name, pooled in pool.baselines.items():
        for question, sums in pooled.items():
            np.testing.assert_allclose(plain.baselines[name][question].hits.sum(0), sums.hits.sum(0))
