"""What docs/planning.md says, and plans agree with the simulation that is kept beside them."""

import json
from math import exp
from pathlib import Path
from typing import Any

from experiments.bench.planning import CLUSTER, EACH, PAGES, RECORD, planned
from experiments.cluster.cost import CostModel, Shard, left_out_errors
from experiments.config.sections import ControlsSection
from experiments.inputs.controls import SAMPLE

ROOT = Path(__file__).parents[2]


def record() -> dict[str, Any]:
    return json.loads((ROOT / RECORD).read_text(encoding="utf-8"))


def test_the_cost_model_is_that_of_the_measured_shards() -> None:
    timed = [
        (Shard(**{key: value for key, value in one.items() if key != "seconds"}), one["seconds"])
        for one in record()["shards"]
    ]
    shards, seconds = zip(*timed, strict=True)
    fitted = CostModel.fit(shards, seconds).seconds
    for what, part in record()["seconds"].items():
        assert abs(fitted[what] - part) <= 0.02 * part + 0.001
    for told, found in zip(record()["left out"], left_out_errors(shards, seconds), strict=True):
        assert abs(told - found) < 0.02


def test_the_plans_are_those_of_the_cost_model_and_near_the_simulation() -> None:
    again = [*planned(CostModel(record()["seconds"]))]
    assert again == record()["plans"]
    assert all(0.9 < one["simulated over planned"] < 1.1 for one in again)
    assert max(one["seconds of a shard"] for one in again) <= 1.01 * EACH


def test_controls_take_as_much_more_as_the_page_says() -> None:
    controls = ControlsSection()
    page = (ROOT / PAGES[0]).read_text(encoding="utf-8").replace("\n", " ")
    assert 1 + controls.random + controls.permuted + controls.words == 7
    assert "at least seven times as much" in page
    assert f"{controls.permutations_tried * SAMPLE} sentences more" in page


def test_few_shards_are_given_up_as_the_page_says() -> None:
    lost = 1 - exp(-EACH / CLUSTER.life)
    assert round(1 / lost ** (CLUSTER.retries + 1) / 1e6) == 3
    assert "about one case in three million" in (ROOT / PAGES[0]).read_text(encoding="utf-8").replace("\n", " ")
