"""The published record of findings, judged by the rules of today."""

from itertools import combinations

import pytest

from experiments.reproduce.judge import with_verdicts
from experiments.reproduce.record import read_record, today
from experiments.reproduce.registry import all_findings, papers, published_verdicts
from experiments.statements.rule import CONTROLS, LearnedRule
from reports.statements.finding_record import PUBLISHED


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
    return {tuple(one.values()) for one in told if one["low"] is not None and one["low"] < one["high"]}


def test_the_verdicts_are_those_of_the_rules_of_today(record):
    again = with_verdicts(today(record))
    assert rounded(again) == rounded(record), (
        "headscope reproduce --rejudge --out reports/published/findings judges it anew"
    )


def test_no_two_counted_findings_rest_on_one_number(record):
    by_model = {}
    for result in record["results"]:
        if all_findings()[result["finding"]].counted:
            by_model.setdefault(result["model"], []).append(result)
    pairs = (pair for of_model in by_model.values() for pair in combinations(of_model, 2))
    assert not [(one["finding"], other["finding"]) for one, other in pairs if numbers(one) & numbers(other)]


def test_a_repeated_finding_names_one_of_its_group_that_counts_and_facts_are_not_learned():
    for finding in all_findings().values():
        first = all_findings()[finding.repeats or finding.id]
        assert first.group == finding.group
        assert first.counted or not finding.repeats
        assert not finding.fact or not any(isinstance(one.rule, LearnedRule) for one in finding.statements)


def test_papers_come_by_year_each_once_with_findings_that_have_its_name_and_a_published_verdict():
    years = [told.paper.key.rpartition("-")[2] for told in papers()]
    assert years == sorted(years)
    assert len({told.paper.key for told in papers()}) == len(papers()) >= 15
    told = published_verdicts()
    for paper in papers():
        for finding in paper.findings:
            assert finding.id.startswith(paper.paper.key.partition("-")[0]), finding.id
            assert finding.missing or {*CONTROLS} <= {*told[finding.id]}, finding.id


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
