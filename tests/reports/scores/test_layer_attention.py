"""Local and global layers are told where a model has both, and nowhere else."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from reports import Run
from reports.heads.grid import head_grid
from reports.page.page import run_page
from reports.page.page_model import gather
from reports.scores.best_heads import best_heads
from reports.scores.layer_attention import alternates, layer_attention

LOCAL = "local (window 129)"


@pytest.fixture(scope="module")
def page(alternating_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("alternating page") / "index.html"
    path.write_text(run_page(gather(alternating_run)).html, encoding="utf-8")
    return path


def test_layers_are_told_where_some_are_local(scores: pd.DataFrame) -> None:
    assert layer_attention(scores) == layer_attention(scores.assign(layer_attention="")) == {}
    every = layer_attention(scores.assign(layer_attention=LOCAL))
    assert every == dict.fromkeys(range(6), LOCAL)
    assert not alternates(every)
    some = layer_attention(scores.assign(layer_attention=np.where(scores["layer"] % 3, LOCAL, "global")))
    assert some == {layer: LOCAL if layer % 3 else "global" for layer in range(6)}
    assert alternates(some)


def test_the_grid_and_a_card_name_local_layers(alternating_run: Path, written_run: Path) -> None:
    run, plain = Run.open(alternating_run), Run.open(written_run)
    grid, same = head_grid(run), head_grid(plain)
    assert grid is not None
    assert same is not None
    assert grid.layer_names[:3] == ["1, global", f"2, {LOCAL}", f"3, {LOCAL}"]
    assert grid.data["attention"] == grid.layer_attention == ("global", LOCAL, LOCAL) * 2
    assert (same.layer_names[:2], "attention" in same.data) == (["1", "2"], False)
    assert f"Layer 3 is {LOCAL}." in str(run.head("3-5"))
    assert "Attention of the layer" not in str(plain.head("3-5"))


@pytest.mark.slow
def test_the_page_filters_by_local_and_global_layers(opened: Any, page: Path, scores: pd.DataFrame) -> None:
    best, shown = best_heads(scores, "dependency"), opened(page)
    visible, count = shown.locator("#table-2 tbody tr:visible"), shown.locator(".tabletop output").nth(1)
    for kind, wanted in (("local", lambda row: row.layer % 3), ("global", lambda row: not row.layer % 3)):
        shown.fill("[data-filter=table-2]", kind)
        expected = sum(bool(row.name and wanted(row)) for row in best)
        assert visible.count() == expected > 0
        assert count.inner_text() == f"{expected} of {len(best)} rows"
    shown.fill("[data-filter=table-2]", "obj global")
    assert visible.count() == sum(row.label == "obj" and not row.layer % 3 for row in best)
    rows = shown.locator("[data-heads] .grid tbody th")
    assert rows.all_inner_texts()[:3] == ["1", "2 local", "3 local"]
    assert rows.nth(1).get_attribute("title") == LOCAL
