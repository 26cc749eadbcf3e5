"""Heads across corpora, pooled: counted by hand."""

from typing import Any

import pandas as pd
import pytest

from reports.atlas.across import KeptHeads, by_pair, kept_labels, role_cases
from reports.atlas.across_tables import label_table, pair_table, sentence
from reports.atlas.tables import ACROSS


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
    return found | {"graded_heads": 2, "heads": 100} | more


ROWS = ACROSS.validated(
    pd.DataFrame(
        [
            row("en>de", "nsubj", "1-1", (2, 1, 1)),
            row("en>fi", "nsubj", "1-1", (2, 0, 1), accuracy=0.5, graded_heads=4),
            row("de>en", "nsubj", "1-1", (1, 2, 2)),
            row("de>fi", "nsubj", "1-1", (1, 0, 1)),
            row("fi>en", "nsubj", "3-3", (0, 1, 2)),
            row("fi>de", "nsubj", "3-3", (0, 1, 1)),
            row("en>de", "obj", "4-4", (1, 0, 0)),
            row("en>de", "all", "4-4", (1, 1, 1)),
            row("en>de", "nsubj:*", "1-1", (2, 2, 2)),
            row("en>de", "previous", "1-2", (1, 1, 1), probe="position"),
        ]
    ),
    "rows",
)


def test_only_heads_with_a_grade_at_home_in_roles_of_language_count_each_label_once() -> None:
    cases = role_cases(ROWS)
    assert [*zip(cases["selected_on"], cases["evaluated_on"], cases["label"], strict=True)] == [
        ("en", "de", "nsubj"), ("en", "fi", "nsubj"), ("de", "en", "nsubj"), ("de", "fi", "nsubj"), ("en", "de", "obj"),
    ]  # fmt: skip
    assert KeptHeads.of(cases) == KeptHeads(5, 2, 4, pytest.approx((4 * 0.02 + 0.04) / 5))


def test_a_label_has_its_most_frequent_head_and_means_over_its_cases() -> None:
    first, second = kept_labels(ROWS)
    assert (first.label, first.head, first.selected_on, first.corpora) == ("nsubj", "1-1", 2, 2)
    assert (first.counts.cases, first.counts.kept, first.counts.own) == (4, 2, 4)
    assert first.accuracy == pytest.approx((3 * 0.6 + 0.5) / 4)
    assert (second.label, second.counts.kept) == ("obj", 0)
    assert label_table("m", [first]).texts == (
        (
            "attends from a subject to its verb dependency: nsubj, dependent->head",
            *("1-1 selected on 2 of 2", "2 of 4", "4 of 4", "2.5 %", "57.5", "−10.0", "30.0"),
        ),
    )


def test_pairs_of_corpora_are_ordered() -> None:
    counts = {
        home: {away: (one.kept, one.cases) for away, one in to.items()} for home, to in by_pair(ROWS, "m").items()
    }
    assert counts == {
        "en": {"en": (0, 0), "de": (1, 2), "fi": (0, 1)},
        "de": {"en": (1, 1), "de": (0, 0), "fi": (0, 1)},
    }
    table = pair_table(ROWS, "m")
    assert table.titles == ("selected on", "en", "de", "fi")
    assert table.texts == (("en", "–", "1 of 2 own 1", "0 of 1 own 1"), ("de", "1 of 1 own 1", "–", "0 of 1 own 1"))


def test_the_sentence_has_what_can_be_reached_and_what_chance_gives() -> None:
    assert sentence(KeptHeads.of(role_cases(ROWS))) == (
        "Heads selected with a grade on one corpus have a grade on another in 40.0 % of 5 cases (label, direction and "
        "ordered pair of corpora); heads selected there themselves in 80.0 %, a random head in 2.4 %."
    )


def test_nothing_is_said_without_a_graded_head() -> None:
    none = ROWS.assign(home_grade=0)
    assert role_cases(none).empty
    assert kept_labels(none) == []
    assert kept_labels(ROWS.iloc[:0]) == []
