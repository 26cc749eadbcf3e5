"""The best heads of a run, those that a report names first, and maps of all heads."""

import math
from typing import Any

import pandas as pd

from reports.scores.best_heads import BestHead, best_heads, leaders, page_scores
from reports.scores.best_table import also
from reports.scores.heat_maps import heat_map_data


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


def test_heat_maps_hold_the_rounded_numbers_and_grades_of_every_head(scores: pd.DataFrame):
    frame = scores[scores["name"] != "6-12"]
    best = best_heads(frame, "dependency")
    data = heat_map_data(frame, "dependency", best, controlled=True)
    one = data["maps"][data["first"]]
    assert (data["layers"], data["heads"], data["grades"][2]) == (6, 12, "beyond words")
    assert (one["label"], one["variant"]) == (best[0].label, best[0].variant)
    assert one["selected"] == best[0].layer * 12 + best[0].head
    assert one["accuracy"][one["selected"]] == round(1000 * best[0].accuracy)
    assert (one["accuracy"][71], one["grade"][71], one["n"][71]) == (None, 0, 0), "a head that was not scored"
    maps = {(one["label"], one["variant"]): one for one in data["maps"]}
    orphan, obj = maps["orphan", "dependent->head"], maps["obj", "dependent->head"]
    assert (set(orphan["accuracy"]), orphan["n"], orphan["selected"]) == ({None}, 0, None)
    assert {place for place, grade in enumerate(obj["grade"]) if grade} == {0, 1, 2, 3, obj["selected"]}


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


def row(label: str, low: float, high: float, clusters: int = 50, **more: Any) -> BestHead:
    known = {"probe": "dependency", "label": label, "name": "1-1", "n": 9, "effective_clusters": clusters}
    known |= {"accuracy": (low + high) / 2, "margin": (low + high) / 2, "margin_low": low, "margin_high": high}
    return BestHead(**{"grade": 0, "specialised": False, "variant": ""} | known | more)


def test_leaders_are_specialised_heads_else_those_with_the_surest_margins_above_0_and_enough_documents():
    rows = (row("c", -0.1, 0.3), row("a", 0.1, 0.3), row("b", -0.3, -0.1), row("few", 0.5, 0.9, clusters=19))
    assert [leader.label for leader in leaders(rows)] == ["a", "c"]
    assert [leader.label for leader in leaders((*rows, row("c", 0.0, 0.2, specialised=True, grade=2)))] == ["c"]
    assert leaders(()) == ()
