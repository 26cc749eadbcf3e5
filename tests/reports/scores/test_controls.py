from typing import Any

import pandas as pd

from probes.scoring import baselines, expert_rules
from reports.run.record import RunRecord
from reports.scores.controls import BASELINES, RULES, ComparedBaseline, run_baselines

ROW = {"probe": "dependency", "variant": "v", "split": "report"}


def frame(*rows: tuple[str, str], **more: Any) -> pd.DataFrame:
    """Two heads for each (label, baseline)."""
    return pd.DataFrame(
        [ROW | {"label": label, "baseline": name, "rule": ""} | more for label, name in rows for _ in range(2)]
    )


def test_controls_come_before_baselines_with_what_they_cost():
    scores = frame(("a", "offset"), ("b", "random weights"), ("c", "offset"), ("d", "uniform"))
    record = RunRecord(stages={"score": 9.0, "control: random weights": 2.5, "control: shuffled word order": 4.0})
    found = run_baselines(scores, record, {"controls": {"random": 1, "permuted": 0, "arcs": True}})
    assert [(one.name, one.strongest, one.is_control, one.seconds, one.switch) for one in found] == [
        ("random weights", 1, True, 2.5, "--set controls.random=0"),
        ("shuffled word order", 0, True, 4.0, "--set controls.words=false"),
        ("control arcs", 0, True, None, "--set controls.arcs=false"),
        ("offset", 2, False, None, ""),
        ("uniform", 1, False, None, ""),
    ]
    assert all(one.what for one in found)


def test_rules_come_last_beside_the_baselines_of_the_same_pairs():
    found = run_baselines(frame(("a", "offset"), ("b", "uniform"), rule="nearest word of a tag set"), RunRecord(), {})
    assert [(one.name, one.strongest, one.is_control) for one in found] == [
        ("offset", 1, False),
        ("uniform", 1, False),
        ("nearest word of a tag set", 2, False),
    ]
    assert found[2].what.startswith("rule of grammar: the nearest word with one of at most five parts of speech")


def test_every_baseline_and_rule_of_grammar_is_described_under_its_name():
    assert BASELINES.keys() == baselines.BASELINES.keys()
    assert RULES.keys() == expert_rules.RULES.keys()


def test_a_control_that_a_row_names_ran_even_if_nothing_else_tells():
    (found,) = run_baselines(frame(("a", "permuted weights"), split="select"), RunRecord(), {})
    assert (found.name, found.is_control, found.strongest) == ("permuted weights", True, 0)
    assert found.switch == "--set controls.permuted=0"


def test_repetitions_of_a_control_are_told_together():
    scores = frame(("a", "random weights 1"), ("b", "random weights 2"))
    record = RunRecord(stages={"control: random weights 1": 2.0, "control: random weights 2": 3.0})
    (found,) = run_baselines(scores, record, {})
    assert (found.name, found.strongest, found.seconds) == ("random weights", 2, 5.0)


def test_a_control_of_a_later_version_is_told_by_name():
    scores = frame(("a", "oracle"))
    assert run_baselines(scores, RunRecord(stages={"control: swapped layers": 1.0}), {}) == (
        ComparedBaseline("swapped layers", "", 0, is_control=True, seconds=1.0),
        ComparedBaseline("oracle", "", 1, is_control=False),
    )


def test_control_tasks_of_trained_classifiers_are_no_rivals():
    assert run_baselines(frame(("a", "control task"), probe="classifier"), RunRecord(), {}) == ()
    assert run_baselines(frame(("a", "")), RunRecord(), {}) == ()
