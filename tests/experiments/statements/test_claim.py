import json
import math

import pytest

from experiments.statements.claim import claim_measure, rounds_of, rows_of
from experiments.statements.estimates import Estimate, mean_of
from experiments.statements.rule import Rule
from reports.statements.claim_record import ClaimRecord, Row
from reports.statements.statement import judged


def test_cells_are_means_over_repeats_by_condition_and_place() -> None:
    rows = (*rows_of({0: 1.0, 7: 3.0}, "a", 16), *rows_of({0: 5.0}, "a", 32), *rounds_of([2.0, 2.0], "b", 16))
    first, second, third = claim_measure("m", "s", rows, axis="length").recorded()["cells"]
    assert (first["condition"], first["at"], first["value"], first["n"]) == ("a", 16, 2.0, 2)
    assert first["low"] < 2 < first["high"]
    assert (second["value"], second["low"], second["high"]) == (5.0, None, None)
    assert (third["condition"], third["low"], third["high"]) == ("b", 2.0, 2.0)


def test_times_are_averaged_as_logarithms_where_the_measure_says_so() -> None:
    rows = tuple(rounds_of([1.0, 4.0], "a"))
    values = [claim_measure("m", "s", rows, geometric=geometric).cells[0].number.value for geometric in (False, True)]
    assert values == [2.5, 2.0]


def test_the_interval_of_a_share_does_not_leave_0_to_100_percent() -> None:
    """Of 0.5, 1 and 1 Student's interval is 0.83 +- 0.72; points may be anything, also between 0 and 1."""
    rows = tuple(rows_of({0: 0.5, 1: 1.0, 2: 1.0}, "a"))
    (share,) = claim_measure("accuracy", "%", rows).cells
    (points,) = claim_measure("gain", "points", rows).cells
    assert share.number.high == 1
    assert share.number.low == points.number.low == pytest.approx(0.116, abs=1e-3)
    assert points.number.high == pytest.approx(1.55, abs=1e-2)


@pytest.mark.parametrize(("unit", "low"), [("%", 0.0), ("points", -0.5), ("times", -0.5)])
def test_the_interval_of_a_statement_about_shares_ends_where_shares_do(unit: str, low: float) -> None:
    told = judged("it is so", "a number", Estimate(0.4, -0.5, 1.3, 3), Rule(above=0.1, unit=unit)).recorded()
    assert (told["low"], told["high"]) == (low, 1.3 if unit == "times" else 1.0)


def test_a_record_is_json_without_nan() -> None:
    statement = judged("it is so", "a number", mean_of([0.5]), Rule(above=0.1, unit="%"))
    measure = claim_measure("m", "%", (Row("a", None, 0, math.nan),))
    found = json.loads(json.dumps(ClaimRecord([measure], [statement], ["seen"]).recorded(), allow_nan=False))
    (told,) = found["statements"]
    assert (told["value"], told["low"], told["n"], told["verdict"]) == (0.5, None, 1, "not decided")
    assert told["rule"].startswith("Holds if")
    assert found["noticed"] == ["seen"]
    assert found["measures"][0]["rows"] == [{"condition": "a", "at": None, "repeat": 0, "value": None}]
