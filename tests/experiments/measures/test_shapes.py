"""Shapes in a run: measured in the passes that score heads, told of both splits, and switched off by a key."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from experiments.run.config import load_config
from experiments.run.run import run
from probes.maps.shapes import MEASURES
from reports import Run

KEY = ["scope", "split", "kind", "measure", "name"]


def shapes_of(found: Run) -> pd.DataFrame:
    return found.studies["shapes"]


def test_shapes_are_those_of_all_heads_on_both_splits_and_scopes(whole: Path) -> None:
    found = Run.open(whole)
    shapes = shapes_of(found)
    assert len(shapes) == 2 * 2 * len(MEASURES) * found.layers * found.heads
    assert not shapes.duplicated(KEY).any()
    for split, scopes in found.record.scored.items():
        for scope, counts in scopes.items():
            rows = shapes[(shapes.split == split) & (shapes.scope == scope)]
            assert set(rows[rows.kind == "entropy"].n) == {counts.windows}
    assert set(shapes.corpus) == set(found.scores.corpus)
    assert "shapes" in found.record.stages
    page = (whole / "report" / "index.html").read_text("utf-8")
    assert "Attention statistics" in page


def test_blocks_are_measured_where_windows_hold_several_sentences(whole: Path) -> None:
    shapes = shapes_of(Run.open(whole))
    block = shapes[(shapes.measure == "block") & (shapes.kind == "sieve")]
    assert (block[block.scope == "sentence"].n == 0).all()
    assert (block[block.scope == "window"].n > 0).all()
    assert block[(block.scope == "window") & (block.split == "report")].p_adjusted.notna().all()


def test_shapes_can_be_switched_off_and_change_no_score(scored: Callable[..., Run]) -> None:
    off = scored("shapes.enabled=false")
    assert "shapes" not in off.studies
    assert not (off.folder / "shapes.parquet").exists()
    assert "shapes" not in off.record.stages
    pd.testing.assert_frame_equal(off.scores, scored().scores, check_exact=True)


@pytest.mark.slow
def test_the_threshold_decides_the_tests_of_sieves_and_nothing_else(scored: Callable[..., Run]) -> None:
    high, low = (shapes_of(scored(f"shapes.threshold={value}")).set_index(KEY) for value in (50.0, 0.001))
    tested = high.p.notna()
    assert set(high[tested].threshold) == {50.0}
    assert float(high[tested].p.min()) > 0.9
    assert float(low[tested].p.max()) < 0.1
    kept = ["n", "clusters", "value", "ci_low", "ci_high", "even", "near_ties"]
    pd.testing.assert_frame_equal(high[kept], low[kept], check_exact=True)


def test_the_same_run_gives_the_same_shapes(
    base: Path, tmp_path: Path, scored: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
    again = Run.open(run(load_config(base), tmp_path))
    pd.testing.assert_frame_equal(shapes_of(again), shapes_of(scored()), check_exact=True)
