"""The first page of a run: there before any control is read, gone when the run is, and no number depends on it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from experiments.config.config import Config
from experiments.run.config import load_config
from experiments.run.run import run
from experiments.run.scope import Part
from reports.run.lock import LockedError, locked
from tests.experiments.conftest import Said

CHANGES = (
    'name="early"',
    'probes.names=["position", "coreference"]',
    "scoring.window_words=20",
    "controls={random=1, permuted=1, permutations_tried=2, words=true, arcs=true}",
)


@pytest.fixture
def config(base: Path) -> Config:
    return load_config(base, CHANGES)


@pytest.fixture(autouse=True)
def _no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Controls in the order in which a run begins with them."""
    seen: list[str] = []
    choose, read = Part.selected_permutations, Part.control_heads

    def chosen(part: Part, *rest: Any) -> Any:
        seen.append("permutations")
        return choose(part, *rest)

    def heads(part: Part, control: Any, *rest: Any) -> Any:
        seen.append(f"{control.name} ({part.scope}s)")
        return read(part, control, *rest)

    monkeypatch.setattr(Part, "selected_permutations", chosen)
    monkeypatch.setattr(Part, "control_heads", heads)
    return seen


def test_it_is_there_before_any_control_and_gone_with_the_end_and_moves_no_number(
    config: Config, tmp_path: Path, steps: list[str]
) -> None:
    pages: list[str] = []

    def look(page: Path) -> None:
        assert page == tmp_path / "early-first.html"
        assert steps == []
        pages.append(page.read_text("utf-8"))

    folder = run(config, tmp_path, first=look)
    assert [path.name for path in tmp_path.iterdir()] == ["early"]
    assert len(steps) > 4
    (page,) = pages
    assert "No verdict yet" in page
    assert 'href="early/report/index.html"' in page
    assert re.search("still to be scored: coreference", page)
    other = run(config, tmp_path / "other")
    for path in sorted(folder.glob("*.parquet")):
        pd.testing.assert_frame_equal(pd.read_parquet(path), pd.read_parquet(other / path.name), check_exact=True)


def test_it_gets_the_windows_probes_once_they_are_scored(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[str] = []
    add = Part._add_controls

    def look(part: Part, *rest: Any) -> Any:
        pages.append((tmp_path / "early-first.html").read_text("utf-8"))
        return add(part, *rest)

    monkeypatch.setattr(Part, "_add_controls", look)
    told: list[Path] = []
    run(config, tmp_path, first=told.append)
    assert len(told) == 1
    sentences, windows = pages
    assert ">coreference</h3>" not in sentences
    assert ">position</h3>" in windows
    assert ">coreference</h3>" in windows
    assert "still to be scored" not in windows


def test_it_does_not_outlive_a_run_that_fails(config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there: list[bool] = []

    def fail(*anything: Any) -> None:
        there.append((tmp_path / "early-first.html").is_file())
        raise KeyboardInterrupt

    monkeypatch.setattr(Part, "_add_controls", fail)
    with pytest.raises(KeyboardInterrupt):
        run(config, tmp_path, first=lambda page: None)
    assert there == [True]
    assert not [*tmp_path.glob("*first*")]


def test_a_run_that_may_not_begin_leaves_the_page_of_another_process(config: Config, tmp_path: Path) -> None:
    page = tmp_path / "early-first.html"
    page.write_text("of another process", "utf-8")
    with locked(tmp_path / "early"), pytest.raises(LockedError):
        run(config, tmp_path, first=lambda page: None)
    assert page.read_text("utf-8") == "of another process"


NO_MODEL = "controls={random=0, permuted=0, words=false, arcs=true}"


def test_nothing_is_written_unless_it_is_asked_for_and_other_models_read(
    base: Path, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.run.first_page.write_first_page", None)
    run(config, tmp_path)
    run(load_config(base, (*CHANGES[:3], NO_MODEL)), tmp_path / "other", first=lambda page: pytest.fail("a page"))


def test_a_scope_without_items_leaves_the_page_to_the_next(base: Path, tmp_path: Path) -> None:
    """No sentence of the grammar has the two senses of a word."""
    pages: list[str] = []
    changes = (*CHANGES[:1], 'probes.names=["sense", "coreference"]', *CHANGES[2:])
    run(load_config(base, changes), tmp_path, first=lambda page: pages.append(page.read_text("utf-8")))
    (page,) = pages
    assert ">coreference</h3>" in page
    assert ">sense</h3>" not in page
    assert "still to be scored" not in page


def test_one_that_a_killed_run_has_left_goes_when_the_next_begins(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "early-first.html"
    page.write_text("of a killed run", "utf-8")
    there: list[bool] = []

    def fail(*anything: Any) -> None:
        there.append(page.is_file())
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.run.run.open_corpora", fail)
    with pytest.raises(KeyboardInterrupt):
        run(config, tmp_path)
    assert there == [False]


def test_a_resumed_run_shows_the_same_page_and_removes_it(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[str] = []

    def look(page: Path) -> None:
        pages.append(page.read_text("utf-8"))

    def killed(*anything: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("experiments.run.run.write_scores", killed)
        patch.setattr("experiments.run.first_page._remove", lambda folder: None)  # a killed process removes nothing
        with pytest.raises(KeyboardInterrupt):
            run(config, tmp_path, first=look)
    assert (tmp_path / "early-first.html").is_file()
    folder = run(config, tmp_path, resume=True, first=look)
    assert json.loads((folder / "run.json").read_text("utf-8"))["resumed"]
    assert len(pages) == 2
    assert pages[0] == pages[1]
    assert [path.name for path in tmp_path.iterdir()] == ["early"]


def test_a_run_does_without_it_where_it_cannot_be_written(config: Config, tmp_path: Path) -> None:
    (tmp_path / "early-first.html" / "in the way").mkdir(parents=True)
    folder = run(config, tmp_path, first=lambda page: pytest.fail("a page"))
    (note,) = (note for note in json.loads((folder / "run.json").read_text("utf-8"))["notes"] if "first" in note)
    assert note.startswith("the first page could not be written: ")


def test_the_command_says_where_it_is_and_is_silent_when_asked_to_be(
    headscope: Callable[..., Said], base: Path, tmp_path: Path
) -> None:
    words = ("run", base, *(part for change in CHANGES for part in ("--set", change)), "--out", tmp_path)
    said = headscope(*words)
    assert said.code == 0
    assert said.err.splitlines() == [f"first page, without verdicts: {tmp_path / 'early-first.html'}"]
    assert headscope("--quiet", *words).err == ""


def test_it_has_the_estimates_of_the_whole_run_where_no_control_has_a_part_in_them(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[pd.DataFrame] = []

    def keep(path: Path, name: str, parts: list[pd.DataFrame], *rest: Any) -> Path:
        shown[:] = parts
        return path

    monkeypatch.setattr("experiments.run.first_page.write_first_page", keep)
    whole = pd.read_parquet(run(config, tmp_path, first=lambda page: None) / "scores.parquet")
    early = pd.concat(shown, ignore_index=True)
    same = ["probe", "label", "variant", "name", "split", "selected", "n", "accuracy", "ci_low", "ci_high", "mass"]
    pd.testing.assert_frame_equal(early[same], whole[same], check_dtype=False)
    assert early[["p", "p_label", "excluded"]].isna().all(axis=None)
    assert not early.verdict.any()
    assert not early.grade.any()
    measured = early.margin.notna()
    assert (early.margin[measured] >= whole.margin[measured]).all()
    assert (early.margin[measured] > whole.margin[measured]).any(), "some control is stronger than all baselines"
