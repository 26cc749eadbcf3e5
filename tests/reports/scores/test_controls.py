"""Baselines and controls of a run: which there were, what they are, and what they cost."""

from typing import Any

import pandas as pd

from probes.scoring import baselines, expert_rules
from reports.run.record import RunRecord
from reports.scores.controls import BASELINES, RULES, run_baselines


def frame(*rows: tuple[str, str], **more: Any) -> pd.DataFrame:
    """Two heads for each (label, baseline)."""
    about = {"probe": "dependency", "variant": "v", "split": "report", "rule": ""} | more
    return pd.DataFrame([about | {"label": label, "baseline": name} for label, name in rows for _ in range(2)])


def test_controls_come_before_baselines_and_rules_with_what_they_cost():
    scores = frame(("a", "offset"), ("b", "random weights"), ("c", "offset"), ("d", "oracle"), rule="first verb")
    seconds = {"random weights": 4.0, "shuffled word order": 4.0}
    record = RunRecord(stages={"score": 9.0} | {f"control: {name}": took for name, took in seconds.items()})
    found = run_baselines(scores, record, {"controls": {"random": 2, "permuted": 4, "orders": 0}})
    assert [(one.name, one.strongest, one.is_control, one.seconds, one.switch) for one in found] == [
        ("random weights", 1, True, 4.0, "--set controls.random=0"),
        ("permuted weights", 0, True, None, "--set controls.permuted=0"),
        ("shuffled word order", 0, True, 4.0, "--set controls.orders=0"),
        ("offset", 2, False, None, ""),
        ("first verb", 4, False, None, ""),
        ("oracle", 1, False, None, ""),
    ]
    assert [bool(one.what) for one in found] == [True] * 5 + [False], "one that is not known is told by name"


def test_every_baseline_and_rule_of_grammar_is_described_under_its_name():
    assert BASELINES.keys() == baselines.BASELINES.keys()
    assert RULES.keys() == expert_rules.RULES.keys()


def test_a_control_that_a_row_names_ran_and_control_tasks_of_classifiers_are_none():
    (found,) = run_baselines(frame(("a", "permuted weights"), split="select"), RunRecord(), {})
    assert (found.name, found.is_control, found.strongest) == ("permuted weights", True, 0)
    assert run_baselines(frame(("a", "control task"), probe="classifier"), RunRecord(), {}) == ()
