import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reports import Run, write_metrics, write_report
from reports.formats import decimal, percent
from reports.scores.rankings import Rankings, rankings


@pytest.fixture
def compared(run_folder: Path, metrics: pd.DataFrame, agreement: pd.DataFrame) -> Run:
    """The synthetic run, with metrics to compare."""
    write_metrics(metrics, agreement, run_folder)
    return Run.open(run_folder)


@pytest.fixture
def found(compared: Run) -> Rankings:
    found = rankings(compared)
    assert found is not None
    return found


def test_a_run_that_compared_no_metrics_has_none(run_folder: Path) -> None:
    opened = Run.open(run_folder)
    assert opened.metrics is None
    assert opened.agreement is None
    assert rankings(opened) is None


def test_what_no_metric_can_be_is_refused(metrics: pd.DataFrame, agreement: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError,
        match=r"metrics.parquet: `auc` lies outside \[0, 1\] \(fractions, not percent\), in \d+ row\(s\); the first is",
    ):
        write_metrics(metrics.assign(auc=1.5), agreement, tmp_path)
    with pytest.raises(ValueError, match=r"agreement.parquet: `tau` lies outside \[-1, 1\]"):
        write_metrics(metrics, agreement.assign(tau=-2.0), tmp_path)
    with pytest.raises(ValueError, match=r"agreement.parquet: column\(s\) overlap missing"):
        write_metrics(metrics, agreement.drop(columns="overlap"), tmp_path)


def test_pairs_have_the_quartiles_over_questions(found: Rankings, agreement: pd.DataFrame) -> None:
    names = [(pair.one, pair.other) for pair in found.pairs]
    assert names[:4] == [("accuracy", m) for m in ("mass", "reciprocal_rank", "auc", *found.others[3:])]
    assert len(names) == len(set(names)) == 10
    rows = agreement[(agreement.one == "accuracy") & (agreement.other == "mass")]
    pair = found.pairs[0]
    assert (pair.quartile_1, pair.median, pair.quartile_3) == tuple(np.percentile(rows.tau, [25, 50, 75]))
    assert (pair.questions, pair.same_best, pair.overlap) == (len(rows), rows.same_best.sum(), pytest.approx(0.4))


def test_the_classifier_is_compared_where_it_was_trained(found: Rankings) -> None:
    assert found.others[-1] == "classifier"
    assert found.pairs[3].questions == 3
    with_it = [row.variant for row in found.variants if not math.isnan(row.classifier)]
    assert with_it == ["dependent->head"]
    assert {"trained classifier", "tau"} < {term for term, _ in found.terms}


def test_variants_have_their_medians_the_least_agreement_first(found: Rankings, agreement: pd.DataFrame) -> None:
    rows = agreement[(agreement.one == "accuracy") & (agreement.other == "auc")]
    for row in found.variants:
        own = rows[(rows.probe == row.probe) & (rows.variant == row.variant)]
        assert (row.questions, row.auc) == (len(own), own.tau.median())
    means = [np.mean([row.mass, row.reciprocal_rank, row.auc]) for row in found.variants]
    assert means == sorted(means)
    assert sum(row.questions for row in found.variants) == found.compared


def test_a_dispute_names_both_heads_with_both_numbers(found: Rankings, metrics: pd.DataFrame) -> None:
    assert {dispute.other for dispute in found.disputes} == set(found.others)
    for dispute in found.disputes[:2]:
        heads = metrics[(metrics.label == dispute.label) & (metrics.variant == dispute.variant)].set_index("name")
        assert dispute.other == "mass"
        assert dispute.first_name == heads.accuracy.idxmax() != heads.mass.idxmax() == dispute.second_name
        first, second = heads.loc[dispute.first_name], heads.loc[dispute.second_name]
        assert (dispute.first_accuracy, dispute.first_value) == (first.accuracy, first.mass)
        assert (dispute.second_accuracy, dispute.second_value) == (second.accuracy, second.mass)


def test_the_disputes_are_those_with_the_largest_gaps(found: Rankings, metrics: pd.DataFrame) -> None:
    gaps: dict[tuple[str, str], float] = {}
    for (probe, label, _), heads in metrics[metrics.n >= 50].groupby(["probe", "label", "variant"]):
        one, other = heads.accuracy.argmax(), heads.mass.argmax()
        accuracy, mass = heads.accuracy.to_numpy(), heads.mass.to_numpy()
        gap = min(accuracy[one] - accuracy[other], mass[other] - mass[one])
        relation = (probe, label.partition(":")[0])
        gaps[relation] = max(gap, gaps.get(relation, 0))
    shown = [dispute.gap for dispute in found.disputes if dispute.other == "mass"]
    assert shown == sorted(gaps.values(), reverse=True)[:2]


def test_sentences_say_what_was_compared_and_what_agrees_most(found: Rankings) -> None:
    scope, ends = found.sentences
    assert f"on {found.compared} label–direction pairs" in scope
    assert f"the other {found.measured - found.compared} have fewer" in scope
    assert ends.startswith(f"Closest to accuracy: reciprocal rank (median tau {decimal(found.pairs[1].median)}, ")


def test_without_a_classifier_it_is_not_explained(run_folder: Path, metrics: pd.DataFrame, agreement: pd.DataFrame):
    write_metrics(metrics, agreement[agreement.other != "classifier"], run_folder)
    found = rankings(Run.open(run_folder))
    assert found is not None
    assert not {"classifier", "trained classifier"} & {*found.others, *(term for term, _ in found.terms)}


def test_a_metric_that_is_the_same_for_all_heads_is_not_counted(
    run_folder: Path, metrics: pd.DataFrame, agreement: pd.DataFrame, found: Rankings
) -> None:
    constant = (agreement.label == "det") & (agreement.other == "mass")
    write_metrics(metrics, agreement.assign(tau=agreement.tau.mask(constant)), run_folder)
    again = rankings(Run.open(run_folder))
    assert again is not None
    assert again.pairs[0].questions == found.pairs[0].questions - 3


# --- the page


@pytest.fixture
def pages(compared: Run) -> tuple[str, str]:
    report = write_report(compared.folder).parent
    html, markdown = ((report / name).read_text(encoding="utf-8") for name in ("index.html", "report.md"))
    return html, markdown


def test_the_section_is_on_both_pages_with_its_numbers(pages: tuple[str, str], found: Rankings) -> None:
    for text in pages:
        assert "Agreement of metrics" in text
        for pair in found.pairs:
            assert f"{decimal(pair.quartile_1)} to {decimal(pair.quartile_3)}" in text
        for dispute in found.disputes:
            assert dispute.second_name in text
            assert percent(dispute.second_value) in text
    html, markdown = pages
    assert '<a href="#metrics">' in html
    assert not re.search(r"\bnan\b", markdown, re.IGNORECASE)
    section = html.partition('<section id="metrics"')[2].partition("</section>")[0]
    assert section.count("<table") == section.count("<caption>") == section.count('role="region"') == 3
    assert section.count("<th ") == section.count('scope="col"') + section.count('scope="row"')


@pytest.mark.slow
def test_where_no_question_is_large_enough_the_page_says_so(
    run_folder: Path, metrics: pd.DataFrame, agreement: pd.DataFrame
) -> None:
    write_metrics(metrics, agreement.head(0), run_folder)
    report = write_report(run_folder).parent
    for name in ("index.html", "report.md"):
        assert "label–direction pairs has enough items to compare" in (report / name).read_text(encoding="utf-8")
