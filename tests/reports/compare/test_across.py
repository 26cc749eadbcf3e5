"""Heads across corpora, pooled: counted by hand."""

from typing import Any

import pandas as pd
import pytest

from reports.compare.across import kept_grades, kept_labels, label_table, pair_table, role_cases, sentences
from reports.compare.atlas_record import ACROSS


def row(pair: str, label: str, name: str, grades: tuple[int, int, int], **more: Any) -> dict[str, Any]:
    """Return a row; `grades` are at home, on the other corpus, and that of its own head."""
    home, away = pair.split(">")
    found: dict[str, Any] = {
        "model": "m",
        "seed": 0,
        "probe": "dependency",
        "label": label,
        "variant": "dependent->head",
    }
    found |= {"selected_on": home, "evaluated_on": away, "name": name, "n": 90, "effective_clusters": 30.0}
    found |= {"accuracy": 0.6, "strongest": "previous word", "strongest_accuracy": 0.3}
    found |= {"home_grade": grades[0], "grade": grades[1], "own_grade": grades[2], "own_name": "9-9"}
    found |= {"own_accuracy": 0.7, "difference": -0.1, "difference_low": -0.2, "difference_high": 0.0}
    return found | {"graded_heads": 2, "others": 10, "others_graded": 1} | more


NAN = float("nan")
ROWS = ACROSS.validated(
    pd.DataFrame(
        [
            row("en>de", "nsubj", "1-1", (2, 1, 1)),
            row("en>fi", "nsubj", "1-1", (2, 0, 1), accuracy=0.5, others_graded=4, difference_high=-0.01),
            row("de>en", "nsubj", "1-1", (1, 2, 2)),
            row("de>fi", "nsubj", "1-1", (1, 0, 1)),
            row("fi>en", "nsubj", "3-3", (0, 1, 2)),
            row("fi>de", "nsubj", "3-3", (0, 1, 1)),
            row("en>de", "obj", "4-4", (1, 0, 0), graded_heads=0, others=0, others_graded=0, strongest_accuracy=NAN),
            row("en>de", "iobj", "4-4", (0, 0, 0)),
            row("en>de", "all", "4-4", (1, 1, 1)),
            row("en>de", "nsubj", "1-1", (2, 1, 1), seed=1),
            row("en>de", "all", "5-5", (1, 1, 1), probe="agreement"),
            row("en>de", "all", "5-5", (1, 1, 1), probe="negation"),
            row("en>de", "verb", "5-5", (0, 1, 1), probe="negation"),
            row("en>de", "nsubj:*", "1-1", (2, 2, 2)),
            row("en>de", "previous", "1-2", (1, 1, 1), probe="position"),
        ]
    ),
    "rows",
)


CASES = role_cases(ROWS)


def test_only_heads_with_a_grade_at_home_in_roles_of_language_count_each_label_once() -> None:
    """`all` of negation is a pool beside `verb`, whether that has a grade or not; agreement has nothing else."""
    assert [*zip(CASES["selected_on"], CASES["evaluated_on"], CASES["label"], strict=True)] == [
        ("en", "de", "nsubj"), ("en", "fi", "nsubj"), ("de", "en", "nsubj"), ("de", "fi", "nsubj"), ("en", "de", "obj"),
        ("en", "de", "all"),
    ]  # fmt: skip
    assert set(CASES["seed"]) == {0}
    shares = pytest.approx((4 * 0.1 + 0.4) / 5)
    assert kept_grades(CASES) == {
        "cases": 6, "kept": 3, "selected": 5, "possible": 5, "others": shares, "below": 1,
    }  # fmt: skip


def test_a_label_has_its_most_frequent_head_and_means_over_its_cases() -> None:
    first, second, third = kept_labels(CASES)
    assert (first["label"], first["kept"], first["cases"]) == ("all", 1, 1)
    assert (second["label"], second["head"], second["selected_on"], second["corpora"]) == ("nsubj", "1-1", 2, 2)
    assert (second["cases"], second["kept"], second["selected"]) == (4, 2, 4)
    assert second["accuracy"] == pytest.approx((3 * 0.6 + 0.5) / 4)
    assert (third["label"], third["kept"], third["possible"]) == ("obj", 0, 0)
    assert label_table("m", [second, third]).texts == (
        (
            "attends from a subject to its verb dependency: nsubj, dependent->head",
            *("1-1 selected on 2 of 2", "2 of 4", "4 of 4", "4 of 4", "57.5", "−10.0 below in 1 of 4", "30.0"),
        ),
        (
            "attends from an object to its verb dependency: obj, dependent->head",
            *("4-4 selected on 1 of 1", "0 of 1", "0 of 1", "0 of 1", "60.0", "−10.0 below in 0 of 1", "–"),
        ),
    )


def test_pairs_of_corpora_are_ordered_and_none_is_left_out() -> None:
    table = pair_table(ROWS, CASES, "m")
    assert table.titles == ("selected on", "en", "de", "fi")
    assert table.texts == (
        ("en", "–", "2 of 3 selected here: 2", "0 of 1 selected here: 1"),
        ("de", "1 of 1 selected here: 1", "–", "0 of 1 selected here: 1"),
        ("fi", "–", "–", "–"),
    )


def test_each_model_has_a_sentence_with_what_else_has_a_grade() -> None:
    without = ROWS.iloc[:2].assign(model="bare", home_grade=0)
    rows = pd.concat([ROWS, without], ignore_index=True)
    assert [*sentences(rows)] == [
        "m: heads selected with a grade on one corpus have a grade on another in 50.0 % of 6 cases (label, direction "
        "and ordered pair of corpora). Heads selected there do in 83.3 %, some head does in 83.3 %, and the other "
        "specialised heads of the first corpus do in 16.0 % on average.",
        "bare: no selected head has a grade in a linguistic role, so none can be kept across corpora.",
    ]
