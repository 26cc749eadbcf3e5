import math

import pandas as pd

from reports.drawing.heatmaps import heat_map_data
from reports.scores.best_heads import best_heads, page_scores, probes


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
    trusted = [row.margin_low for row in best if row.clusters >= 20]
    assert trusted == sorted(trusted, reverse=True)
    assert [row.clusters >= 20 for row in best] == sorted((row.clusters >= 20 for row in best), reverse=True)
    assert {row.label for row in best if row.has_few_clusters} == {"vocative"}


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
    data = heat_map_data(scores, "dependency", best)
    one = data["maps"][data["first"]]
    assert (data["layers"], data["heads"]) == (6, 12)
    assert (one["label"], one["variant"]) == (best[0].label, best[0].variant)
    assert one["selected"] == best[0].layer * 12 + best[0].head
    assert one["accuracy"][one["selected"]] == round(1000 * best[0].accuracy)
    orphan = next(one for one in data["maps"] if one["label"] == "orphan")
    assert (set(orphan["accuracy"]), orphan["n"], orphan["selected"]) == ({None}, 0, None)


def test_heads_that_were_not_scored_are_gaps_in_a_heat_map(scores: pd.DataFrame):
    frame = scores[scores["name"] != "6-12"]
    one = heat_map_data(frame, "coreference", best_heads(frame, "coreference"))["maps"][0]
    assert one["accuracy"][-2] is None or one["accuracy"][-2] >= 0
    assert len(one["accuracy"]) == 72
    assert one["accuracy"][71] is None
    assert 71 not in one["specialised"]
    assert one["n"][71] == 0


def test_other_specialised_heads_are_named_the_most_accurate_first(scores: pd.DataFrame):
    best = {(row.label, row.variant): row for row in best_heads(scores, "dependency")}
    obj = best["obj", "dependent->head"]
    of_label = scores[(scores["label"] == "obj") & (scores["variant"] == "dependent->head")]
    report = of_label[of_label["split"] == "report"].set_index("name")
    assert sorted(obj.others) == ["1-1", "1-2", "1-3", "1-4"]
    assert [report.accuracy[name] for name in obj.others] == sorted(report.accuracy[list(obj.others)], reverse=True)
    assert obj.also == f"4 more: {obj.others[0]}, {obj.others[1]}, +2"
    assert best["det", "head->dependent"].also == "but 1 is: 2-2"
    assert best["det", "dependent->head"].also == ""


def test_verdicts_in_words(scores: pd.DataFrame):
    verdicts = {
        (row.probe, row.label, row.variant): row.verdict
        for probe in probes(scores)
        for row in best_heads(scores, probe)
    }
    assert verdicts["dependency", "obj", "dependent->head"] == "specialised, beyond the rules"
    assert verdicts["dependency", "det", "dependent->head"] == "specialised, beyond the table"
    assert verdicts["agreement", "all", "verb->subject"] == "specialised, beyond the table, beyond the rules"
    assert verdicts["dependency", "det", "head->dependent"] == "not specialised"
    assert verdicts["position", "broad", "all tokens"] == "–"
    assert verdicts["classifier", "obj", "dependency/dependent->head"] == "–"
    assert verdicts["dependency", "orphan", "dependent->head"] == "–"


def test_a_label_without_a_chosen_head_still_names_its_specialised_heads(scores: pd.DataFrame):
    frame = scores[(scores["label"] != "obj") | (scores["split"] == "report")].copy()
    frame.loc[frame["label"] == "obj", "selected"] = False
    found = next(
        row for row in best_heads(frame, "dependency") if (row.label, row.variant) == ("obj", "dependent->head")
    )
    assert (found.name, found.verdict, found.rank) == ("", "–", "")
    assert len(found.others) == 5
    assert found.also.startswith("but 5 are: ")


def test_heat_maps_list_the_specialised_heads(scores: pd.DataFrame):
    best = best_heads(scores, "dependency")
    maps = {(one["label"], one["variant"]): one for one in heat_map_data(scores, "dependency", best)["maps"]}
    obj, det = maps["obj", "dependent->head"], maps["det", "dependent->head"]
    assert set(obj["specialised"]) == {0, 1, 2, 3, obj["selected"]}
    assert obj["beyond_lexical"] == []
    assert det["specialised"] == det["beyond_lexical"] == [det["selected"]]
    assert maps["det", "head->dependent"]["specialised"] == [13]
