from typing import Any

import pytest

from experiments.sandbox.needed import needed_items


def curve(role: str, *points: tuple[float, float], margin: float = 0.2, grade: int = 1) -> list[dict[str, Any]]:
    """Rows of a power curve, (items, share of runs) each; ten items a document."""
    common = {"role": role, "grade": grade, "margin": margin}
    return [{**common, "items": n, "documents": n / 10, "graded": {"rate": rate}} for n, rate in points]


SUBJECT = curve("subject", (100, 0.6), (500, 1.0))
"0.8 is half of the way from 0.6 to 1, and 223.6 (the root of 100 * 500) half of the way from 100 to 500."

SPARSE = [row | {"documents": row["items"]} for row in curve("object", (100, 0.6), (200, 1.0))]


@pytest.mark.parametrize(
    ("rows", "items", "documents", "role", "at_most"),
    [
        (SUBJECT, 224, 23, "subject", False),
        (curve("subject", (1600, 0.7), (500, 1.0), (100, 0.6)), 224, 23, "subject", False),  # the first crossing
        (curve("subject", (100, 0.7), (400, 1.0)), 159, 16, "subject", False),  # 100 * 4 ** (1 / 3) = 158.7
        (curve("subject", (100, 0.5), (300, 0.8)), 300, 30, "subject", False),
        (SUBJECT + curve("object", (200, 0.6), (1000, 1.0)), 448, 45, "object", False),  # the neediest role
        (SUBJECT + SPARSE, 142, 142, "object", False),  # that which needs most documents
        (SUBJECT + curve("object", (100, 0.1), (400, 0.79)), None, None, "object", False),  # never gets there
        (SUBJECT + curve("other", (5000, 1.0), (9000, 1.0)), 224, 23, "subject", False),  # `other` says nothing
        (curve("a", (5000, 1.0)) + curve("object", (46.2, 0.9), (400, 1.0)), 47, 5, "object", True),
        (SUBJECT + curve("subject", (1000, 0.6), (5000, 1.0), grade=2), 224, 23, "subject", False),
    ],
)
def test_items_are_read_off_along_their_logarithm_for_the_role_that_needs_most(
    rows: list[dict[str, Any]], items: int | None, documents: int | None, role: str, at_most: bool
) -> None:
    found = needed_items(rows)[0]
    about = {"items": items, "documents": documents, "role": role, "at_most": at_most}
    assert found == {"margin": 0.2, "power": 0.8} | about


def test_every_margin_has_results_at_both_powers() -> None:
    rows = needed_items(SUBJECT + curve("subject", (100, 0.0), (400, 0.1), margin=0.05))
    told = {(row["margin"], row["power"]): row["items"] for row in rows}
    assert told == {(0.2, 0.8): 224, (0.2, 0.95): 409, (0.05, 0.8): None, (0.05, 0.95): None}  # 100 * 5 ** (7 / 8)
