from pathlib import Path

import pandas as pd
import pytest

from reports import read_examples
from reports.drawing.arcs import CLS, SEP, SHOW_ALL, Diagram, diagram, diagrams
from reports.scores.best_heads import best_heads

ARCS = [  # query, key, weight, asked, gold
    (0, SEP, 0.60, False, False),
    (1, 0, 0.70, True, True),
    (1, SEP, 0.20, True, False),
    (1, 2, 0.01, True, False),
    (2, 2, 0.50, False, False),
    (CLS, 0, 0.90, False, False),
]


def frame(words: list[str], arcs: list[tuple[int, int, float, bool, bool]] = ARCS) -> pd.DataFrame:
    rows = pd.DataFrame(arcs, columns=["query", "key", "weight", "scored", "gold"])
    return rows.assign(
        example=0, probe="dependency", label="nsubj", variant="v", name="3-5", source="own-1", words=[words] * len(rows)
    )


@pytest.fixture
def drawn() -> Diagram:
    return diagram(frame(["She", "sleeps", "."]))


def test_arcs_are_right_wrong_or_other_and_faint_wrong_ones_are_left_out(drawn: Diagram):
    kinds = {(arc.query, arc.key): arc.kind for arc in drawn.arcs}
    assert kinds == {(0, SEP): "other", (1, 0): "right", (1, SEP): "wrong", (2, 2): "other", (CLS, 0): "other"}
    assert drawn.arcs[-1].kind == "right"


def test_the_strongest_answer_is_drawn_however_faint_and_what_is_no_answer_is_not_called_wrong():
    shown = diagram(frame(["She", "sleeps", "."], [(1, SEP, 0.97, False, False), (1, 2, 0.02, True, False)]))
    assert {(arc.query, arc.key): arc.kind for arc in shown.arcs} == {(1, SEP): "other", (1, 2): "wrong"}
    assert shown.descriptions == ("sleeps → .: 2 % of its attention, incorrect",)
    assert [token.kind for token in shown.tokens] == ["special", "word", "asked", "word", "special"]


def test_of_a_relation_read_by_columns_the_word_that_is_attended_to_is_scored():
    arcs = [(0, 1, 0.28, True, False), (2, 1, 0.71, True, True), (3, 1, 0.02, True, False)]
    shown = diagram(frame(["had", "coat", "used", "."], arcs).assign(variant="head<-dependent"))
    assert shown.descriptions == ("used → coat: 71 % of its attention, correct",)
    assert [token.kind for token in shown.tokens] == ["special", "word", "asked", "word", "word", "special"]
    assert {(arc.query, arc.key) for arc in shown.arcs} == {(0, 1), (2, 1)}, "one faint answer is left out"


def test_long_windows_keep_the_words_around_scored_ones():
    words = [f"w{i}" for i in range(100)]
    shown = diagram(frame(words, [(50, 10, 0.8, True, True), (99, 98, 0.9, False, False)]))
    texts = [token.text for token in shown.tokens]
    assert len(words) > SHOW_ALL
    assert [text for text in texts if text.startswith("w")] == [f"w{i}" for i in (8, 9, 10, 11, 12, 48, 49, 50, 51, 52)]
    assert texts.count("…") == 3
    assert [(arc.query, arc.key) for arc in shown.arcs] == [(50, 10)]


def test_examples_follow_the_order_of_the_table(written_run: Path, scores: pd.DataFrame):
    best = best_heads(scores, "dependency")
    shown = diagrams(read_examples(written_run / "examples.parquet"), best, heads=2, each=1)
    assert [(one.label, one.variant, one.name) for one in shown] == [(r.label, r.variant, r.name) for r in best[:2]]
