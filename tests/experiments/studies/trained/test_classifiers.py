import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.config.config import ConfigError
from experiments.run.config import load_config
from experiments.run.run import run
from reports import Run

TABLES = {"classifiers", "codes", "layers", "pairs", "parser"}
ASKED = (
    'probes.names=["dependency"]',
    "probes.trained=true",
    "probes.trained_pairs=20",
    "classifiers.examples=60",
    "classifiers.sentences=12",
    "classifiers.parser=true",
    "classifiers.codes=2",
    "classifiers.pairs=true",
    'classifiers.coded=["part of speech", "coreference"]',
    "classifiers.workers=1",
)
ALL = (
    *ASKED,
    "scoring.window_words=20",
    "corpus.select.documents=20",
    "corpus.report.documents=20",
    'classifiers.tasks=["all", "arc"]',
)


def test_nothing_is_trained_where_nothing_is_asked(scored: Callable[..., Run]) -> None:
    found = scored()
    assert TABLES.isdisjoint(found.studies)
    assert found.record.classifiers is None
    assert not any(stage.startswith(("classifiers", "parser")) for stage in found.record.stages)


@pytest.fixture(scope="module")
def asked(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run with all tasks, its page included; not to be changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADSCOPE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        steps: dict[str, list[tuple[int, int]]] = {}
        folder = run(
            load_config(base, ALL),
            tmp_path_factory.mktemp("asked"),
            progress=lambda what, done, of: steps.setdefault(what, []).append((done, of)),
        )
    trained = ("heads (sentences)", "random heads (windows)", "pairs (sentences)", "random pairs (windows)")
    for what in (*(f"classifiers of {heads}" for heads in trained), "parsers"):
        assert steps[what] == [(done + 1, steps[what][-1][1]) for done in range(len(steps[what]))]
        assert steps[what][-1][0] == steps[what][-1][1]
    return folder


@pytest.mark.slow
def test_heads_are_held_against_the_embedding_on_pairs_of_words(asked: Path) -> None:
    table = Run.open(asked).studies["pairs"]
    assert {*table.task} == {"agreement", "antecedent", "next word"}
    each = table.groupby(["task", "features"])
    assert each.ngroups == 6
    assert (each.size() == 4).all()
    assert (each.selected.sum() == 1).all()
    chosen = table.loc[each.codelength.idxmin()]
    assert chosen.selected.all()
    np.testing.assert_allclose(table.embedding_lead, table.accuracy - table.embedding_accuracy, atol=1e-6)
    np.testing.assert_allclose(table.random_lead, table.accuracy - table.random_accuracy, atol=1e-6)
    measured = ["together_accuracy", "random_together_accuracy", "random_embedding_accuracy", "control_accuracy"]
    assert table[measured].notna().all(axis=None)
    assert table[["embedding_p", "random_p"]].apply(lambda p: p.between(0, 1)).all(axis=None)


@pytest.mark.slow
def test_every_task_has_a_row_a_head_beside_its_controls(asked: Path) -> None:
    found = Run.open(asked)
    table = found.studies["classifiers"]
    tasks = table[table.label == "all"].task.unique().tolist()
    assert set(tasks) - {"arc: dependency/dependent->head"} == {
        *("part of speech", "dependency label", "subject number", "absolute position", "relative position"),
        "coreference",
    }
    assert (table.groupby(["task", "label"]).size() == 4).all()
    assert (table.groupby(["task", "label"]).selected.sum() == 1).all()
    assert (table.corpus == "grammar-2").all()
    columns = ["accuracy", "control_accuracy", "selectivity", "codelength", "compression", "control_compression"]
    assert table[columns].notna().all().all()
    np.testing.assert_allclose(table.selectivity, table.accuracy - table.control_accuracy)
    heads = table[~table.task.str.startswith("arc")]
    beside = ["majority", "control_majority", "embedding_accuracy", "random_accuracy", "random_selectivity"]
    assert heads[beside].notna().all().all()
    np.testing.assert_allclose(heads.compression, heads.n_select * np.log2(heads.classes) / heads.codelength)
    best = heads.loc[heads.groupby("task").codelength.idxmin()]
    assert best.selected.all(), "chosen on the selection split, by the shortest code"


@pytest.mark.slow
def test_examples_are_counted_with_those_there_were(asked: Path) -> None:
    record = json.loads((asked / "run.json").read_text())
    noted = record["classifiers"]["part of speech"]
    assert noted["select"]["examples"] == noted["report"]["examples"] == 60
    scored = {split: record["scored"][split]["sentence"]["words"] for split in ("select", "report")}
    assert {split: noted[split]["available"] for split in scored} == scored
    assert {"classifiers: read", "classifiers: heads", "classifiers: random weights", "parsers"} <= set(
        record["stages"]
    )


@pytest.mark.slow
def test_arcs_are_those_of_the_trained_probes_with_their_codelength(asked: Path) -> None:
    found = Run.open(asked)
    scores = found.scores[(found.scores.probe == "classifier") & (found.scores.split == "report")]
    scores = scores[scores.n > 0]
    arcs = found.studies["classifiers"]
    arcs = arcs[arcs.task == "arc: dependency/dependent->head"]
    both = arcs.merge(scores, on=["label", "name"], suffixes=("", "_scored"))
    assert len(both) == len(arcs) == len(scores)
    np.testing.assert_array_equal(both.accuracy, both.accuracy_scored)
    np.testing.assert_array_equal(both.selectivity, both.margin)
    np.testing.assert_allclose(both.compression, both.n_select / both.codelength)
    assert (both.majority == 0.5).all()
    assert arcs.n_select.max() == 40


@pytest.mark.slow
def test_codes_are_drawn_as_often_as_asked_of_the_tasks_that_are_named(asked: Path) -> None:
    codes = Run.open(asked).studies["codes"]
    assert {*codes.task} == {"part of speech", "coreference"}
    assert (codes.groupby(["task", "name"]).draw.agg(list).map(tuple) == (0, 1)).all()
    assert codes[["compression", "control_compression"]].notna().all().all()


@pytest.mark.slow
def test_layers_and_parsers_have_tables_and_the_page_shows_all(asked: Path) -> None:
    found = Run.open(asked)
    layers, parser = found.studies["layers"], found.studies["parser"]
    assert (layers.groupby("task").layer.agg(list).map(tuple) == (0, 1, 2)).all()
    assert len(parser) == 7
    for table in (layers, parser):
        assert table[["selectivity", "selectivity_low", "selectivity_high"]].notna().all().all()
    for name in TABLES:
        assert len(pd.read_csv(asked / f"{name}.csv")) == len(found.studies[name])
    page, text = ((asked / "report" / name).read_text("utf-8") for name in ("index.html", "report.md"))
    for said in (
        "Trained classifiers of heads",
        "Parsers on all heads at once",
        "next word (right-branching)",
    ):
        assert said in page
        assert said in text
    assert (asked / "report" / "figures" / "classifiers.png").is_file()


@pytest.mark.slow
def test_a_part_can_be_asked_alone(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
    few = ['classifiers.tasks=["relative position"]', "classifiers.random=false", "classifiers.layers=false"]
    found = Run.open(run(load_config(base, [*ASKED[3:4], *few]), tmp_path / "a"))
    assert TABLES & set(found.studies) == {"classifiers"}
    assert found.studies["classifiers"].random_accuracy.isna().all()
    parser = ["classifiers.parser=true", "classifiers.random=false", "classifiers.sentences=5"]
    found = Run.open(run(load_config(base, parser), tmp_path / "b"))
    assert TABLES & set(found.studies) == {"parser"}
    assert found.studies["parser"].weights.tolist() == ["none", "trained", "trained", "none", "none"]


@pytest.mark.slow
def test_a_task_without_examples_is_noted(
    base: Path, write_corpus: Callable[..., Path], sentences: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
    path = write_corpus(tmp_path / "forty.conllu", sentences[:40])
    copy = write_corpus(tmp_path / "copy.conllu", sentences[:40])
    parts = [f"corpus.{split}={{ path = '{file}' }}" for split, file in (("select", path), ("report", copy))]
    changes = [*parts, 'classifiers.tasks=["coreference"]']
    found = Run.open(run(load_config(base, changes), tmp_path))
    assert TABLES.isdisjoint(found.studies)
    assert "classifiers: the corpora have too few examples of coreference, it needs mentions" in found.record.notes


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ('classifiers.tasks=["part-of-speech"]', "unknown task 'part-of-speech'; did you mean 'part of speech'"),
        ('classifiers.tasks=["coreference", "coreference"]', "task 'coreference' is named twice"),
        (
            'classifiers={tasks = ["subject number"], coded = ["coreference"]}',
            "coded has 'coreference', which is not among the tasks about words: ",
        ),
        ('classifiers.tasks=["arc"]', "it needs probes.trained = true"),
        ("classifiers.examples=5", "greater than or equal to 20"),
        ("classifiers.task=1", "unknown key 'classifiers.task'; did you mean 'tasks'"),
    ],
)
def test_what_cannot_be_asked_is_refused(change: str, complaint: str, base: Path) -> None:
    with pytest.raises(ConfigError, match=complaint):
        load_config(base, [change])
