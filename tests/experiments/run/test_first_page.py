"""The first page of a run: there before any control is read, gone when the run is, and no number depends on it."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from experiments.config.config import Config
from experiments.run.config import load_config
from experiments.run.run import run
from experiments.run.scope import Part
from reports.run.lock import LockedError, locked

CHANGES = (
    'name="early"',
    'probes.names=["position", "coreference"]',
    "scoring.window_words=20",
    "controls={random=2, permuted=2, orders=2}",
)


@pytest.fixture
def config(base: Path) -> Config:
    return load_config(base, CHANGES)


@pytest.fixture(autouse=True)
def _no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)


def test_it_is_there_before_any_control_with_windows_once_scored_and_gone_with_the_end_and_moves_no_number(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, pages, told, add = tmp_path / "early-first.html", list[str](), list[Path](), Part._add_controls

    def look(part: Part, *rest: Any) -> Any:
        pages.append(page.read_text("utf-8"))
        return add(part, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Part, "_add_controls", look)
        folder = run(config, tmp_path, first=told.append)
    assert (told, [path.name for path in tmp_path.iterdir()]) == ([page], ["early"])
    sentences, windows = pages
    assert "No verdict yet" in sentences
    assert 'href="early/report/index.html"' in sentences
    assert "still to be scored: coreference" in sentences
    assert ">coreference</h3>" not in sentences
    assert ">position</h3>" in windows
    assert ">coreference</h3>" in windows
    assert "still to be scored" not in windows
    other = run(config, tmp_path / "other")
    for path in sorted(folder.glob("*.parquet")):
        pd.testing.assert_frame_equal(pd.read_parquet(path), pd.read_parquet(other / path.name), check_exact=True)


def test_a_run_that_may_not_begin_leaves_the_page_of_another_process(config: Config, tmp_path: Path) -> None:
    page = tmp_path / "early-first.html"
    page.write_text("of another process", "utf-8")
    with locked(tmp_path / "early"), pytest.raises(LockedError):
        run(config, tmp_path, first=lambda page: None)
    assert page.read_text("utf-8") == "of another process"


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
