"""The best heads of a run, and those that a report names first."""

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from reports.scores.best_heads import BestHead, best_heads, leaders, page_scores
from reports.scores.best_table import also


def test_best_heads_are_the_selected_rows_of_the_report_split(scores: pd.DataFrame):
    best = {(row.label, row.variant): row for row in best_heads(scores, "dependency")}
    rows = scores[(scores["probe"] == "dependency") & (scores["split"] == "report") & scores["selected"]]
    for row in rows.to_dict("records"):
        found = vars(best[row["label"], row["variant"]])
        for column in ("name", "accuracy", "n", "margin"):
            assert found[column] == row[column]
    orphans = [row for pair, row in best.items() if pair[0] == "orphan"]
    assert [(row.n, row.name, math.isnan(row.accuracy)) for row in orphans] == [(0, "", True)] * 3
    assert [row.label for row in best.values()][-6:] == ["vocative"] * 3 + ["orphan"] * 3, "few documents, then none"
    trusted = [row.margin_low for row in best.values() if row.effective_clusters >= 20]
    assert trusted == sorted(trusted, reverse=True)


def test_labels_that_only_the_selection_split_has_are_listed(scores: pd.DataFrame):
    frame = scores[(scores["label"] != "obj") | (scores["split"] == "select")]
    assert sum(row.label == "obj" and row.n == 0 for row in best_heads(frame, "dependency")) == 3


def test_a_page_shows_the_last_step_and_one_report_corpus_and_says_what_it_leaves_out(scores: pd.DataFrame):
    rows, said = page_scores(pd.concat([scores.assign(step=100), scores.assign(step=900)]))
    assert set(rows["step"]) == {900}
    assert said == ["This page shows step 900; scores.parquet also holds 100."]
    rows, said = page_scores(pd.concat([scores, scores[scores["split"] == "report"].assign(corpus="GUM dev")]))
    assert set(rows["corpus"]) == {"EWT train", "EWT dev"}
    assert said == ["This page shows report corpus EWT dev; scores.parquet also holds GUM dev."]
    assert page_scores(scores)[1] == []


def test_other_heads_with_a_grade_are_named_the_most_accurate_first(scores: pd.DataFrame):
    best = {(row.label, row.variant): row for row in best_heads(scores, "dependency")}
    obj = best["obj", "dependent->head"]
    of_label = scores[(scores["label"] == "obj") & (scores["variant"] == "dependent->head")]
    report = of_label[of_label["split"] == "report"].set_index("name")
    assert sorted(obj.others) == ["1-1", "1-2", "1-3", "1-4"]
    assert [report.accuracy[name] for name in obj.others] == sorted(report.accuracy[list(obj.others)], reverse=True)
    assert also(obj) == f"4 other heads: {obj.others[0]}, {obj.others[1]} and 2 more"
    assert also(best["det", "head->dependent"]) == "1 other head has one: 2-2"
    assert also(best["det", "dependent->head"]) == ""


def row(probe: str, label: str, low: float = 0.1, **more: Any) -> BestHead:
    known = {"probe": probe, "label": label, "variant": "", "name": "1-1", "n": 9, "effective_clusters": 50.0}
    known |= {"accuracy": low, "margin_low": low, "grade": 0, "verdict": "no", "specialised": False}
    return BestHead(**known | more)


def found(rows: Iterable[BestHead], most: int = 8) -> list[tuple[str, str]]:
    return [(one.label, one.name) for one in leaders([*rows], most)]


YES: dict[str, Any] = {"grade": 1, "verdict": "yes", "specialised": True}


def test_what_is_asked_first_leads_whether_significant_or_not_then_come_other_heads_and_positions():
    rows = [
        row("position", "previous", 0.9, **YES),
        row("dependency", "aux", 0.4, **YES),
        row("dependency", "nsubj", 0.2, **YES),
        row("dependency", "nsubj:pass", 0.6, **YES),
        row("dependency", "det", 0.5),
        row("agreement", "all", -0.1),
    ]
    assert [label for label, _ in found(rows)] == ["nsubj", "all", "nsubj:pass", "aux", "previous"]


def test_of_the_directions_of_a_label_the_significant_one_leads_though_another_has_a_higher_margin():
    rows = [row("dependency", "obj", 0.3, name="2-2"), row("dependency", "obj", 0.1, name="3-3", **YES)]
    assert found(rows) == [("obj", "3-3")]
    rows = [row("dependency", "obj", 0.3, name="2-2"), row("dependency", "obj", 0.1, name="4-4", verdict="yes")]
    assert found(rows) == [("obj", "4-4")], "some other head is significant there"


def test_half_of_the_rows_may_be_of_one_probe_and_a_quarter_of_position_beside_language():
    rows = [row("dependency", f"label {n}", n / 10, **YES) for n in range(6)]
    places = [row("position", f"offset=+{n}", n / 10, **YES) for n in range(9)]
    expected = [f"label {n}" for n in (5, 4, 3, 2)]
    assert [label for label, _ in found([*rows, *places])] == [*expected, "offset=+8", "offset=+7"]
    assert len(found(places)) == 8, "where nothing else was tested"


def test_pools_and_slices_are_left_out_and_where_nothing_is_significant_the_nearest_heads_are_shown():
    rows = [row("dependency", "nsubj:*", 0.9, **YES), row("dependency", "det", 0.1), row("dependency", "aux", 0.2)]
    assert [label for label, _ in found(rows)] == ["aux", "det"]
    few = row("dependency", "case", 0.7, effective_clusters=19.0)
    assert [label for label, _ in found([*rows, few])] == ["aux", "det", "case"]
    assert found(()) == []


def test_a_tested_role_of_language_is_shown_before_positions_though_no_head_is_significant_in_it():
    rows = [row("distractors", label, low) for label, low in (("agr.1", 0.01), ("agr.2", 0.03))]
    places = [row("position", f"offset=+{n}", n / 10, **YES) for n in range(9)]
    assert [label for label, _ in found([*rows, *places])] == ["agr.2", "offset=+8", "offset=+7"]
