from collections.abc import Callable

import pytest

from experiments.claims import recurrence
from experiments.claims.claim import Work

TINY = {"claim": "recurrence", "model": 8, "heads": 2, "lengths": (4, 8, 16), "tokens": 16, "rounds": 3}


@pytest.mark.parametrize(("slower", "verdict"), [(3.0, "holds"), (0.4, "does not hold")])
def test_the_verdict_follows_the_times_of_lengths_below_the_width(
    slower: float, verdict: str, work: Work, set_times: Callable[..., None]
) -> None:
    set_times(recurrence, lambda name, number: (slower if name == recurrence.LSTM else 1.0) * (1 + 0.02 * number))
    found = recurrence.measure(recurrence.RecurrenceSection(**TINY), work)
    (statement,) = found.statements  # 8 and 16 are no shorter than the width
    assert (statement.verdict, statement.estimate.value) == (verdict, pytest.approx(slower))
    assert "width 8" in statement.text
    assert statement.text.endswith("sequences of 4")
    assert [cell["at"] for cell in found.measures[1].cells()] == [4, 8, 16]
