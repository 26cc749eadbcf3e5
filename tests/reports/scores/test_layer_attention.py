"""Local and global layers on the page of a run; tests/experiments/run/test_local_layers.py scores models with them."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports import Run, write_scores
from reports.page.page import run_page
from reports.scores.best_heads import best_heads

LOCAL = "local (window 129)"


@pytest.mark.slow
def test_the_grid_a_card_and_a_filter_know_local_layers(opened: Any, written_run: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(written_run, tmp_path / "run")
    scores = Run.open(folder).scores
    write_scores(scores.assign(layer_attention=np.where(scores["layer"] % 3, LOCAL, "global")), folder)
    run = Run.open(folder)
    best = best_heads(run.scores, "dependency")
    assert f"Layer 3 is {LOCAL}." in str(run.head("3-5"))
    (folder / "index.html").write_text(run_page(Run.open(folder)).html, encoding="utf-8")
    shown = opened(folder / "index.html")
    shown.fill("[data-filter=table-2]", "obj local")
    expected = sum(row.label == "obj" and row.layer % 3 > 0 for row in best)
    assert shown.locator("#table-2 tbody tr:visible").count() == expected
    assert shown.locator("[data-heads] .grid tbody th").all_inner_texts()[:3] == ["1", "2 local", "3 local"]
