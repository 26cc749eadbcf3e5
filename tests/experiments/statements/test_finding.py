"""Which findings are counted, and why others are not."""

from typing import Any

import pytest

from experiments.statements.finding import Finding


def a_finding(**changes: Any) -> Finding:
    return Finding("some", "A claim.", "table 1", "BERT", "some text", "a number", missing="a model", **changes)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        ({"fact": "it is arithmetic"}, "it is arithmetic"),
        ({"group": "one", "repeats": "other"}, "it rests on the number of other"),
        ({"group": "one"}, ""),
        ({"unclaimed": "nobody says so"}, "nobody says so"),
        ({"untrained": "random weights"}, "untrained weights pass it: random weights"),
        ({"revised": "the bar"}, "its rule was changed after its numbers had been seen: the bar"),
        (
            {"fact": "it is so", "revised": "the bar"},
            "it is so; its rule was changed after its numbers had been seen: the bar",
        ),
    ],
)
def test_a_finding_is_counted_unless_something_speaks_against_it(changes: dict[str, str], why: str) -> None:
    found = a_finding(**changes)
    assert found.uncounted == why
    assert found.counted == (not why)
