from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from probes.evidence.leads import Documents
from probes.evidence.question import GRADED, Effort, redrawn
from probes.evidence.results import COLUMNS, REDRAWN, Split, add_verdicts, held_grades, pooled_sums, score_table
from probes.evidence.statistics import VerdictRule
from probes.scoring.aligned import Dropped
from probes.scoring.baselines import LEXICAL
from probes.scoring.score import Outcome
from probes.scoring.tally import Question, Segments, Sums, Tally
from probes.syntax.dependency import Dependency
from probes.targets import OTHERS, Items
from reports.tables.grades import REDRAWS
from reports.tables.scores import SCORES

A: Question = ("dependency", "v", "a")
B: Question = ("dependency", "v", "b")
SHAPE = (2, 2)
"Layers and heads, so four columns of sums."


def sums_of(n: Sequence[float], hits: Sequence[Sequence[float]], **others: object) -> Sums:
    """Sums over clusters 0, 1, ..; `hits` has a row a cluster and a column a head."""
    columns = np.array(hits, np.float64)
    mass, *totals = (np.array(others.get(name, columns), np.float64) for name in ("mass", "coverage", "near_ties"))
    return Sums(tuple(range(len(n))), np.array(n, np.float64), columns, mass, *(part.sum(0) for part in totals))


def one(hits: Sequence[float], n: Sequence[float]) -> Sums:
    """Sums of one baseline."""
    return sums_of(n, [[hit] for hit in hits])


def split(heads: Mapping[Question, Sums], **baselines: Sums) -> Split:
    """A split whose baselines answer question A."""
    return Split(heads, {name: {A: sums} for name, sums in baselines.items()})


def table(select: Split, report: Split, **changes: int) -> pd.DataFrame:
    return score_table(select, report, shape=SHAPE, effort=Effort(**{"replicates": 200, **changes}))


SELECT = sums_of([10, 10], [[4, 9, 1, 9], [4, 8, 2, 9]])
"Accuracies 0.4, 0.85, 0.15 and 0.9."
REPORT = sums_of(
    [10, 30],
    [[8, 5, 0, 3], [24, 9, 0, 9]],
    mass=[[4, 5, 0, 1], [8, 9, 0, 3]],
    coverage=[[8, 5, 0, 10], [16, 9, 0, 30]],
    near_ties=[[0, 1, 2, 3], [0, 0, 1, 1]],
)
"Accuracies 0.8, 0.35, 0 and 0.3."


def test_there_is_a_row_for_each_question_head_and_split_in_the_columns_of_a_run_folder() -> None:
    scores = table(split({A: SELECT, B: SELECT}), split({A: REPORT, B: REPORT}))
    assert len(scores) == 2 * 4 * 2
    expected = [*SCORES.names][[*SCORES.names].index("probe") : [*SCORES.names].index("excluded") + 1]
    assert list(scores.columns) == [*(name for name in expected if name in COLUMNS), *REDRAWN]
    assert not scores.duplicated(["label", "layer", "head", "split"]).any()
    first = scores[(scores.label == "a") & (scores.split == "select")]
    assert first.name.tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert list(zip(first.layer, first["head"], strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert set(scores.probe) == {"dependency"}
    assert set(scores.variant) == {"v"}


def test_numbers_are_sums_over_clusters_divided_by_items() -> None:
    scores = table(split({A: SELECT}), split({A: REPORT}))
    report = scores[scores.split == "report"]
    assert report.accuracy.tolist() == pytest.approx([0.8, 0.35, 0, 0.3])
    assert report.mass.tolist() == pytest.approx([0.3, 0.35, 0, 0.1])
    assert report.coverage.tolist() == pytest.approx([0.6, 0.35, 0, 1])
    assert report.share.tolist() == pytest.approx([0.5, 1, np.nan, 0.1], nan_ok=True)
    assert report.near_ties.tolist() == [0, 1, 3, 4]
    assert report.n.tolist() == [40] * 4
    assert report.clusters.tolist() == [2] * 4
    select = scores[scores.split == "select"]
    assert select.accuracy.tolist() == pytest.approx([0.4, 0.85, 0.15, 0.9])
    assert bool(((report.ci_low <= report.accuracy) & (report.accuracy <= report.ci_high)).all())


def test_the_head_is_chosen_on_the_selection_split_whatever_the_report_split_says_and_flagged_in_both() -> None:
    scores = table(split({A: SELECT}), split({A: REPORT}))
    again = table(split({A: SELECT}), split({A: sums_of([10, 30], [[0, 0, 10, 0], [0, 0, 30, 0]])}))
    for name in ("select", "report"):
        assert scores[scores.split == name].selected.tolist() == [False, False, False, True]
    assert scores.selected.tolist() == again.selected.tolist()
    in_select = scores.split == "select"
    pd.testing.assert_frame_equal(scores[in_select], again[in_select])


def test_each_split_has_its_own_strongest_baseline_and_the_lexical_table_is_none() -> None:
    select = split(
        {A: SELECT}, offset=one([5, 5], [10, 10]), uniform=one([1, 1], [10, 10]), **{LEXICAL: one([9, 9], [10, 10])}
    )
    told = {"offset": one([2, 6], [10, 30]), "uniform": one([2, 10], [10, 30]), LEXICAL: one([9, 23], [10, 30])}
    scores = table(select, split({A: REPORT}, **told))
    selected, reported = (scores[scores.split == name] for name in ("select", "report"))
    assert set(selected.baseline) == {"offset"}
    assert selected.baseline_accuracy.tolist() == pytest.approx([0.5] * 4)
    assert selected.lexical_accuracy.tolist() == pytest.approx([0.9] * 4)
    assert set(reported.baseline) == {"uniform"}
    assert reported.baseline_accuracy.tolist() == pytest.approx([0.3] * 4)
    assert reported.margin.tolist() == pytest.approx([0.5, 0.05, -0.3, 0])
    assert reported.lexical_accuracy.tolist() == pytest.approx([0.8] * 4)


def test_leads_are_tested_on_the_report_split_over_every_baseline() -> None:
    n = [10.0] * 6
    heads = sums_of(n, [[8, 0, 0, 0], [7, 0, 0, 0]] * 3)
    offset, uniform = one([2, 3, 1, 2, 3, 2], n), one([1, 2, 3, 4, 5, 6], n)
    part = split({A: heads}, offset=offset, uniform=uniform)
    scores = table(part, part)
    assert scores[scores.split == "select"].p.isna().all()
    report = scores[scores.split == "report"]
    documents = Documents.of(np.array(n))
    assert report.p.iloc[0] == pytest.approx(documents.p_above(heads.hits[:, [0]] - uniform.hits, 0.05)[0])
    assert (report.p_label >= report.p).all()
    assert scores[["p_adjusted", "p_words", "p_rules"]].isna().all(axis=None)
    wide = score_table(part, part, shape=SHAPE, effort=Effort(20), margin=0.2)
    assert wide[wide.split == "report"].p.iloc[0] > report.p.iloc[0]


def test_a_question_of_the_report_split_alone_is_not_tested() -> None:
    """Nothing was learned about it, and no control chose a head: what is left to beat is too little."""
    n = [10.0] * 8
    heads = sums_of(n, [[9, 5, 0, 0]] * 8)
    uniform = {"uniform": {A: one([1] * 8, n), B: one([1] * 8, n)}}
    scores = table(Split({A: heads}, uniform), Split({A: heads, B: heads}, uniform))
    report = scores[scores.split == "report"].set_index(["label", "name"])
    assert report.p["a", "1-1"] == 1 / 2**8
    assert report.loc["b", "margin"].notna().all()
    assert report.loc["b", ["p", "p_label"]].isna().all(axis=None)
    assert (
        not add_verdicts(scores, VerdictRule()).set_index(["split", "label"]).loc["report"].loc["b"].specialised.any()
    )


def test_stability_is_that_of_the_choice_on_the_selection_split() -> None:
    """Two clusters, each won by another head: the one that has more wins three of four resamples."""
    select = sums_of([10, 10], [[9, 0, 0, 0], [0, 8, 0, 0]])
    scores = table(split({A: select}), split({A: REPORT}), replicates=4000)
    for name in ("select", "report"):
        assert scores[scores.split == name].stability.tolist() == pytest.approx([0.75, 0.25, 0, 0], abs=0.03)


def verdicts(rows: list[dict[str, object]], rule: VerdictRule | None = None) -> pd.DataFrame:
    """The rows with verdicts; what a row does not say is of the probe "p", with no rival but a baseline of 0.

    Redraws have its own p, but for those that it gives.
    """
    nothing = dict.fromkeys(("p_words", "p_rules", "excluded", "lexical_accuracy", "rule_accuracy"), np.nan)
    beside = {"probe": "p", "variant": "v", "split": "report", **nothing}
    beside |= {"accuracy": 0.5, "baseline_accuracy": 0.0, "effective_clusters": 1000.0}
    whole = [beside | row for row in rows]
    again = [{redrawn(name, number): row[name] for name in GRADED for number in range(REDRAWS)} for row in whole]
    return add_verdicts(
        pd.DataFrame([more | row for row, more in zip(whole, again, strict=True)]), rule or VerdictRule()
    )


def test_a_grade_is_the_highest_that_is_reached_without_a_failure_below() -> None:
    """Six labels cost 49/20 * 6 at most; p that are a tenth or less of the level pass whatever it costs here."""
    rows: list[dict[str, object]] = [
        {"probe": "a", "label": "x", "p_label": 0.001, "p_words": 0.001, "p_rules": 0.001},
        {"probe": "b", "label": "x", "p_label": 0.001, "p_words": 0.001, "p_rules": 0.9},
        {"probe": "c", "label": "x", "p_label": 0.001, "p_words": 0.9, "p_rules": 0.9},
        {"probe": "d", "label": "x", "p_label": 0.9, "p_words": 0.9, "p_rules": 0.9},
        {"probe": "position", "label": "x", "p_label": 0.001},
        {"probe": "e", "label": "x", "p_label": np.nan},
    ]
    found = verdicts(rows)
    assert found.grade.tolist() == [3, 2, 1, 0, 1, 0]
    assert found.specialised.tolist() == [True, True, True, False, False, False]
    assert found.verdict.tolist() == ["yes", "yes", "yes", "undecided", "yes", ""]
    assert verdicts(rows, VerdictRule(alpha=0.003)).grade.tolist() == [1, 1, 1, 0, 1, 0]


def test_a_lead_that_documents_may_be_missing_for_has_no_grade_however_small_its_p() -> None:
    """Over the rule it is 10 points: were 4.5 % of documents lost on all words, it would be 5; 50 show none 10 % of
    the time. Over the others it is 50 points."""
    rivals = {"lexical_accuracy": 0.1, "rule_accuracy": 0.4}
    row: dict[str, object] = {"label": "a", "p_label": 1e-9, "p_words": 1e-9, "p_rules": 1e-9, **rivals}
    few, many = (verdicts([row | {"effective_clusters": documents}]).iloc[0] for documents in (50.0, 80.0))
    assert (few.grade, many.grade) == (2, 3)
    assert few.p_rules == pytest.approx((1 - 0.05 / 1.1) ** 50)
    assert few.p_words == pytest.approx((1 - 0.35 / 1.4) ** 50)


def test_labels_of_a_run_are_one_family_however_they_depend_on_each_other() -> None:
    """Three labels, with p 0.02, 0.02 and 0.04, cost 1 + 1/2 + 1/3 times Benjamini and Hochberg's 0.03 and 0.04."""
    rows: list[dict[str, object]] = [
        {"label": "a", "p_label": 0.02},
        {"label": "b", "variant": "w", "p_label": 0.02},
        {"probe": "q", "label": "a", "p_label": 0.04},
    ]
    assert verdicts(rows).p_adjusted.tolist() == pytest.approx([0.055, 0.055, 0.04 * 11 / 6])
    assert verdicts(rows[:2]).p_adjusted.tolist() == pytest.approx([0.03, 0.03])


def test_heads_of_one_label_are_one_family_whatever_the_order_of_the_rows() -> None:
    """Two labels; in the first, heads of 0.02 and 0.5: were they labels of their own, there would be three."""
    rows: list[dict[str, object]] = [
        {"label": label, "p_label": p} for label, p in (("a", 0.02), ("b", 0.03), ("a", 0.5))
    ]
    assert verdicts(rows).p_adjusted.tolist() == pytest.approx([0.045, 0.045, 0.75])


def test_a_question_is_decided_for_all_of_its_heads_at_once() -> None:
    rows: list[dict[str, object]] = [
        {"label": label, "p_label": p, "excluded": excluded}
        for label, p, excluded in (
            *(("found", 0.001, 0.3), ("found", 0.9, 0.3)),
            *(("none", 0.9, 0.049), ("none", 0.9, 0.049)),
            *(("open", 0.9, 0.05), ("open", 0.9, 0.05)),
        )
    ]
    assert verdicts(rows).verdict.tolist() == ["yes", "yes", "no", "no", "undecided", "undecided"]
    assert verdicts(rows, VerdictRule(margin=0.04)).verdict.tolist()[2] == "undecided"


def test_what_is_missing_in_a_split_is_nan_with_no_items() -> None:
    select, report = split({A: SELECT}, offset=one([5, 5], [10, 10])), Split({B: REPORT}, {"offset": {}})
    scores = table(select, report)
    assert len(scores) == 16
    numbers = [c for c in COLUMNS if scores[c].dtype == float]
    for label, name in (("a", "report"), ("b", "select")):
        rows = scores[(scores.label == label) & (scores.split == name)]
        assert len(rows) == 4
        told = rows[numbers].drop(
            columns=["stability", "effective_clusters"]
        )  # which is that of the choice, also where nothing is told
        assert bool(told.isna().all(axis=None))
        assert not rows[["n", "clusters", "effective_clusters", "near_ties"]].any(axis=None)
    assert scores[scores.label == "a"].selected.sum() == 2
    assert not scores[scores.label == "b"].selected.any()
    assert set(scores[scores.label == "b"].baseline) == {""}
    assert scores[scores.label == "b"].margin.isna().all()
    assert scores[(scores.label == "b") & (scores.split == "report")].accuracy.notna().all()


def test_a_table_of_nothing_has_the_columns_and_no_row() -> None:
    full = table(split({A: SELECT}), split({A: REPORT}))
    empty = table(Split({}, {}), Split({}, {}))
    assert len(empty) == 0
    assert list(empty.columns) == list(full.columns)


def test_a_relation_without_subtypes_has_results_once() -> None:
    def questions(*labels: str) -> list[str]:
        part = Split({("dependency", "v", label): SELECT for label in labels}, {})
        return sorted(set(table(part, part).label))

    assert questions("det", "det:*", "all") == ["all", "det"]
    assert questions("nsubj", "nsubj:pass", "nsubj:*") == ["nsubj", "nsubj:*", "nsubj:pass"]
    assert questions("aux:pass", "aux:*") == ["aux:pass"]
    assert questions("acl:relcl", "acl:cleft", "acl:*") == ["acl:*", "acl:cleft", "acl:relcl"]


def test_a_lead_over_a_control_has_the_error_of_its_level_and_one_over_a_baseline_is_paired() -> None:
    models = sums_of([10, 30], [[4, 4], [12, 12]])
    part = Split({A: REPORT}, {"offset": {A: one([1, 2], [10, 30])}}, {"random weights": {A: models}})
    documents, level = Documents.of(REPORT.n), part.levels(A)["random weights"]
    accuracy, interval = part.lead("offset", A, REPORT.hits)
    assert accuracy == 3 / 40
    np.testing.assert_allclose(interval, documents.lead_interval(REPORT.hits - np.array([[1.0], [2.0]])))
    accuracy, interval = part.lead("random weights", A, REPORT.hits)
    assert accuracy == level.accuracy == 0.4
    np.testing.assert_allclose(interval, documents.lead_interval(REPORT.hits, level))


def test_a_grade_holds_in_the_share_of_redraws_that_have_it_or_a_higher_one() -> None:
    first, second, none = ([np.array([p]), np.array([q]), np.array([np.nan])] for p, q in ((0, 1), (0, 0), (1, 0)))
    redraws = [none] * 4 + [first] * 6 + [second] * 10
    for own, grade, share in ((second, 2, 0.5), (first, 1, 0.8), (none, 0, 0.8)):
        grades, holds = held_grades(VerdictRule(), own, redraws)
        assert (grades.tolist(), holds.tolist()) == ([grade], [share])


def test_a_head_is_specialised_whose_grade_holds_in_19_of_20_redraws_and_the_verdict_is_that_of_the_test() -> None:
    holding = {"label": "a", "p_label": 0.001, "p_words": 0.001}
    for lost, specialised in (((), True), ((3,), True), ((3, 11), False)):
        row = verdicts([holding | {redrawn(name, number): 0.9 for name in GRADED[:2] for number in lost}]).iloc[0]
        assert (row.grade, row.holds, row.specialised) == (2, 1 - len(lost) / 20, specialised)
        assert (row.p_adjusted, row.verdict) == (0.001, "yes")


def test_no_head_is_specialised_by_a_label_that_the_answer_defines() -> None:
    rows: list[dict[str, object]] = [
        {"label": label, "p_label": 0.001} for label in ("nearer is right", "participant is meant", "feminine")
    ]
    assert verdicts(rows).specialised.tolist() == [False, False, True]


def test_a_question_that_a_control_reads_in_fewer_than_two_documents_is_not_tested() -> None:
    models, few = sums_of([10, 30], [[2, 4], [6, 12]]), sums_of([10], [[2, 4]])
    asked = {"random weights": [("dependency", "v")]}
    for controls, lacks in (({A: models, B: few}, True), ({A: models}, True), ({A: models, B: models}, False)):
        report = replace(
            split({A: REPORT, B: REPORT}, offset=one([1, 2], [10, 30])), controls={"random weights": controls}
        )
        report.baselines["offset"][B] = one([1, 2], [10, 30])
        found = table(split({A: SELECT, B: SELECT}), replace(report, controlled=asked))
        tested = found[found.split == "report"].groupby("label").p_label.agg(lambda p: p.notna().all())
        assert tested.to_dict() == {"a": True, "b": not lacks}
    assert not replace(report, controls={"random weights": {}}, controlled={}).lacks(A), "it is no control of it"


def test_word_orders_count_by_their_mean_and_untrained_models_by_what_95_percent_of_them_stay_below() -> None:
    models = sums_of([10, 30], [[2, 4], [6, 12]])
    part = Split({A: REPORT, B: REPORT}, {}, {"random weights": {A: models}, "shuffled word order": {A: models}})
    levels = part.levels(A)
    assert levels["shuffled word order"].accuracy == pytest.approx(0.3)
    assert levels["random weights"].accuracy == pytest.approx(0.3 + 1.6448536 * 0.02**0.5)
    assert part.levels(B) == {}


def test_pooled_labels_are_sums_of_their_parts() -> None:
    """Heads are counted by label and pooled at the end; baselines are counted with pooled labels."""
    labels = ("nsubj", "nsubj:pass", "obj")
    label = np.array([0, 0, 1, 2, 2, 2])
    zeros = np.zeros(6, np.int64)
    items = Items("dependency", "v", zeros, zeros, label, labels, (zeros, np.arange(6)), OTHERS)
    outcome = np.random.default_rng(0).integers(0, 2, (6, 4, 3)).astype(np.float32)
    heads, offset, blocks = Tally(3), Tally(3), np.zeros(1, np.int64)
    heads.add_items(Segments.of([items], blocks), outcome)
    pooled = items.pooled(Dependency().pool)
    offset.add_items(Segments.of([pooled], blocks), np.repeat(outcome, 3, axis=0))
    result = Outcome(heads, {"offset": offset}, Dropped(), texts=1, words=6, pieces=8, odd=Dropped())
    of_heads, of_baselines = pooled_sums(result, [Dependency()])
    sums = {question[2]: sums for question, sums in of_heads.items()}
    assert set(sums) == {"all", "nsubj", "nsubj:*", "nsubj:pass", "obj", "obj:*"}
    for name, parts in {"nsubj:*": labels[:2], "all": labels, "obj:*": ("obj",)}.items():
        assert sums[name].n == sum(sums[part].n for part in parts)
        for measure in ("hits", "mass", "coverage", "near_ties"):
            together = sum(getattr(sums[part], measure) for part in parts)
            assert np.array_equal(getattr(sums[name], measure), together)
    assert list(of_baselines) == ["offset"]
    for question, expected in of_heads.items():
        for measure in ("n", "hits", "mass", "coverage", "near_ties"):
            assert np.array_equal(getattr(of_baselines["offset"][question], measure), getattr(expected, measure))
