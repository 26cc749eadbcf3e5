from pathlib import Path

import pytest

from reports import Run
from reports.notebook.run_charts import MOST
from reports.scores.best_table import ScoredQuestion, find_question


@pytest.fixture(scope="module")
def run(written_run: Path) -> Run:
    return Run.open(written_run)


def test_the_best_heads_of_a_probe_are_those_that_were_chosen(run: Run):
    table = run.best("agreement")
    report = run.scores[(run.scores["probe"] == "agreement") & (run.scores["split"] == "report")]
    chosen = report[report["selected"]].set_index(["label", "variant"])["name"]
    shown = {(row[0], row[1]): row[2] for row in table.rows}
    assert shown == {pair: name for pair, name in chosen.items()}
    assert table.columns[0] == "label"


def test_the_numbers_beside_the_rows_are_those_of_the_scores(run: Run):
    table = run.best("agreement")
    first = table.frame.iloc[0]
    report = run.scores[(run.scores["split"] == "report") & run.scores["selected"]].set_index(
        ["probe", "label", "variant"]
    )
    assert first["accuracy"] == report.loc[("agreement", first["label"], first["variant"]), "accuracy"]
    assert table.rows[0][4] == f"{100 * first['accuracy']:.1f}"


def test_without_a_probe_all_of_them_are_there_and_named(run: Run):
    table = run.best()
    assert table.columns[0] == "probe"
    assert {row[0] for row in table.rows} == set(run.scores["probe"])


def test_an_unknown_probe_or_label_is_told_with_the_one_that_was_meant(run: Run):
    with pytest.raises(ValueError, match=r"no probe 'dependancy'; did you mean 'dependency'\?"):
        run.best("dependancy")
    with pytest.raises(ValueError, match=r"no label 'nsub'; did you mean 'nsubj'\?"):
        run.plot("nsub")
    with pytest.raises(ValueError, match=r"'obj' has no variant 'up'; there are dependent->head, "):
        run.plot("obj", variant="up")


def test_a_label_is_asked_in_the_variant_with_the_largest_sure_margin_unless_one_is_named(run: Run):
    rows = run.scores[(run.scores["label"] == "obj") & run.scores["selected"] & (run.scores["split"] == "report")]
    rows = rows[rows["probe"] == "dependency"]
    surest = str(rows.loc[rows["margin_low"].idxmax(), "variant"])
    assert find_question(run, "obj", "dependency") == ScoredQuestion("dependency", "obj", surest)
    named = "head->dependent"
    assert find_question(run, "obj", "dependency", named) == ScoredQuestion("dependency", "obj", named)


def test_a_chart_of_a_label_has_a_cell_a_head_with_its_numbers(run: Run):
    spec = run.plot("det", "dependency", "head->dependent").to_dict()
    (rows,) = spec["datasets"].values()
    report = run.scores[(run.scores["label"] == "det") & (run.scores["variant"] == "head->dependent")]
    report = report[report["split"] == "report"].set_index("name")
    assert len(rows) == run.layers * run.heads
    assert {row["name"]: row["accuracy"] for row in rows} == pytest.approx(report["accuracy"].to_dict())
    assert [row["name"] for row in rows if row["grade"]] == report.index[report["grade"] > 0].tolist()
    assert "head->dependent" in spec["title"]["text"]


def test_a_chart_of_best_heads_has_the_surest_and_says_how_many_there_are(run: Run):
    spec = run.plot().to_dict()
    (rows,) = spec["datasets"].values()
    scored = [row for row in run.best().rows if row[4] != "0"]
    assert len(rows) == MOST
    assert f"the {MOST} labels and directions of {len(scored)} with" in spec["title"]["subtitle"][1]
    (one,) = run.plot(probe="coreference").to_dict()["datasets"].values()
    assert len({row["role"] for row in one}) == len(one) == 8


def test_a_run_says_which_it_is_and_a_notebook_shows_its_best_heads_escaped(run: Run, hostile: str):
    assert repr(run).startswith("Run 'minilm-ewt': minilm, 6 layers x 12 heads, 5 probes, ")
    shown = run._repr_html_()
    assert shown.count("<tr>") == 13
    assert hostile not in run.best()._repr_html_()
