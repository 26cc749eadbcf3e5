import math

import pytest

from reports.tables.grades import excluded_leads, grade_name, is_pooled


@pytest.mark.parametrize(
    ("excluded", "said"),
    [
        (0.073, "a lead of 7.3 points or more is excluded"),
        (0.0731, "a lead of 7.4 points or more is excluded"),
        (0.2, "a lead of 20 points or more is excluded"),
        (-0.031, "any lead is excluded"),
        (math.nan, ""),
    ],
)
def test_excluded_leads_are_rounded_up_so_that_no_more_is_claimed_than_shown(excluded: float, said: str) -> None:
    assert excluded_leads(excluded) == said


def test_grades_have_names_and_pooled_labels_are_known() -> None:
    assert [grade_name(grade) for grade in (0, 1, 3)] == [
        *("no grade", "grade 1: beyond position and controls", "grade 3: beyond grammar rules")
    ]
    assert [label for label in ("all", "nsubj:*", "nsubj:pass", "overall") if is_pooled(label)] == ["all", "nsubj:*"]
