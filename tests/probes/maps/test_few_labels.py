"""Heads from few labels: with all arcs they are what a run selects and learns, with fewer they come from these."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from mha import Model
from probes import get_probe
from probes.corpora.corpus import Corpus, Texts
from probes.evidence.results import pooled_sums
from probes.maps.few_labels import FIXED, HEAD, HEADS, LEARNERS, UNTRAINED, FewLabels, LabelledArcs, labelled
from probes.records import Document
from probes.scoring.score import Settings, learn_baselines, score_corpus
from probes.scoring.tally import Numbers, Pooled, Question

PROBE = get_probe("dependency")
QUESTION: Question = ("dependency", "dependent->head", "det")


@pytest.fixture(scope="module")
def splits(random_documents: Callable[..., list[Document]]) -> tuple[Texts, Texts]:
    select, report = (Corpus.of(random_documents(seed, sentences=12, longest=9)).sentences() for seed in (8, 9))
    return select, report


@pytest.fixture(scope="module")
def arcs(model: Model, splits: tuple[Texts, Texts]) -> tuple[LabelledArcs, LabelledArcs]:
    select, report = (labelled(model, texts, [PROBE], [QUESTION], Settings())[QUESTION] for texts in splits)
    return select, report


@pytest.fixture(scope="module")
def few(arcs: tuple[LabelledArcs, LabelledArcs]) -> Callable[..., FewLabels]:
    def made(untrained: tuple[Numbers, Numbers] | None = None, draws: int = 3, seed: int = 0) -> FewLabels:
        return FewLabels(*arcs, untrained or (arcs[0].hits, arcs[1].hits), PROBE, draws, 3, seed)

    return made


def row(table: pd.DataFrame, method: str, size: int) -> pd.Series:
    found = table[(table.method == method) & (table.arcs == size)]
    assert len(found) == 1
    return found.iloc[0]


def accuracy(sums: Pooled) -> float:
    return float(sums[QUESTION].hits.sum() / sums[QUESTION].n.sum())


def test_all_arcs_give_the_head_and_the_rules_of_a_run(
    model: Model, splits: tuple[Texts, Texts], arcs: tuple[LabelledArcs, LabelledArcs], few: Callable[..., FewLabels]
) -> None:
    size = len(arcs[0].hits)
    table = few().table([size])
    baselines = learn_baselines(splits[0], [PROBE], [*PROBE.baselines, *PROBE.rules])
    (select, learned), (report, beside) = (
        pooled_sums(score_corpus(model, texts, [PROBE], baselines, Settings()), [PROBE]) for texts in splits
    )
    best = select[QUESTION].hits.sum(0).argmax()
    expected = report[QUESTION].hits.sum(0) / report[QUESTION].n.sum()
    assert row(table, HEAD, size).accuracy == pytest.approx(expected[best])
    for name in LEARNERS:
        assert row(table, name, size).accuracy == pytest.approx(accuracy(beside[name])), name
    fixed = max(("previous word", "uniform"), key=lambda name: learned[name][QUESTION].hits.sum())
    assert row(table, FIXED, size).accuracy == pytest.approx(accuracy(beside[fixed]))


def test_heads_are_selected_on_the_arcs_and_not_on_the_held_out_text(
    arcs: tuple[LabelledArcs, LabelledArcs], few: Callable[..., FewLabels]
) -> None:
    select, report = arcs
    right, wrong = np.zeros((len(select.hits), 2)), np.zeros((len(report.hits), 2))
    right[:, 1], wrong[:, 0] = 1, 1
    table = few((right, wrong)).table([5])
    assert row(table, UNTRAINED, 5).accuracy == 0, "the head that is right on the arcs is wrong on the held-out text"


def test_leads_are_over_the_most_accurate_rule(few: Callable[..., FewLabels]) -> None:
    table = few().table([20])
    rules = table[~table.method.isin(HEADS)]
    best = rules.loc[rules.accuracy.idxmax()]
    for method in HEADS:
        one = row(table, method, 20)
        assert (one.best_rule, one.lead) == (best.method, pytest.approx(one.accuracy - best.accuracy))
        assert one.lead_low <= one.lead <= one.lead_high
    assert rules["lead"].isna().all()
