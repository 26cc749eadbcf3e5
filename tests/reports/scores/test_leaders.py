from typing import Any

from reports.scores.best_heads import CLASSIFIER, BestHead, best_head, best_rows, leaders


def row(label: str, low: float, high: float, clusters: int = 50, **more: Any) -> BestHead:
    known = {"probe": "dependency", "label": label, "name": "1-1", "n": 9, "effective_clusters": clusters}
    known |= {"accuracy": (low + high) / 2, "margin": (low + high) / 2, "margin_low": low, "margin_high": high}
    return best_head(known | more)


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
