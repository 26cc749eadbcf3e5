"""How far runs of other seeds differ: counted by hand, and of a small run whose texts are read once."""

from pathlib import Path

import pandas as pd
import pytest

from experiments.bench import redraws
from probes.registry import PERMUTED, RANDOM, WORDS

NONE = "controls = { random = 0, permuted = 0, orders = 0 }"
"As the base config has it."


def seed(*labels: tuple[str, str, int, int, float, str]) -> pd.DataFrame:
    """The report split of one seed: probe, label, items, grade, the share of redraws in which it holds, verdict."""
    rows = pd.DataFrame(labels, columns=["probe", "label", "n", "grade", "holds", "verdict"])
    return rows.assign(variant="v", clusters=20)


def test_differences_are_shares_of_the_heads_that_either_seed_grades_and_verdicts_of_large_labels() -> None:
    """Five heads; of `small` the label has too few items for its verdict to count, the last is no linguistic role."""
    first = seed(
        *(("dependency", "a", 200, 1, 1.0, "yes"), ("dependency", "b", 200, 1, 0.9, "yes")),
        *(("position", "c", 200, 1, 0.95, "yes"), ("dependency", "small", 199, 0, 0.0, "no")),
        ("antecedent", "nearer is right", 199, 1, 1.0, "yes"),
    )
    second = seed(
        *(("dependency", "a", 200, 1, 0.5, "yes"), ("dependency", "b", 200, 0, 0.1, "no")),
        *(("position", "c", 200, 0, 0.6, "undecided"), ("dependency", "small", 199, 0, 0.0, "undecided")),
        ("antecedent", "nearer is right", 199, 2, 1.0, "yes"),
    )
    found = redraws.compare([first, second, first])
    assert found["seeds"] == 3
    grades, stable = found["grades"], found["stable grades"]
    assert grades["all"] == {"grades": 4, "median of pairs": 75, "worst pair": 75}
    assert grades["linguistic roles"] == {"grades": 2, "median of pairs": 50, "worst pair": 50}
    assert stable["all"] == {"grades": 3, "median of pairs": 66.67, "worst pair": 66.67}, "c and the last differ"
    assert stable["linguistic roles"] == {"grades": 1, "median of pairs": 0, "worst pair": 0}
    assert found["verdicts"] == {
        **{"words": 200, "documents": 20, "labels": 3},
        **{"median of pairs": 2, "worst pair": 2},
    }


def test_seeds_of_a_run_share_all_but_the_models_of_its_controls(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redraws, "POOL", {RANDOM: 4, PERMUTED: 4, WORDS: 3})
    monkeypatch.setattr(redraws, "SEEDS", 3)
    config, seeds = tmp_path / "small.toml", list[pd.DataFrame]()
    config.write_text(base.read_text(encoding="utf-8").replace(NONE, NONE.replace("0", "2")), encoding="utf-8")
    monkeypatch.setattr(redraws, "compare", lambda scores: seeds.extend(scores) or {})
    redraws.redraws(str(config))
    assert len(seeds) == 3
    assert all(seeds[0].accuracy.equals(one.accuracy) for one in seeds)
    assert {RANDOM, PERMUTED} & set(seeds[0].baseline)
    assert not any(seeds[0].baseline_accuracy.equals(one.baseline_accuracy) for one in seeds[1:])
