"""Runs that read other maps than attention weights."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from experiments.run.config import load_config
from experiments.run.run import run
from reports import Run


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["norms", "rollout"])
def test_a_run_reads_the_maps_that_its_config_names_and_its_page_says_so(
    kind: str, base: Path, scored: Callable[..., Run], tmp_path: Path
) -> None:
    probes = 'probes.names=["position", "dependency"]'
    found = run(load_config(base, [f"scoring.maps={kind}", probes, "page.examples=1"]), tmp_path)
    read, plain = Run.open(found), scored(probes)
    scores, weights = read.scores, plain.scores
    assert set(scores["maps"]) == {kind}
    assert set(weights["maps"]) == {"weights"}
    key = ["probe", "label", "variant", "name", "split"]
    one, other = (frame.set_index(key).sort_index() for frame in (scores, weights))
    assert (one["n"] == other["n"]).all()
    assert (one["accuracy"] != other["accuracy"])[one["n"] > 0].any()
    pd.testing.assert_frame_equal(
        read.tables["shapes"], plain.tables["shapes"]
    )  # they are those of attention, whatever is scored
    html = (found / "report" / "index.html").read_text(encoding="utf-8")
    assert f"This run did not read attention weights but {kind}" in html
    assert f"<b>{kind}</b>" in html
