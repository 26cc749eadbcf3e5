"""Chains of heads beside their baselines: planted heads, limits that are learned, selection, intervals and leads."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from probes.chains.links import BASELINES, Links, Mentions
from probes.chains.scores import MEASURES, SCORES, chain_scores
from probes.chains.table import OPTIONS, MethodSums, chain_table, document_sums
from probes.evidence.question import Effort
from probes.evidence.statistics import Bootstrap
from probes.records import Document, IntArray, Mention, Sentence, frozen_ints
from probes.scoring.tally import Numbers

HEADS = 3
RANDOM, REPORT_ONLY = 1, 2
EFFORT = Effort(replicates=300, seed=4)


def text_of(name: str, entities: Sequence[int]) -> Document:
    n = len(entities)
    mentions = tuple(Mention((i,), i, f"e{entity}") for i, entity in enumerate(entities))
    return Document(name, (Sentence(name, ("word",) * n, frozen_ints([-1] * n), ("",) * n, mentions=mentions),))


def previous(entity: IntArray) -> IntArray:
    """Return the nearest mention before of the same chain, -1 where there is none."""
    return np.array([max((i for i in range(m) if entity[i] == entity[m]), default=-1) for m in range(len(entity))])


def links_of(document: Document, random: np.random.Generator, *, report: bool) -> Links:
    """Return the links of a perfect head, of a random one, and of one that is perfect on the report split alone.

    Where a mention has no antecedent a perfect head attends to another mention, weakly.
    """
    mentions = Mentions.of(document)
    n, gold = len(mentions), previous(mentions.entity)
    drawn = np.array([random.integers(-1, m) if m else -1 for m in range(n)])
    perfect = np.where(gold < 0, drawn, gold), np.where(gold < 0, random.uniform(0.01, 0.3, n), 0.4)
    noise = drawn, random.uniform(0, 1, n)
    others = mentions.baselines()
    antecedent = np.column_stack([perfect[0], drawn, (perfect if report else noise)[0], others[0]])
    strength = np.column_stack([perfect[1], noise[1], (perfect if report else noise)[1], others[1]])
    return Links(document.id, mentions.entity, antecedent, strength)


def split(number: int, texts: int = 40) -> list[Links]:
    """Return the links of texts in 13 documents."""
    random = np.random.default_rng(number)
    documents = [text_of(f"d{i % 13}", random.integers(0, 5, random.integers(2, 12)).tolist()) for i in range(texts)]
    return [links_of(document, random, report=number == 1) for document in documents]


@pytest.fixture(scope="module")
def both() -> tuple[list[Links], list[Links]]:
    return split(0), split(1)


@pytest.fixture(scope="module")
def own(both: tuple[list[Links], list[Links]]) -> MethodSums:
    return MethodSums.of(*both)


@pytest.fixture(scope="module")
def table(own: MethodSums) -> pd.DataFrame:
    return chain_table(own, None, (1, HEADS), EFFORT)


def row(table: pd.DataFrame, name: str, measure: str = "CoNLL", on: str = "report") -> Any:
    (found,) = table[(table.name == name) & (table.measure == measure) & (table.split == on)].index
    return table.loc[found]


def test_a_head_that_links_perfectly_has_all_scores_and_leads_every_rival(table: pd.DataFrame) -> None:
    for on in ("select", "report"):
        assert [row(table, "1-1", measure, on).f1 for measure in SCORES] == [1] * len(SCORES)
    best = row(table, "1-1")
    assert best.selected
    assert best.least == 0.4
    assert best.lead == pytest.approx(1 - row(table, best.baseline).f1)
    assert 0 < best.lead_low <= best.lead <= best.lead_high


def test_the_head_is_selected_on_the_selection_split_alone(table: pd.DataFrame, own: MethodSums) -> None:
    assert row(table, "1-3", on="select").f1 < 0.6
    assert row(table, "1-3", on="report").f1 > 0.9, "its limit was learned where it linked at random"
    assert table[table.selected].name.unique().tolist() == ["1-1"]
    select, report = (sums[:, RANDOM:HEADS] for sums in own.sums)
    assert MethodSums(own.least[RANDOM:HEADS], (select, report)).best == 0, (
        "both link alike there, and the first is taken"
    )
    assert MethodSums(own.least[RANDOM:HEADS], (report, select)).best == REPORT_ONLY - RANDOM


def conll(texts: Sequence[Links], least: Numbers) -> Numbers:
    averages: Numbers = chain_scores(document_sums(texts, least).sum(0))[:, -1, 2]
    return averages


def test_no_other_share_of_the_links_of_a_method_does_better_on_the_texts_that_it_learns_from(
    both: tuple[list[Links], list[Links]], own: MethodSums
) -> None:
    reached = conll(both[0], own.least)
    for method in range(len(own.least)):
        strengths = sorted(
            value
            for text in both[0]
            for value, before in zip(text.strength[:, method], text.antecedent[:, method], strict=True)
            if before >= 0
        )
        for share in OPTIONS:
            least = own.least.copy()
            least[method] = strengths[int(np.ceil(share * (len(strengths) - 1)))] if strengths else 0.0
            assert conll(both[0], least)[method] <= reached[method] + 1e-12


def test_numbers_of_a_split_are_counted_and_scores_follow_from_the_sums(
    table: pd.DataFrame, both: tuple[list[Links], list[Links]], own: MethodSums
) -> None:
    for place, on in enumerate(("select", "report")):
        texts, rows = both[place], table[table.split == on]
        assert set(rows.n) == {sum(len(text.entity) for text in texts)}
        assert set(rows.chains) == {sum(len({*text.entity.tolist()}) for text in texts)}
        assert set(rows.clusters) == {13}
        expected = chain_scores(own.sums[place].sum(0))
        found = rows[["precision", "recall", "f1"]].to_numpy().reshape(expected.shape)
        assert found == pytest.approx(expected, nan_ok=True)
    assert table["least"].to_numpy().reshape(2, -1, len(SCORES))[0, :, 0] == pytest.approx(own.least)


def test_intervals_are_of_resampled_documents_and_leads_of_the_same_ones(table: pd.DataFrame, own: MethodSums) -> None:
    """Once more, slowly: each resample adds up the documents that it drew."""
    sums = own.sums[1]
    n = sums[:, 0, MEASURES.index("B3"), 1]
    drawn = Bootstrap.draw(range(len(sums)), EFFORT.replicates, EFFORT.seed + 1).of(range(len(sums)), n)
    place = [*table[(table.split == "report") & (table.measure == "CoNLL")].name]
    random, baseline = place.index("1-2"), place.index(row(table, "1-2").baseline)
    f1 = []
    for weights in drawn.weights:
        together = sum(weight * one for weight, one in zip(weights, sums, strict=True))
        f1.append(chain_scores(np.asarray(together))[[random, baseline], -1, 2])
    both = np.array(f1)
    low, high = drawn.interval(np.column_stack([both[:, 0], both[:, 0] - both[:, 1]]))
    found = row(table, "1-2")
    assert (found.low, found.lead_low) == pytest.approx(low)
    assert (found.high, found.lead_high) == pytest.approx(high)
    assert found.low < found.f1 < found.high


def test_the_strongest_rival_is_that_of_the_score_and_rivals_have_no_lead(table: pd.DataFrame) -> None:
    report = table[table.split == "report"]
    for measure in SCORES:
        baselines = report[(report.method == "baseline") & (report.measure == measure)].set_index("name").f1
        assert set(report[(report.method == "head") & (report.measure == measure)].baseline) == {baselines.idxmax()}
    others = report[report.method == "baseline"]
    assert [*others.name.unique()] == [*BASELINES]
    assert others[["lead", "lead_low", "lead_high"]].isna().to_numpy().all()
    assert set(others.baseline) == {""}
    assert others.layer.isna().all()
    assert report[report.measure == "CoNLL"][["precision", "recall"]].isna().to_numpy().all()


def test_of_random_weights_the_head_that_is_best_on_the_selection_split_is_a_rival(own: MethodSums) -> None:
    heads = own.first(HEADS)
    table = chain_table(own, heads, (1, HEADS), EFFORT)
    assert row(table, "random weights").f1 == row(table, "1-1").f1 == 1
    assert row(table, "1-1").baseline == "random weights"
    assert row(table, "1-1").lead == 0
