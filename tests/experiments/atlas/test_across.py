"""Heads across corpora, of runs of a tiny model: the numbers are those that the other run's own tables have."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from experiments.atlas.across import across, overlaps
from experiments.atlas.atlas import make_atlas
from experiments.atlas.grid import Atlas, load_atlas
from experiments.inputs.corpora import open_corpora
from reports import Run
from reports.atlas.tables import ACROSS
from reports.tables.scores import SCORES

pytestmark = pytest.mark.slow

GRID = """
name = "two"
[models.drawn]
name = "{tiny}"
source = "random"
[corpora.plain]
select = {{ name = "grammar", documents = 8, seed = 1 }}
report = {{ name = "grammar", documents = 8, seed = 2 }}
[corpora.wide]
select = {{ name = "grammar", documents = 8, seed = 1, wide = true }}
report = {{ name = "grammar", documents = 8, seed = 2, wide = true }}
[probes]
names = ["dependency"]
[controls]
random = 0
permuted = 0
words = false
arcs = false
[scoring]
replicates = 10
[shapes]
enabled = false
"""

HEAD = ["probe", "label", "variant", "name"]


@pytest.fixture(scope="module")
def atlas(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    path = tmp_path_factory.mktemp("grid") / "grid.toml"
    path.write_text(GRID.format(tiny=tiny.as_posix()), encoding="utf-8")
    return load_atlas(path)


@pytest.fixture(scope="module")
def folder(atlas: Atlas, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_atlas(atlas, tmp_path_factory.mktemp("two")).parent


@pytest.fixture(scope="module")
def rows(folder: Path) -> pd.DataFrame:
    return ACROSS.read(folder / "across.parquet")


def scores(folder: Path, corpus: str) -> pd.DataFrame:
    found = SCORES.read(folder / "runs" / f"drawn-{corpus}-0" / "scores.parquet")
    return found[found["split"] == "report"]


def test_each_selected_head_is_held_against_every_other_corpus(folder: Path, rows: pd.DataFrame) -> None:
    assert {*zip(rows["selected_on"], rows["evaluated_on"], strict=True)} == {("plain", "wide"), ("wide", "plain")}
    for (home, away), own in rows.groupby(["selected_on", "evaluated_on"]):
        chosen = scores(folder, str(home))
        chosen = chosen[chosen["selected"] & (chosen["n"] > 0)]
        asked = {*scores(folder, str(away)).query("n > 0 and selected")[HEAD[:3]].itertuples(index=False, name=None)}
        known = chosen[[one in asked for one in chosen[HEAD[:3]].itertuples(index=False, name=None)]]
        assert {*own[HEAD].itertuples(index=False, name=None)} == {*known[HEAD].itertuples(index=False, name=None)}


def test_numbers_are_those_of_the_corpus_on_which_the_head_is_evaluated(folder: Path, rows: pd.DataFrame) -> None:
    there = scores(folder, "wide")
    own = rows[rows["evaluated_on"] == "wide"].merge(there, on=HEAD, suffixes=("", "_there"))
    assert len(own) == (rows["evaluated_on"] == "wide").sum() > 20
    for column in ("accuracy", "n", "grade"):
        assert own[column].equals(own[f"{column}_there"]), column
    chosen = there[there["selected"]].set_index(HEAD[:3])
    for row in own.to_dict("records"):
        best = chosen.loc[tuple(row[name] for name in HEAD[:3])]
        assert (row["own_name"], row["own_accuracy"]) == (best["name"], best["accuracy"])
        assert row["difference"] == pytest.approx(row["accuracy"] - row["own_accuracy"], abs=1e-6)
        assert row["difference"] == 0 or row["name"] != row["own_name"]


def test_some_heads_differ_and_their_difference_lies_in_its_interval(rows: pd.DataFrame) -> None:
    moved = rows[rows["name"] != rows["own_name"]].dropna(subset="difference_low")
    assert len(moved) > 5
    assert (moved["difference"] >= moved["difference_low"] - 1e-6).all()
    assert (moved["difference"] <= moved["difference_high"] + 1e-6).all()


def test_without_kept_counts_there_is_no_interval(atlas: Atlas, folder: Path) -> None:
    opened = [(cell, Run.open(folder / "runs" / cell.name)) for cell in atlas.cells]
    bare = [(cell, replace(run, tables={})) for cell, run in opened]
    rows, _ = across(bare)
    moved = rows["name"] != rows["own_name"]
    assert rows.loc[moved, "difference_low"].isna().all()
    assert rows.loc[moved, "difference"].notna().all()


def test_one_corpus_has_nothing_to_be_compared_with(atlas: Atlas, folder: Path) -> None:
    cell = atlas.cells[0]
    rows, left_out = across([(cell, Run.open(folder / "runs" / cell.name))])
    assert rows.empty
    assert left_out == []


def planted(accuracies: dict[str, tuple[float, int]], selected: str, **more: Any) -> Any:
    """Return a run with one label of dependency, whose heads have these accuracies and grades."""
    floats = {name: 0.0 for name, dtype in SCORES.dtypes.items() if dtype == "float64"}
    numbers: dict[str, Any] = SCORES.missing | floats | {"layer_attention": "global"}
    about = {"model": "m", "step": pd.NA, "maps": "weights", "corpus": "c", "split": "report", "specialised": False}
    about |= {"probe": "dependency", "label": "obj", "variant": "dependent->head", "n": 100, "clusters": 4}
    about |= {"effective_clusters": 4.0, "baseline": "offset", "baseline_accuracy": 0.3, "rule": "nearest verb"}
    about |= {"lexical_accuracy": float("nan"), "rule_accuracy": 0.55, "near_ties": 0, "layer": 1, "head": 1}
    heads = [
        numbers | about | {"name": name, "accuracy": accuracy, "grade": grade, "selected": name == selected} | more
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


def test_every_number_of_planted_heads_is_what_was_planted(atlas: Atlas) -> None:
    home = planted({"1-1": (0.8, 2), "1-2": (0.7, 1), "1-3": (0.2, 0), "1-4": (0.6, 1)}, "1-1")
    away = planted({"1-1": (0.5, 0), "1-2": (0.9, 3), "1-3": (0.6, 1), "1-4": (0.4, 0)}, "1-3")
    rows, left_out = across([*zip(atlas.cells, (home, away), strict=True)])
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


def test_a_head_is_not_evaluated_on_texts_that_selected_it(atlas: Atlas) -> None:
    one, other = (cell.config.corpus for cell in atlas.cells)
    assert not overlaps(one, other)
    swapped = one.model_copy(update={"select": one.report, "report": one.select})
    assert overlaps(one, swapped)
    halves = one.model_copy(update={"report": None})
    assert not overlaps(halves, halves), "the halves of one corpus share no document"
    assert overlaps(halves, swapped), "a half, and the whole"
    assert overlaps(one, halves)
    config = atlas.cells[0].config
    cells = [replace(atlas.cells[0], config=config.model_copy(update={"corpus": part})) for part in (one, swapped)]
    run = planted({"1-1": (0.8, 1)}, "1-1")
    rows, left_out = across([(cell, run) for cell in cells])
    assert rows.empty
    assert len(left_out) == 2
    assert "whose report split may hold the texts that selected them" in left_out[0]


def test_documents_with_the_same_ids_are_divided_in_the_same_way(tmp_path: Path, tiny: Path) -> None:
    """Translations keep their document's split, so that no head is selected on what it is evaluated on."""
    splits: list[Any] = []
    for language, word in (("english", "Dogs"), ("german", "Hunde")):
        path = tmp_path / f"{language}.conllu"
        lines = (
            f"# newdoc id = d{number}\n# sent_id = {number}\n1\t{word}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
            for number in range(30)
        )
        path.write_text("".join(lines), encoding="utf-8")
        grid = tmp_path / f"{language}.toml"
        grid.write_text(
            f'name = "x"\nmodels.m.name = "{tiny.as_posix()}"\ncorpora.c.select.path = "{path.as_posix()}"\n'
            '[probes]\nnames = ["dependency"]\n',
            encoding="utf-8",
        )
        corpora = open_corpora(load_atlas(grid).cells[0].config)
        splits.append([corpus.sentences().ids() for corpus in corpora])
    assert splits[0] == splits[1]
    assert min(map(len, splits[0])) > 5
    assert not {*splits[0][0]} & {*splits[0][1]}
