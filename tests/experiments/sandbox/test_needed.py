import math
from typing import Any

import pytest

from experiments.sandbox.needed import needed_items


def curve(role: str, *points: tuple[float, float], margin: float = 0.2) -> list[dict[str, Any]]:
    """Rows of a power curve, (items, share of runs) each; ten items a document."""
    common = {"role": role, "grade": 1, "margin": margin}
    return [{**common, "items": n, "documents": n / 10, "graded": {"rate": rate}} for n, rate in points]


def needed(rows: list[dict[str, Any]], power: float = 0.8) -> dict[str, Any]:
    (found,) = [row for row in needed_items(rows) if row["power"] == power]
    return found


def test_a_crossing_is_read_off_along_the_logarithm_of_the_items():
    # 0.8 is half of the way from 0.6 to 1, and 223.6 (the root of 100 * 500) half of the way from 100 to 500
    found = needed(curve("subject", (100, 0.6), (500, 1.0)))
    assert found == {"margin": 0.2, "power": 0.8, "items": 224, "documents": 23, "role": "subject", "at_most": False}


def test_items_are_rounded_up():
    # 0.8 is a third of the way from 0.7 to 1: 100 * 4 ** (1 / 3) = 158.7
    assert needed(curve("subject", (100, 0.7), (400, 1.0)))["items"] == math.ceil(100 * 4 ** (1 / 3)) == 159


def test_the_order_of_the_rows_does_not_matter_and_the_first_crossing_counts():
    rows = curve("subject", (1600, 0.7), (500, 1.0), (100, 0.6))
    assert needed(rows)["items"] == 224


def test_a_size_that_has_the_power_exactly_is_the_answer():
    assert needed(curve("subject", (100, 0.5), (300, 0.8)))["items"] == 300


def test_of_several_roles_the_one_that_needs_most_is_told():
    rows = curve("subject", (100, 0.6), (500, 1.0)) + curve("object", (200, 0.6), (1000, 1.0))
    assert (needed(rows)["items"], needed(rows)["role"]) == (448, "object")


def test_a_role_that_never_gets_there_makes_it_unknown():
    rows = curve("subject", (100, 0.6), (500, 1.0)) + curve("object", (100, 0.1), (400, 0.79))
    assert needed(rows) == {
        "margin": 0.2,
        "power": 0.8,
        "items": None,
        "documents": None,
        "role": "object",
        "at_most": False,
    }


def test_a_role_with_enough_power_at_its_smallest_size_says_nothing_beside_one_that_crosses():
    rows = curve("previous", (5000, 1.0), (9000, 1.0)) + curve("object", (100, 0.6), (500, 1.0))
    assert needed(rows) == {
        "margin": 0.2,
        "power": 0.8,
        "items": 224,
        "documents": 23,
        "role": "object",
        "at_most": False,
    }


def test_at_most_the_least_of_the_smallest_sizes_is_needed_where_all_roles_have_the_power_there():
    rows = curve("previous", (5000, 1.0), (9000, 1.0)) + curve("object", (46.2, 0.9), (400, 1.0))
    assert needed(rows) == {"margin": 0.2, "power": 0.8, "items": 47, "documents": 5, "role": "object", "at_most": True}


@pytest.mark.parametrize(("power", "items"), [(0.8, 224), (0.95, 409)])
def test_every_margin_is_told_at_both_powers(power: float, items: int):
    # 0.95 is 7/8 of the way: 100 * 5 ** (7 / 8) = 408.9
    rows = curve("subject", (100, 0.6), (500, 1.0)) + curve("subject", (100, 0.0), (400, 0.1), margin=0.05)
    told = {(row["margin"], row["power"]): row["items"] for row in needed_items(rows)}
    assert told[0.2, power] == items
    assert told[0.05, power] is None


def test_no_curves_need_nothing():
    assert needed_items([]) == []


def test_the_role_that_needs_most_documents_is_told_though_another_has_more_items_in_fewer() -> None:
    sparse = [row | {"documents": row["items"]} for row in curve("object", (100, 0.6), (200, 1.0))]
    found = needed(curve("subject", (100, 0.6), (500, 1.0)) + sparse)
    assert (found["role"], found["items"], found["documents"]) == ("object", 142, 142)


def test_curves_of_higher_grades_do_not_count() -> None:
    higher = [row | {"grade": 2} for row in curve("subject", (1000, 0.6), (5000, 1.0))]
    assert needed(curve("subject", (100, 0.6), (500, 1.0)) + higher)["items"] == 224
