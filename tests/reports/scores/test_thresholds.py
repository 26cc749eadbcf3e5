"""A grade in words, and why a lead that looks sure has none."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from probes.evidence.leads import Documents, holm, p_of_leads, p_unseen, two_sided
from reports.notebook.run import Run
from reports.run.record import RunRecord
from reports.scores.best_heads import best_head
from reports.scores.effects import too_few
from reports.scores.shortest_table import answers
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


@pytest.mark.parametrize(
    ("baseline", "documents", "reason"),
    [
        # the strongest baseline leaves a lead of 20 points: (1 - 0.15 / 1.2) ** 22 = 0.053, ** 23 = 0.046
        (0.8, 22, "no head can be significant with 22 documents, at least 23 are needed"),
        (0.8, 23, ""),
        (0.96, 10_000, "no head can be significant beside a baseline or control of 96.0 %"),
        # 72 heads: 72 / 2 ** 10 = 0.07, 72 / 2 ** 11 = 0.035
        (0.0, 10, "no head can be significant with 10 documents, at least 11 are needed"),
        (0.0, 11, ""),
    ],
)
def test_where_no_head_can_be_significant_documents_are_counted_that_would_do(
    baseline: float, documents: int, reason: str
) -> None:
    one = best_head({"probe": "dependency", "label": "obj", "p_adjusted": 1.0, "baseline_accuracy": baseline})
    one.clusters = one.effective_clusters = documents
    assert RunThresholds(correction=72).out_of_reach(one) == reason
    each = Documents.of(np.ones(documents))
    always = np.ones((documents, 72)), (np.arange(documents)[:, None] < baseline * documents).astype(float)
    p = holm(p_of_leads(each, *always, margin=0.05)), p_unseen(np.ones(72) - baseline, documents, 0.05)
    assert np.maximum(*p).min() >= 0.05 or not reason, "a head with an accuracy of 100 % is not significant"
    for one.verdict in ("undecided", "no"):
        told = str(answers("", [one], RunThresholds(correction=72), RunRecord()).rows[0][-1])
        assert told.endswith(f"; {reason}") == bool(reason and one.verdict == "undecided")


def test_documents_of_unequal_size_count_as_the_fewer_that_they_are_worth() -> None:
    one = best_head({"probe": "dependency", "label": "obj", "p_adjusted": 1.0, "baseline_accuracy": 0.8})
    one.clusters, one.effective_clusters = 30, 20.0
    told = "no head can be significant with 30 documents (effective number 20.0), at least 23 of equal size are needed"
    assert RunThresholds(correction=72).out_of_reach(one) == told


@pytest.mark.parametrize(("rows", "enough"), [(11, False), (12, True)])
def test_so_few_rows_show_no_cost_of_any_of_72_heads_by_the_test_itself(rows: int, enough: bool) -> None:
    assert (two_sided(np.ones(rows), np.ones((rows, 72)))[1].min() < 0.05) == enough
    costs = pd.DataFrame({"unit": ["logits"] * 72, "measure": "logit difference", "clusters": rows})
    needed = " With 11 clusters no head can be significant: at least 12 are needed."
    assert too_few(costs) == ("" if enough else needed)
