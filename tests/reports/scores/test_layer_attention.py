"""Local and global layers are told where a model has both, and nowhere else."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from reports import Run, write_scores
from reports.page.page import run_page
from reports.scores.best_heads import alternates, best_heads, layer_attention

LOCAL = "local (window 129)"


def mixed(scores: pd.DataFrame) -> pd.DataFrame:
    return scores.assign(layer_attention=np.where(scores["layer"] % 3, LOCAL, "global"))


def test_layers_are_told_where_some_are_local(scores: pd.DataFrame) -> None:
    assert layer_attention(scores) == layer_attention(scores.assign(layer_attention="")) == {}
    assert not alternates(layer_attention(scores.assign(layer_attention=LOCAL)))
    some = layer_attention(mixed(scores))
    assert some == {layer: LOCAL if layer % 3 else "global" for layer in range(6)}
    assert alternates(some)


@pytest.mark.slow
def test_the_grid_a_card_and_a_filter_know_local_layers(opened: Any, written_run: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(written_run, tmp_path / "run")
    write_scores(mixed(Run.open(folder).scores), folder)
    run = Run.open(folder)
    best = best_heads(run.scores, "dependency")
    assert f"Layer 3 is {LOCAL}." in str(run.head("3-5"))
    (folder / "index.html").write_text(run_page(Run.open(folder)).html, encoding="utf-8")
    shown = opened(folder / "index.html")
    shown.fill("[data-filter=table-2]", "obj local")
    expected = sum(row.label == "obj" and row.layer % 3 > 0 for row in best)
    assert shown.locator("#table-2 tbody tr:visible").count() == expected
    assert shown.locator("[data-heads] .grid tbody th").all_inner_texts()[:3] == ["1", "2 local", "3 local"]
