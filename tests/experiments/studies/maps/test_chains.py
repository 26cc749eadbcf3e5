"""Coreference chains in a run: the table, the samples that are read, notes, and the page."""

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.run.config import load_config
from experiments.run.run import run
from probes.chains.links import BASELINES
from probes.chains.scores import SCORES
from reports import Run
from reports.studies.chains import tables

pytestmark = pytest.mark.slow

Scored = Callable[..., Run]

ON = ("chains.enabled=true", "scoring.window_words=20")


def test_a_run_that_does_not_ask_for_chains_has_none(scored: Scored) -> None:
    assert "chains" not in scored('probes.names=["coreference"]', "scoring.window_words=20").studies


def test_the_scores_of_the_table_are_those_that_are_measured() -> None:
    assert tables.SCORES == SCORES


def test_heads_and_rivals_of_both_splits_are_scored_whatever_the_probes_are(scored: Scored) -> None:
    found = scored(*ON).studies["chains"]
    assert tuple(found.columns) == tables.CHAINS.names
    heads = ["1-1", "1-2", "2-1", "2-2"]
    assert found.name.unique().tolist() == [*heads, *BASELINES, "random weights"]
    assert len(found) == 2 * len(SCORES) * (len(heads) + len(BASELINES) + 1)
    assert dict(found[["split", "corpus"]].drop_duplicates().to_numpy()) == {
        "select": "grammar-1",
        "report": "grammar-2",
    }
    assert found[found.selected].name.nunique() == 1
    select = found[(found.split == "select") & (found.measure == "CoNLL") & (found.method == "head")]
    assert select[select.selected].f1.item() == select.f1.max()


def test_fewer_windows_and_no_random_weights_are_read_where_the_config_says_so(scored: Scored) -> None:
    every = scored(*ON).studies["chains"]
    some = scored(*ON, "chains.texts=5", "chains.random=false").studies["chains"]
    assert 0 < some.n.max() < every.n.min()
    assert "random weights" not in set(some.name)


def test_chains_are_cut_to_the_windows_that_the_run_reads(scored: Scored) -> None:
    short = scored("chains.enabled=true", "scoring.window_words=8", "chains.random=false").studies["chains"]
    long = scored(*ON, "chains.random=false").studies["chains"]
    ratio = [(one.chains / one.n).max() for one in (short, long)]
    assert ratio[0] > ratio[1], "more chains of fewer mentions each"


def test_where_no_window_has_a_mention_a_note_says_so(
    base: Path, sentences: list[str], write_corpus: Callable[..., Path], tmp_path: Path
) -> None:
    """Sentences in CoNLL-U that are written without their mentions."""
    files = [write_corpus(tmp_path / f"{name}.conllu", sentences[:20]) for name in ("a", "b")]
    corpus = f'corpus={{select={{path="{files[0]}"}}, report={{path="{files[1]}", first=15}}}}'
    found = Run.open(run(load_config(base, (*ON, corpus)), tmp_path, page=False))
    assert "chains" not in found.studies
    note = "coreference chains: no mention in the windows of the select and the report split"
    assert note in found.record.notes


def test_texts_that_the_model_cannot_read_are_counted(scored: Scored) -> None:
    found = scored("chains.enabled=true", "scoring.window_words=60", "chains.random=false")
    reasons = [lost.reason for lost in found.record.dropped or ()]
    assert any(reason.startswith("coreference chains: longer than the model") for reason in reasons)


def test_the_page_names_the_head_its_rivals_and_the_limits(base: Path, tmp_path: Path) -> None:
    folder = run(load_config(base, ON), tmp_path)
    found = Run.open(folder).studies["chains"]
    head = found[found.selected].name.iloc[0]
    for name in ("index.html", "report.md"):
        page = (folder / "report" / name).read_text("utf-8")
        assert "Coreference chains" in page
        assert f"head {head}" in page
        assert "same head word or mention that agrees" in page
        assert "CEAF" in page
