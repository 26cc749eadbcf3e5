"""The published record of findings, judged by the rules of today."""

from itertools import combinations

import pytest

from experiments.reproduce.record import read_record, today
from experiments.reproduce.registry import all_findings
from experiments.reproduce.summary import published_verdicts
from experiments.reproduce.verdicts import with_verdicts
from experiments.statements.rule import CONTROLS, SEEDS, LearnedRule
from reports.findings.record import PUBLISHED


@pytest.fixture(scope="module")
def record():
    return read_record(PUBLISHED)


def rounded(told):
    """Return JSON with its numbers to six digits: libraries of another version may round the last ones otherwise."""
    if isinstance(told, dict):
        return {name: rounded(value) for name, value in told.items()}
    if isinstance(told, (list, tuple)):
        return [rounded(value) for value in told]
    return float(f"{told:.6g}") if isinstance(told, float) else told


def numbers(result):
    """Return the numbers with a width that decide on a finding; counts may agree by chance."""
    told = [one["decides"] for one in result["statements"] if "decides" in one]
    return [tuple(one.values()) for one in told if one["low"] is not None and one["low"] < one["high"]]


def test_the_verdicts_are_those_of_the_rules_of_today(record):
    again = with_verdicts(today(record))
    assert rounded(again) == rounded(record), (
        "headscope reproduce --rejudge --out reports/published/findings judges it anew"
    )


def test_no_two_counted_findings_rest_on_one_number(record):
    findings = all_findings()
    by_model = {}
    for result in record["results"]:
        if findings[result["finding"]].counted:
            by_model.setdefault(result["model"], {})[result["finding"]] = set(numbers(result))
    shared = [
        (model, one, other)
        for model, told in by_model.items()
        for one, other in combinations(told, 2)
        if told[one] & told[other]
    ]
    assert not shared


def test_no_counted_finding_is_reproduced_by_untrained_weights(record):
    untrained = {one["model"] for one in record["models"] if one["control"]}
    assert untrained
    passed = [
        (result["model"], result["finding"])
        for result in record["results"]
        if result["model"] in untrained and all_findings()[result["finding"]].counted
        for verdict in (result["verdict"], *result.get("by_seed", ()))
        if verdict in ("reproduced", "weaker version holds")
    ]
    assert not passed


def absent(record, result, name, kind):
    """Return whether untrained weights of a kind were read for a statement and had nothing that has the number."""
    untrained = {one["model"] for one in record["models"] if one["of"] == result["model"] and one["source"] == kind}
    (read,) = (one for one in record["results"] if one["model"] in untrained and one["finding"] == result["finding"])
    return any(one["name"] == name and one.get("absent", False) for one in read["statements"])


def test_what_training_puts_in_holds_beside_three_seeds_of_both_kinds_of_untrained_weights_alone(record):
    trained = {one["model"] for one in record["models"] if not one["control"]}
    learned = {
        (finding.id, one.name)
        for finding in all_findings().values()
        for one in finding.statements
        if isinstance(one.rule, LearnedRule)
    }
    for result in record["results"]:
        for one in result["statements"] if result["model"] in trained else ():
            if (result["finding"], one["name"]) in learned and one["verdict"] in ("holds", "weaker version holds"):
                seeds = {kind: number["seeds"] for kind, number in one["minus"].items()}
                assert seeds == {kind: SEEDS for kind in CONTROLS if not absent(record, result, one["name"], kind)}


@pytest.mark.parametrize("finding", all_findings().values(), ids=lambda finding: finding.id)
def test_a_repeated_finding_names_one_of_its_group_that_counts(finding):
    if finding.repeats:
        first = all_findings()[finding.repeats]
        assert first.counted
        assert first.group == finding.group
    if finding.fact:
        assert not any(isinstance(one.rule, LearnedRule) for one in finding.statements)


def test_random_and_permuted_weights_are_among_the_verdicts_of_every_finding_that_can_be_tested():
    told = published_verdicts()
    for name, finding in all_findings().items():
        assert not set(CONTROLS) - set(told[name]) or finding.missing, name
        assert all(one["verdict"] for one in told[name].values())
