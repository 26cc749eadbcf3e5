"""Best heads as tables and charts of notebooks hold the numbers of the scores."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from reports import Run
from reports.scores.best_heads import best_heads
from reports.scores.best_table import answer_columns, does, find_question


def test_the_best_heads_of_a_probe_are_those_that_were_chosen_with_their_numbers(run: Run):
    table = run.best("agreement")
    report = run.scores[(run.scores["probe"] == "agreement") & (run.scores["split"] == "report")]
    chosen = report[report["selected"]].set_index(["label", "variant"])
    assert {(row[0], row[1]): row[2] for row in table.rows} == chosen["name"].to_dict()
    assert {(row[0], row[1]): row[4] for row in table.rows} == {
        pair: f"{100 * value:.1f}" for pair, value in chosen["accuracy"].items()
    }
    shown = table.frame.set_index(["label", "variant"])["accuracy"].to_dict()
    assert shown == chosen["accuracy"].to_dict()
    assert {row[0] for row in run.best().rows} == set(run.scores["probe"])
    drawn = answer_columns(None, does)[2].write
    row = vars(best_heads(run.scores, "agreement")[0]) | {"p_adjusted": 0.01}
    heads = [SimpleNamespace(**row | {"grade": g, "holds": held}) for g, held in ((1, 1.0), (1, 0.5), (0, 0.0))]
    assert ["hollow" in str(drawn(head).page) for head in heads] == [False, True, True], "stable, borderline, none"


def test_labels_are_kept_and_those_without_an_item_are_counted(run: Run):
    table = run.best(label=["obj", "nsubj"])
    assert {row[1] for row in table.rows} == {"obj", "nsubj"}
    assert {row[1] for row in run.best(label="obj").rows} == {"obj"}
    gone = run.scores["label"].eq("obj") & run.scores["split"].eq("report")
    empty = replace(run, scores=run.scores.assign(n=run.scores["n"].mask(gone, 0)))
    table = empty.best(label=["obj", "nsubj"])
    assert {row[1] for row in table.rows} == {"nsubj"}
    assert table.note.endswith("Left out: 4 without an item on the report split.")
    with pytest.raises(ValueError, match=r"no label 'nsub'; did you mean 'nsubj'\?"):
        run.best(label="nsub")


def test_an_unknown_probe_or_variant_has_results_with_the_one_that_was_meant(run: Run):
    with pytest.raises(ValueError, match=r"no probe 'dependancy'; did you mean 'dependency'\?"):
        run.best("dependancy")
    with pytest.raises(ValueError, match=r"'obj' has no variant 'up'; there are dependent->head, "):
        run.plot("obj", variant="up")


def test_a_label_is_asked_in_the_variant_with_the_largest_sure_margin_unless_one_is_named(run: Run):
    rows = run.scores[(run.scores["label"] == "obj") & run.scores["selected"] & (run.scores["split"] == "report")]
    surest = str(rows.loc[rows["margin_low"].idxmax(), "variant"])
    assert find_question(run, "obj", "dependency").variant == surest
    named = "head->dependent"
    assert find_question(run, "obj", "dependency", named).variant == named


def test_a_chart_of_a_label_has_a_cell_a_head_with_its_numbers(run: Run):
    (rows,) = run.plot("det", "dependency", "head->dependent").chart.to_dict()["datasets"].values()
    report = run.scores[(run.scores["label"] == "det") & (run.scores["variant"] == "head->dependent")]
    report = report[report["split"] == "report"].set_index("name")
    assert len(rows) == run.layers * run.heads
    assert {row["name"]: row["accuracy"] for row in rows} == pytest.approx(report["accuracy"].to_dict())
    assert [row["name"] for row in rows if row["grade"]] == report.index[report["grade"] > 0].tolist()


def test_a_chart_of_best_heads_has_a_role_a_row(run: Run):
    (rows,) = run.plot(probe="coreference").chart.to_dict()["datasets"].values()
    assert len({row["role"] for row in rows}) == len(rows) == 8
