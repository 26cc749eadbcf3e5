"""Runs on models without knowledge are whole runs, though they share what models of several seeds read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.run.run import run
from experiments.sandbox import whole_runs
from experiments.sandbox.whole_runs import TREEBANKS, NullRuns, whole_config
from reports import read_scores

KEY = ["probe", "variant", "label", "split", "layer", "head"]


@pytest.mark.slow
def test_scores_are_those_of_a_whole_run(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run takes controls that the first one read; a run by itself reads them all.

    There are two models of each control, of a tiny model that is asked one probe of each scope.
    """

    def few(corpus: str, source: str, seed: int, sentences: int) -> object:
        config = whole_config(corpus, source, seed, sentences)
        controls = config.controls.model_copy(update={"random": 2, "permuted": 2, "orders": 2})
        probes = config.probes.model_copy(update={"names": ("agreement", "antecedent")})
        heads = config.heads.model_copy(update={"texts": 0, "relations": 0})
        model = config.model.model_copy(update={"name": str(tiny)})
        return config.model_copy(update={"controls": controls, "probes": probes, "heads": heads, "model": model})

    monkeypatch.setattr(whole_runs, "whole_config", few)
    shared = NullRuns("grammar", 50)
    shared.scores("permuted", 1)
    mine = shared.scores("random", 1).set_index(KEY).sort_index()
    folder = run(whole_runs.whole_config("grammar", "random", 1, 50), tmp_path, page=False)
    theirs = read_scores(folder / "scores.parquet").set_index(KEY).sort_index()
    for column in ("accuracy", "p_adjusted", "margin", "excluded", "stability"):
        np.testing.assert_allclose(mine[column], theirs[column].astype(float), rtol=1e-6, err_msg=column)
    assert list(mine.grade) == list(theirs.grade)
    assert list(mine.baseline) == list(theirs.baseline)


def test_of_treebanks_as_many_sentences_are_read_as_asked(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_DATA", str(data_folder))
    for corpus in TREEBANKS:
        assert [one.size()["sentences"] for one in NullRuns(corpus, 20).corpora] == [20 * TREEBANKS[corpus]] * 2


def test_a_row_tells_the_heads_that_have_a_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    """One head of two has a grade; the selection split is not looked at."""
    row = {"probe": "p", "variant": "v", "label": "a", "name": "1-1", "split": "report", "grade": 0}
    changes: list[dict[str, object]] = [
        {"p_adjusted": 0.01, "grade": 2},
        {"p_adjusted": 0.2},
        {"label": "b", "p_adjusted": 0.5},
        {"label": "not tested", "p_adjusted": np.nan},
        {"split": "select", "p_adjusted": 0.01, "grade": 1},
    ]
    scores = pd.DataFrame([row | change for change in changes])
    monkeypatch.setattr(NullRuns, "scores", lambda runs, source, seed: scores)
    assert NullRuns("grammar", 70).row("permuted", 3) == {
        "corpus": "grammar",
        "source": "permuted",
        "seed": 3,
        "documents": 7,
        "labels": 2,
        "graded": 1,
        "declared": ["1-1 p v a"],
    }
