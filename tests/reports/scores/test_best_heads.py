import math
from typing import Any

import pandas as pd

from reports.drawing.heatmaps import heat_map_data
from reports.scores.best_heads import (
    CLASSIFIER,
    BestHead,
    best_head,
    best_heads,
    best_rows,
    has_few_clusters,
    leaders,
    page_scores,
    probes,
)
from reports.scores.best_shown import also
from reports.scores.thresholds import RunThresholds
from reports.tables.grades import answered


def selected(scores: pd.DataFrame, probe: str) -> pd.DataFrame:
    return scores[(scores["probe"] == probe) & (scores["split"] == "report") & scores["selected"]]


def test_best_heads_are_the_selected_rows_of_the_report_split(scores: pd.DataFrame):
    best = {(row.label, row.variant): row for row in best_heads(scores, "dependency")}
    for row in selected(scores, "dependency").to_dict("records"):
        shown = best[row["label"], row["variant"]]
        assert (shown.name, shown.accuracy, shown.n, shown.margin) == (
            row["name"],
            row["accuracy"],
            row["n"],
            row["margin"],
        )


def test_labels_without_a_chosen_head_are_listed_and_not_dropped(scores: pd.DataFrame):
    orphans = [row for row in best_heads(scores, "dependency") if row.label == "orphan"]
    assert len(orphans) == 3
    assert all(row.n == 0 and row.name == "" and math.isnan(row.accuracy) for row in orphans)


def test_labels_that_only_the_selection_split_has_are_listed(scores: pd.DataFrame):
    frame = scores[(scores["label"] != "obj") | (scores["split"] == "select")]
    assert sum(row.label == "obj" and row.n == 0 for row in best_heads(frame, "dependency")) == 3


def test_rows_are_ordered_by_the_sure_margin_with_few_clusters_last(scores: pd.DataFrame):
    best = best_heads(scores, "dependency")
    trusted = [row.margin_low for row in best if row.effective_clusters >= 20]
    assert trusted == sorted(trusted, reverse=True)
    enough = [row.effective_clusters >= 20 for row in best]
    assert enough == sorted(enough, reverse=True)
    assert {row.label for row in best if has_few_clusters(row)} == {"vocative"}


def test_probes_come_in_the_order_of_a_page(scores: pd.DataFrame):
    assert probes(scores.iloc[::-1]) == ["position", "dependency", "agreement", "coreference", "classifier"]


def test_a_page_shows_the_last_step_and_says_what_it_leaves_out(scores: pd.DataFrame):
    both = pd.concat([scores.assign(step=100), scores.assign(step=900)])
    rows, said = page_scores(both)
    assert set(rows["step"]) == {900}
    assert said == ["This page shows step 900; scores.parquet also holds 100."]
    assert page_scores(scores)[1] == []


def test_a_page_shows_one_report_corpus_and_keeps_the_selection_corpus(scores: pd.DataFrame):
    other = scores[scores["split"] == "report"].assign(corpus="GUM dev")
    rows, said = page_scores(pd.concat([scores, other]))
    assert set(rows["corpus"]) == {"EWT train", "EWT dev"}
    assert said == ["This page shows report corpus EWT dev; scores.parquet also holds GUM dev."]


def test_heat_maps_hold_the_rounded_numbers_of_every_head(scores: pd.DataFrame):
    best = best_heads(scores, "dependency")
    data = heat_map_data(scores, "dependency", best, controlled=True)
    one = data["maps"][data["first"]]
    assert (data["layers"], data["heads"]) == (6, 12)
    assert (one["label"], one["variant"]) == (best[0].label, best[0].variant)
    assert one["selected"] == best[0].layer * 12 + best[0].head
    assert one["accuracy"][one["selected"]] == round(1000 * best[0].accuracy)
    orphan = next(one for one in data["maps"] if one["label"] == "orphan")
    assert (set(orphan["accuracy"]), orphan["n"], orphan["selected"]) == ({None}, 0, None)


def test_heads_that_were_not_scored_are_gaps_in_a_heat_map(scores: pd.DataFrame):
    frame = scores[scores["name"] != "6-12"]
    one = heat_map_data(frame, "coreference", best_heads(frame, "coreference"), controlled=True)["maps"][0]
    assert one["accuracy"][-2] is None or one["accuracy"][-2] >= 0
    assert len(one["accuracy"]) == 72
    assert one["accuracy"][71] is None
    assert one["grade"][71] == 0
    assert one["n"][71] == 0


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


def test_grades_and_verdicts_in_words(scores: pd.DataFrame):
    rows = {(row.probe, row.label, row.variant): row for probe in probes(scores) for row in best_heads(scores, probe)}
    answers = {question: answered(row.verdict, row.excluded) for question, row in rows.items()}
    graded = {question: RunThresholds().grade(vars(row)) for question, row in rows.items()}
    assert graded["dependency", "obj", "dependent->head"] == "grade 1: beyond position and controls"
    assert graded["dependency", "det", "dependent->head"] == "grade 2: beyond words"
    assert graded["agreement", "all", "verb->subject"] == "grade 3: beyond grammar rules"
    assert graded["position", "previous", "other words"] == "grade 1: beyond baselines and controls"
    assert graded["dependency", "det", "head->dependent"] == "no grade"
    for untested in (("position", "broad", "all tokens"), ("dependency", "orphan", "dependent->head")):
        assert (graded[untested], answers[untested]) == ("–", "")
    assert answers["dependency", "det", "head->dependent"] == "yes"
    assert answers["dependency", "case", "dependent->head"] == "no: a lead of 5 points or more is excluded"
    assert answers["dependency", "cop", "dependent->head"] == "undecided: a lead of 20 points or more is excluded"


def test_the_warning_follows_the_effective_number_of_documents(scores: pd.DataFrame):
    row = best_heads(scores, "dependency")[0]
    sizes = (19.9, 20.0, 0.0)
    rows = [best_head(vars(row) | {"clusters": 400, "effective_clusters": size}) for size in sizes]
    assert [has_few_clusters(row) for row in rows] == [True, False, False]


def test_a_label_without_a_chosen_head_still_names_its_heads_with_a_grade(scores: pd.DataFrame):
    frame = scores[(scores["label"] != "obj") | (scores["split"] == "report")].copy()
    frame.loc[frame["label"] == "obj", "selected"] = False
    found = next(
        row for row in best_heads(frame, "dependency") if (row.label, row.variant) == ("obj", "dependent->head")
    )
    assert (found.name, RunThresholds().grade(vars(found))) == ("", "–")
    assert len(found.others) == 5
    assert also(found).startswith("5 other heads have one: ")


def test_heat_maps_have_the_grade_of_every_head(scores: pd.DataFrame):
    data = heat_map_data(scores, "dependency", best_heads(scores, "dependency"), controlled=True)
    maps = {(one["label"], one["variant"]): one for one in data["maps"]}
    obj, det = maps["obj", "dependent->head"], maps["det", "dependent->head"]
    assert data["grades"][2] == "beyond words"
    assert {place for place, grade in enumerate(obj["grade"]) if grade} == {0, 1, 2, 3, obj["selected"]}
    assert {place: grade for place, grade in enumerate(det["grade"]) if grade} == {det["selected"]: 2}
    assert maps["det", "head->dependent"]["grade"][13] == 1


# --- the heads that a report names first


def row(label: str, low: float, high: float, clusters: int = 50, **more: Any) -> BestHead:
    known = {"probe": "dependency", "label": label, "name": "1-1", "n": 9, "effective_clusters": clusters}
    known |= {"accuracy": (low + high) / 2, "margin": (low + high) / 2, "margin_low": low, "margin_high": high}
    return best_head(known | more)


def test_leaders_have_the_surest_margins_above_0_and_enough_documents():
    rows = (row("c", -0.1, 0.3), row("a", 0.1, 0.3), row("b", -0.3, -0.1), row("few", 0.5, 0.9, clusters=19))
    assert [leader.label for leader in leaders(rows)] == ["a", "c"]


def test_leaders_are_specialised_heads_whatever_the_margins_of_others():
    rows = (row("large", 0.5, 0.9), row("small", 0.1, 0.3, specialised=True, grade=2))
    assert [leader.label for leader in leaders(rows)] == ["small"]
    assert [leader.label for leader in leaders(rows[:1])] == ["large"]
    assert leaders(()) == ()


def test_trained_classifiers_are_no_heads():
    heads = [row("a", 0.1, 0.3)]
    assert best_rows({"dependency": heads, CLASSIFIER: [row("b", 0.1, 0.3)]}) == heads
