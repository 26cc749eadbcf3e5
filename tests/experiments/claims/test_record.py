import json
import math
from dataclasses import replace

import pytest

from experiments.claims.record import ClaimMeasure, ClaimResult, ClaimStatement, Row, rounds_of, rows_of
from experiments.statements.estimates import Estimate, mean_of
from experiments.statements.rule import Rule


def test_cells_are_means_over_repeats_by_condition_and_place() -> None:
    rows = (*rows_of({0: 1.0, 7: 3.0}, "a", 16), *rows_of({0: 5.0}, "a", 32), *rounds_of([2.0, 2.0], "b", 16))
    first, second, third = ClaimMeasure("m", "s", rows, axis="length").cells()
    assert (first["condition"], first["at"], first["value"], first["n"]) == ("a", 16, 2.0, 2)
    assert first["low"] < 2 < first["high"]
    assert (second["value"], second["low"], second["high"]) == (5.0, None, None)
    assert (third["condition"], third["low"], third["high"]) == ("b", 2.0, 2.0)


def test_times_are_averaged_as_logarithms_where_the_measure_says_so() -> None:
    rows = tuple(rounds_of([1.0, 4.0], "a"))
    values = [ClaimMeasure("m", "s", rows, geometric=geometric).cells()[0]["value"] for geometric in (False, True)]
    assert values == [2.5, 2.0]


def test_the_interval_of_a_share_does_not_leave_0_to_100_percent() -> None:
    """Of 0.5, 1 and 1 Student's interval is 0.83 +- 0.72; points may be anything, also between 0 and 1."""
    rows = tuple(rows_of({0: 0.5, 1: 1.0, 2: 1.0}, "a"))
    (share,) = ClaimMeasure("accuracy", "%", rows).cells()
    (points,) = ClaimMeasure("gain", "points", rows).cells()
    assert share["high"] == 1
    assert share["low"] == points["low"] == pytest.approx(0.116, abs=1e-3)
    assert points["high"] == pytest.approx(1.55, abs=1e-2)


@pytest.mark.parametrize(("unit", "low"), [("%", 0.0), ("points", -0.5), ("times", -0.5)])
def test_the_interval_of_a_statement_about_shares_ends_where_shares_do(unit: str, low: float) -> None:
    told = ClaimStatement("it is so", "a number", Estimate(0.4, -0.5, 1.3, 3), Rule(above=0.1, unit=unit)).recorded()
    assert (told["low"], told["high"]) == (low, 1.3 if unit == "times" else 1.0)


def test_what_is_not_counted_says_why() -> None:
    known = ClaimStatement(
        "it is so", "n", mean_of([1.0, 1.0]), Rule(above=0, unit=""), kind="identity", why="by algebra"
    )
    assert (known.recorded()["kind"], known.recorded()["why"]) == ("identity", "by algebra")
    for kind, why in (("identity", ""), ("claim", "by algebra")):
        with pytest.raises(ValueError, match="what is no claim says why"):
            replace(known, kind=kind, why=why)


def test_a_record_is_json_without_nan() -> None:
    statement = ClaimStatement("it is so", "a number", mean_of([0.5]), Rule(above=0.1, unit="%"))
    measure = ClaimMeasure("m", "%", (Row("a", None, 0, math.nan),))
    found = json.loads(json.dumps(ClaimResult([measure], [statement], ["seen"]).recorded(), allow_nan=False))
    (told,) = found["statements"]
    assert (told["value"], told["low"], told["n"], told["verdict"]) == (0.5, None, 1, "not decided")
    assert told["rule"].startswith("Holds if")
    assert found["noticed"] == ["seen"]
    assert found["measures"][0]["rows"] == [{"condition": "a", "at": None, "repeat": 0, "value": None}]
