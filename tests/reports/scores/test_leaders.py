import dataclasses
import math
from typing import Any

from reports.scores.best_heads import CLASSIFIER, BestHead
from reports.scores.leaders import best_rows, leaders


def row(label: str, low: float, high: float, clusters: int = 50, **more: Any) -> BestHead:
    middle, nan = (low + high) / 2, math.nan
    row = {field.name: nan for field in dataclasses.fields(BestHead)}
    row |= {"probe": "dependency", "label": label, "variant": "v", "name": "1-1", "layer": 0, "head": 0, "n": 9}
    row |= {
        "clusters": clusters,
        "effective_clusters": clusters,
        "accuracy": middle,
        "baseline": "offset",
        "baseline_accuracy": 0.0,
        "margin": middle,
    }
    row |= {"margin_low": low, "margin_high": high, "lexical_accuracy": 0.3, "near_ties": 0, "p_adjusted": 0.5}
    row |= {"stability": 0.9, "specialised": False, "grade": 0, "verdict": "undecided"}
    row |= {"excluded": 0.2, "rule": "", "others": ()}
    return BestHead(**(row | more))


def test_leaders_have_the_surest_margins_above_0_and_enough_documents():
    rows = (row("c", -0.1, 0.3), row("a", 0.1, 0.3), row("b", -0.3, -0.1), row("few", 0.5, 0.9, clusters=19))
    assert [leader.label for leader in leaders(rows)] == ["a", "c"]


def test_leaders_are_specialised_heads_whatever_the_margins_of_others():
    rows = (row("large", 0.5, 0.9), row("small", 0.1, 0.3, specialised=True, grade=2))
    assert [leader.label for leader in leaders(rows)] == ["small"]
    assert [leader.label for leader in leaders(rows[:1])] == ["large"]
    assert leaders(()) == ()


def test_trained_classifiers_are_no_heads():
    heads = [row("a", 0.1, 0.3)]
    assert best_rows({"dependency": heads, CLASSIFIER: [row("b", 0.1, 0.3)]}) == heads
