import pandas as pd

from reports.scores.verdicts import RunThresholds, find_all


def test_the_rule_is_told_with_the_thresholds_of_the_run():
    rule = RunThresholds.of({"verdict": {"alpha": 0.01, "margin": 0.125}})
    said = dict(rule.said(controlled=True))
    assert "adjusted p below 0.01" in said["Specialised"]
    assert "at least 12.5 percentage points above the strongest" in said["Specialised"]
    assert "than every baseline and control that makes sense" in said["Specialised"]
    assert "No controls" not in said


def test_the_rule_has_the_usual_thresholds_where_a_config_names_none():
    assert RunThresholds.of({}) == RunThresholds(0.05, 0.1)
    assert RunThresholds.of({"verdict": {"alpha": 0.1}}) == RunThresholds(0.1, 0.1)
    assert "at least 10 percentage points" in dict(RunThresholds().said(controlled=True))["Specialised"]


def test_a_run_without_controls_says_that_it_knows_less():
    said = dict(RunThresholds().said(controlled=False))
    assert "control" not in said["Specialised"]
    assert "specialised means above the baselines only" in said["No controls"]


def test_finds_are_counted_over_all_heads_of_the_report_split(scores: pd.DataFrame):
    finds = {one.probe: one for one in find_all(scores)}
    assert list(finds) == ["position", "dependency", "agreement", "coreference"]
    dependency = finds["dependency"]
    assert (dependency.pairs, dependency.labels, dependency.found_pairs, dependency.found_labels) == (42, 14, 4, 3)
    assert dependency.with_table == 4
    assert {"1-1", "1-2", "1-3", "1-4", "2-2"} < dependency.heads
    assert [head[1:] for head in dependency.beyond] == [("det", "dependent->head")]
    assert (finds["position"].pairs, finds["position"].found_pairs) == (5, 0)
    assert finds["coreference"].with_table == 0
