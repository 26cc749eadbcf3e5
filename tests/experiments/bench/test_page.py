"""The benchmark of large pages: how large they are, and that its clock stops when a head is shown."""

import sys
from pathlib import Path
from typing import Any

import pytest

from experiments.bench import page as bench_page
from experiments.bench.page import (
    MOST_MEGABYTES,
    REPORT,
    VIEW,
    Click,
    long_text,
    time_to_interactive,
    write_large_run,
    write_page,
)
from experiments.heads.view import write_text_view
from mha import align, load_model


@pytest.mark.slow
def test_a_page_of_144_heads_and_30_sentences_is_under_five_megabytes(tmp_path: Path) -> None:
    page = write_page(write_large_run(tmp_path))
    text = page.read_text(encoding="utf-8")
    assert text.count('"weights":"') == 30
    assert len(text.encode()) < MOST_MEGABYTES * 1e6


@pytest.mark.slow
def test_the_clock_stops_once_the_sentence_shows_the_head(tmp_path: Path, browser: Any) -> None:
    page = write_page(write_large_run(tmp_path, layers=2, heads=2, sentences=2, words=6))
    here = Click(*(part.replace("12-12", "2-2") for part in (REPORT.head, REPORT.shown)))
    (seconds,) = time_to_interactive(browser, page, here, 1)
    assert seconds > 0


@pytest.mark.slow
def test_a_view_of_512_pieces_is_small_and_shows_the_head_that_is_clicked(tmp_path: Path, browser: Any) -> None:
    text = long_text()
    assert len(align(load_model("minilm").tokenizer, [text.split()])[0]) == 512
    page = write_text_view(tmp_path / "view.html", [text], models=["minilm"])
    assert page.stat().st_size < MOST_MEGABYTES * 1e6
    (seconds,) = time_to_interactive(browser, page, VIEW, 1)
    assert seconds > 0


def test_without_a_browser_the_benchmark_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("playwright", reason="opens pages in a browser: playwright is not installed")
    monkeypatch.setattr(bench_page, "write_large_run", lambda folder: folder)
    monkeypatch.setattr(bench_page, "write_page", lambda folder: Path(__file__))
    monkeypatch.setattr(bench_page, "write_text_view", lambda path, texts, models: Path(__file__))
    monkeypatch.setattr(sys, "argv", ["bench_page", "--out", str(tmp_path / "times.json")])
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit) as ended:
        bench_page.main()
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("bench: no chromium on the PATH")
    assert not list(tmp_path.iterdir())
