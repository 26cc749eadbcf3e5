"""A grade in words, and why a lead that looks sure has none."""

import math
from typing import Any

import pytest

from reports.notebook.run import Run
from reports.scores.thresholds import RunThresholds, run_thresholds


def row(**more: Any) -> dict[str, Any]:
    about = {"probe": "dependency", "grade": 0, "holds": 0.0, "p_adjusted": 0.509, "margin": 0.8, "margin_low": 0.67}
    return about | {"effective_clusters": 3.0} | more


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "no grade: too few documents (effective number 3.0)"),
        # (1 - 0.05 / 1.1) ** 64 = 0.0509, ** 65 = 0.0486
        ({"margin": 0.1, "margin_low": 0.06, "effective_clusters": 64.0}, "too few documents (effective number 64.0)"),
        ({"margin": 0.1, "margin_low": 0.06, "effective_clusters": 65.0}, "after correction for all heads and labels"),
        ({"holds": 0.1}, "no grade, borderline (significant in 10.0 % of redraws of the controls)"),
        ({"holds": 0.05}, "no grade: too few documents (effective number 3.0)"),
        ({"margin_low": 0.05}, "no grade"),
        ({"margin_low": math.nan}, "no grade"),
        ({"grade": 1, "holds": 0.95}, "grade 1: beyond position and controls"),
        ({"grade": 1, "holds": 0.9}, "controls, borderline (significant in 90.0 % of redraws of the controls)"),
        ({"p_adjusted": math.nan}, "–"),
    ],
)
def test_a_sure_lead_without_a_grade_says_why(more: dict[str, Any], said: str) -> None:
    assert RunThresholds().grade(row(**more)).endswith(said)


def test_a_run_has_controls_as_its_config_its_stages_or_its_scores_say(run_folder: Any) -> None:
    run = Run.open(run_folder)
    assert run_thresholds(run).controlled
    bare = (run_folder / "config.toml").read_text(encoding="utf-8").partition("[controls]")[0]
    (run_folder / "config.toml").write_text(bare, encoding="utf-8")
    assert run_thresholds(Run.open(run_folder)).controlled, "scores name controls"
