import math

import pytest

from reports.tables.grades import counted, excluded_leads


@pytest.mark.parametrize(
    ("excluded", "said"),
    [
        (0.073, "a lead of 7.3 points or more is excluded"),
        (0.0731, "a lead of 7.4 points or more is excluded"),
        (0.2, "a lead of 20 points or more is excluded"),
        (-0.031, "every lead is excluded"),
        (1.0, "no lead is excluded"),
        (math.nan, ""),
    ],
)
def test_excluded_leads_are_rounded_up_so_that_no_more_is_claimed_than_shown(excluded: float, said: str) -> None:
    assert excluded_leads(excluded) == said


@pytest.mark.parametrize(
    ("probe", "labels", "kept"),
    [
        ("dependency", ["all", "nsubj", "nsubj:*", "nsubj:pass", "overall"], ["nsubj", "nsubj:pass", "overall"]),
        ("agreement", ["all", "attractors=0", "attractors>=2", "subject=noun", "attractor=Sing"], ["all"]),
        ("coreference", ["pronoun", "pronoun, 3rd person", "words=1-5", "mentions>=6", "all"], ["pronoun"]),
        ("position", ["previous", "offset=-2", "within=4", "first half"], ["previous", "offset=-2"]),
        ("antecedent", ["all", "feminine", "they, occupation is meant", "nearer is right", "simple"], ["all"]),
        ("distractors", ["all", "verb", "1 distractor", ">=3 distractors", "agr.4"], ["verb"]),
        ("same-atom", ["all", "amide", "token once", "neighbours kept", "token once, neighbours kept"], ["all"]),
        ("coordination", ["all", "noun", "later"], ["noun"]),
        ("position", ["within=4"], ["within=4"]),
    ],
)
def test_a_question_whose_words_another_one_has_is_not_counted(probe: str, labels: list[str], kept: list[str]) -> None:
    assert counted(probe, labels) == {*kept}
