"""Design by the errors of a run."""

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import scipy.stats

from experiments.run.design import DesignError, design
from probes.evidence.leads import LeadTest
from reports import Run
from reports.scores.thresholds import RunThresholds
from reports.tables.grades import counted


def rows_of(run: Run) -> pd.DataFrame:
    return run.scores[(run.scores.split == "report") & run.scores.p_adjusted.notna()]


def test_what_a_label_takes_follows_from_the_interval_of_its_selected_head(whole: Path) -> None:
    """The level is by hand: alpha over heads, times found labels over labels and the sum of 1 / i."""
    rows, found = rows_of(Run.open(whole)), design(whole, (), 0.3, 0.9)
    labels = rows.groupby(["probe", "variant", "label"])
    steps = labels.ngroups * sum(1 / i for i in range(1, labels.ngroups + 1))
    level = 0.05 / labels.size().iloc[0] * max((labels.grade.max() >= 1).sum(), 1) / steps
    assert found.level == pytest.approx(level)
    assert found.thresholds == RunThresholds(0.05, 0.05)
    for one in found.demands:
        (row,) = rows.query(
            "selected and probe == @one.probe and variant == @one.variant and label == @one.label"
        ).to_dict("records")
        assert one.documents == row["effective_clusters"]
        half = (row["margin_high"] - row["margin_low"]) / 2
        assert one.error == pytest.approx(half / scipy.stats.t.ppf(0.975, one.documents - 1))
        test = LeadTest(0.3, 0.05, level, 0.05, one.error * math.sqrt(one.documents))
        assert (one.needed, one.power) == (test.documents(0.9), pytest.approx(test.power(one.documents)))


def test_labels_that_are_counted_are_told_those_that_need_least_first(whole: Path) -> None:
    found = design(whole, ("dependency",), 0.3, 0.8).demands
    rows = rows_of(Run.open(whole)).query("probe == 'dependency' and selected")
    assert {(one.variant, one.label) for one in found} == {
        (row.variant, row.label) for row in rows[rows.label.isin(counted("dependency", rows.label))].itertuples()
    }
    assert {one.probe for one in found} == {"dependency"}
    needed = [one.needed or math.inf for one in found]
    assert needed == sorted(needed)


def test_leads_within_the_margin_and_labels_that_no_run_tested_are_refused(whole: Path) -> None:
    with pytest.raises(DesignError, match=r"--lead 0.05: the run tests leads above 0.05"):
        design(whole, (), 0.05, 0.8)
    with pytest.raises(DesignError, match=r"no label of nothing was tested for grade 1, beyond position and controls"):
        design(whole, ("nothing",), 0.3, 0.8)


def test_the_command_says_what_each_label_takes(headscope: Callable[..., Any], whole: Path, tmp_path: Path) -> None:
    said = headscope("design", whole, "--lead", 0.3, "--power", 0.9, "--grade", 2, "--probe", "dependency")
    assert (said.code, said.err) == (0, "")
    assert "lead of 30 points has grade 2, beyond words, in 90 % of corpora" in " ".join(said.out.split())
    first = design(whole, ("dependency",), 0.3, 0.9, 2).demands[0]
    (line, *_) = (line for line in said.out.splitlines() if line.strip().startswith("dependency"))
    assert line.split()[-1].replace(",", "") == str(first.needed)
    missing = headscope("design", shutil.copytree(whole, tmp_path / "run"), "--lead", 0.01)
    assert missing.code == 2
    assert missing.err.startswith("headscope: --lead 0.01: ")
    assert headscope("design", tmp_path / "nothing").code == 2
