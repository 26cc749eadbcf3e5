"""Trained classifiers, pairs of words and parsers: whole runs, what is refused, and numbers of the pages."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.config.config import ConfigError
from experiments.measures.pairs import PairsMeasure
from experiments.run.config import load_config
from experiments.run.run import run
from reports import Run
from reports.formats import MISSING
from tests.experiments.measures.conftest import told

NAN = float("nan")
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


@pytest.fixture(scope="module")
def asked(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run with all tasks; not to be changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADSCOPE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        return run(load_config(base, ALL), tmp_path_factory.mktemp("asked"), page=False)


@pytest.mark.slow
def test_heads_are_held_against_the_embedding_on_pairs_of_words(asked: Path) -> None:
    table = Run.open(asked).tables["pairs"]
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
    table = found.tables["classifiers"]
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
def test_arcs_are_those_of_the_trained_probes_with_their_codelength(asked: Path) -> None:
    found = Run.open(asked)
    scores = found.scores[(found.scores.probe == "classifier") & (found.scores.split == "report")]
    scores = scores[scores.n > 0]
    arcs = found.tables["classifiers"]
    arcs = arcs[arcs.task == "arc: dependency/dependent->head"]
    both = arcs.merge(scores, on=["label", "name"], suffixes=("", "_scored"))
    assert len(both) == len(arcs) == len(scores)
    np.testing.assert_array_equal(both.accuracy, both.accuracy_scored)
    np.testing.assert_array_equal(both.selectivity, both.margin)
    np.testing.assert_allclose(both.compression, both.n_select / both.codelength)
    assert (both.majority == 0.5).all()
    assert arcs.n_select.max() == 40


@pytest.mark.slow
def test_examples_codes_layers_and_parsers_are_as_many_as_asked(asked: Path) -> None:
    found = Run.open(asked)
    noted = found.facts("classifiers")["part of speech"]
    assert noted["select"]["examples"] == noted["report"]["examples"] == 60
    scored = {split: found.record.scored[split]["sentence"].words for split in ("select", "report")}
    assert {split: noted[split]["available"] for split in scored} == scored
    codes, layers, parser = (found.tables[name] for name in ("codes", "layers", "parser"))
    assert {*codes.task} == {"part of speech", "coreference"}
    assert (codes.groupby(["task", "name"]).draw.agg(list).map(tuple) == (0, 1)).all()
    assert codes[["compression", "control_compression"]].notna().all().all()
    assert (layers.groupby("task").layer.agg(list).map(tuple) == (0, 1, 2)).all()
    assert len(parser) == 7
    for table in (layers, parser):
        assert table[["selectivity", "selectivity_low", "selectivity_high"]].notna().all().all()


@pytest.mark.slow
def test_a_part_can_be_asked_alone(base: Path, tmp_path: Path) -> None:
    few = ['classifiers.tasks=["relative position"]', "classifiers.random=false", "classifiers.layers=false"]
    found = Run.open(run(load_config(base, [*ASKED[3:4], *few]), tmp_path / "a", page=False))
    assert TABLES & set(found.tables) == {"classifiers"}
    assert found.tables["classifiers"].random_accuracy.isna().all()
    parser = ["classifiers.parser=true", "classifiers.random=false", "classifiers.sentences=5"]
    found = Run.open(run(load_config(base, parser), tmp_path / "b", page=False))
    assert TABLES & set(found.tables) == {"parser"}
    assert found.tables["parser"].weights.tolist() == ["none", "trained", "trained", "none", "none"]


@pytest.mark.slow
def test_a_task_without_examples_is_noted(
    base: Path, write_corpus: Callable[..., Path], sentences: list[str], tmp_path: Path
) -> None:
    path = write_corpus(tmp_path / "forty.conllu", sentences[:40])
    copy = write_corpus(tmp_path / "copy.conllu", sentences[:40])
    parts = [f"corpus.{split}={{ path = '{file}' }}" for split, file in (("select", path), ("report", copy))]
    changes = [*parts, 'classifiers.tasks=["coreference"]']
    found = Run.open(run(load_config(base, changes), tmp_path, page=False))
    assert TABLES.isdisjoint(found.tables)
    assert "classifiers: the corpora have too few examples of coreference, it needs mentions" in found.record.notes


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ('classifiers.tasks=["part-of-speech"]', "unknown task 'part-of-speech'; did you mean 'part of speech'"),
        (
            'classifiers={tasks = ["subject number"], coded = ["coreference"]}',
            "coded has 'coreference', which is not among the tasks about words: ",
        ),
        ('classifiers.tasks=["arc"]', "it needs probes.trained = true"),
    ],
)
def test_what_cannot_be_asked_is_refused(change: str, complaint: str, base: Path) -> None:
    with pytest.raises(ConfigError, match=complaint):
        load_config(base, [change])


def paired(task: str, lead: float, p: float, **more: object) -> dict[str, object]:
    row: dict[str, object] = {"task": task}
    row |= {"features": "attention", "layer": 1, "head": 0, "name": "2-1", "selected": True, "n_select": 900, "n": 900}
    row |= {"clusters": 40, "accuracy": 0.6, "ci_low": 0.57, "ci_high": 0.63, "control_accuracy": 0.5}
    row |= {"selectivity": 0.1, "selectivity_low": 0.06, "selectivity_high": 0.14, "codelength": 800.0}
    for rival in ("embedding", "random"):
        row |= {f"{rival}_accuracy": 0.6 - lead, f"{rival}_lead": lead, f"{rival}_p": p}
        row |= {f"{rival}_lead_low": lead - 0.02, f"{rival}_lead_high": lead + 0.02}
    extra = ("together_accuracy", "random_embedding_accuracy", "random_together_accuracy")
    return row | {"compression": 1.1} | dict.fromkeys(extra, 0.9) | more


def test_heads_on_pairs_are_compared_with_the_embedding_and_with_random_weights(measured: Callable[..., Run]) -> None:
    random = {f"random_{what}": NAN for what in ("accuracy", "lead", "lead_low", "lead_high", "p")}
    others = {"selected": False}
    rows = (
        paired("agreement", 0.08, 0.0004),
        paired("agreement", 0.06, 0.03, **others, name="2-2", head=1, random_p=0.2),
        paired("agreement", 0.02, 0.3, **others, name="2-3", head=2),
        paired("agreement", 0.06, 0.03, **others, features="outputs"),
        paired("antecedent", -0.01, 0.7, **random),
        paired("next word", 0.0, 0.9, **random),
        paired("next word", 0.06, 0.03, **others, name="2-2", head=1, **random),
    )
    page = told(PairsMeasure, measured(pairs=pd.DataFrame(rows)))
    assert page.startswith(
        "In 1 of 3 cases the selected head classifies significantly more pairs of words correctly than both "
        "embeddings: agreement from attention. No head does for antecedent. In 1 of 1 cases the selected head "
        "classifies significantly more pairs of words correctly than the same head with randomly initialised weights: "
        "agreement from attention.\n"
    )
    assert "| agreement | attention | 2-1 | 900 | 60.0 [57.0, 63.0] |" in page
    assert "| +8.0 [+6.0, +10.0] | < 0.001 | 2 of 3 |" in page
    assert f"| 0 of 1 | {MISSING} | {MISSING} | {MISSING} | {MISSING} | 90.0 |" in page
