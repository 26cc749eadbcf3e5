"""Heads across corpora: the numbers of planted runs."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from experiments.compare.across import across, overlaps
from experiments.compare.grid import GridRun
from experiments.config.sections import CorpusSection
from reports.compare.across import kept_grades
from reports.tables.scores import SCORES


def cell(name: str) -> GridRun:
    parts = {
        part: {"name": "grammar", "documents": 8, "seed": seed, "wide": name == "wide"}
        for seed, part in enumerate(("select", "report"), 1)
    }
    config: Any = SimpleNamespace(corpus=CorpusSection.model_validate(parts))
    return GridRun("drawn", name, 0, config)


CELLS = cell("plain"), cell("wide")


def planted(accuracies: dict[str, tuple[float, int]], selected: str, **more: Any) -> Any:
    """Return a run with one label of dependency, whose heads have these accuracies and grades."""
    floats = {name: 0.0 for name, dtype in SCORES.dtypes.items() if dtype == "float64"}
    numbers: dict[str, Any] = SCORES.missing | floats | {"layer_attention": "global"}
    about = {"model": "m", "step": pd.NA, "maps": "weights", "corpus": "c", "split": "report"}
    about |= {"probe": "dependency", "label": "obj", "variant": "dependent->head", "n": 100, "clusters": 4}
    about |= {
        "effective_clusters": 4.0,
        "holds": 1.0,
        "baseline": "offset",
        "baseline_accuracy": 0.3,
        "rule": "nearest verb",
    }
    about |= {"lexical_accuracy": float("nan"), "rule_accuracy": 0.55, "near_ties": 0, "layer": 1, "head": 1}
    heads = [
        numbers
        | about
        | {"name": name, "accuracy": accuracy, "grade": grade, "specialised": grade > 0, "selected": name == selected}
        | more
        for name, (accuracy, grade) in accuracies.items()
    ]
    question = {key: about[key] for key in ("model", "step", "corpus", "probe", "label", "variant")}
    shares = (0.9, 1.0, 1.1, 1.0)
    counts = [
        question
        | {"group": group, "n": 25}
        | {name: 25 * share * accuracy for name, (accuracy, _) in accuracies.items()}
        for group, share in enumerate(shares)
    ]
    return SimpleNamespace(scores=pd.DataFrame(heads), tables={"counts": pd.DataFrame(counts)})


def test_every_number_of_planted_heads_is_what_was_planted() -> None:
    home = planted({"1-1": (0.8, 2), "1-2": (0.7, 1), "1-3": (0.2, 0), "1-4": (0.6, 1)}, "1-1")
    away = planted({"1-1": (0.5, 0), "1-2": (0.9, 3), "1-3": (0.6, 1), "1-4": (0.4, 0)}, "1-3")
    rows, left_out = across([*zip(CELLS, (home, away), strict=True)])
    assert left_out == []
    first, second = rows.to_dict("records")
    assert (first["selected_on"], first["evaluated_on"], first["name"], first["n"]) == ("plain", "wide", "1-1", 100)
    assert (first["accuracy"], first["grade"], first["home_grade"]) == (0.5, 0, 2)
    assert (first["own_name"], first["own_accuracy"], first["own_grade"]) == ("1-3", 0.6, 1)
    assert (first["strongest"], first["strongest_accuracy"]) == ("nearest verb", 0.55)
    assert (first["graded_heads"], first["others"], first["others_graded"]) == (2, 2, 1), "1-2 and 1-4; 1-2"
    assert first["difference"] == pytest.approx(-0.1)
    assert first["difference_low"] < -0.1 < first["difference_high"]
    assert (second["selected_on"], second["name"], second["home_grade"], second["grade"]) == ("wide", "1-3", 1, 0)
    assert (second["others"], second["others_graded"]) == (1, 1), "1-2 is specialised there, and graded here"
    assert second["difference"] == pytest.approx(0.2 - 0.8)
    home.tables = away.tables = {}
    bare = across([*zip(CELLS, (home, away), strict=True)])[0].iloc[0]
    assert (bare["difference"], bare["difference_low"]) == pytest.approx((-0.1, float("nan")), nan_ok=True)


def test_no_more_heads_keep_a_grade_than_have_one_there_also_where_grades_are_borderline() -> None:
    borderline = planted({"1-1": (0.8, 1)}, "1-1", holds=0.5, specialised=False)
    rows, _ = across([*zip(CELLS, (borderline, borderline), strict=True)])
    found = kept_grades(rows)
    assert (found["cases"], found["kept"], found["selected"], found["possible"]) == (2, 2, 2, 2)
    assert rows["others"].tolist() == [0, 0]


def test_a_head_is_not_evaluated_on_texts_that_selected_it() -> None:
    one, other = (cell.config.corpus for cell in CELLS)
    assert not overlaps(one, other)
    swapped = one.model_copy(update={"select": one.report, "report": one.select})
    assert overlaps(one, swapped)
    halves = one.model_copy(update={"report": None})
    assert not overlaps(halves, halves), "the halves of one corpus share no document"
    assert overlaps(halves, swapped), "a half, and the whole"
    assert overlaps(one, halves)
    cells = [replace(CELLS[0], config=SimpleNamespace(corpus=part)) for part in (one, swapped)]  # type: ignore[arg-type]  # all that is read
    run = planted({"1-1": (0.8, 1)}, "1-1")
    rows, left_out = across([(cell, run) for cell in cells])
    assert rows.empty
    assert len(left_out) == 2
    assert "whose report split may hold the texts that selected them" in left_out[0]
