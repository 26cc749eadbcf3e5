import math

import pandas as pd
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from reports.drawing.figures import _heat_map, _series
from reports.drawing.heatmaps import heat_map_data
from reports.scores.best_heads import best_heads


def test_dots_of_specialised_heads_are_filled_and_others_hollow(scores: pd.DataFrame):
    rows = [row for row in best_heads(scores, "dependency") if row.n]
    series = _series(rows, verdicts=True)
    filled, hollow = series["graded head, 95 % interval"], series["no grade"]
    assert [not math.isnan(value) for value in filled[2]] == [row.grade > 0 for row in rows]
    assert [not math.isnan(value) for value in hollow[2]] == [not row.grade for row in rows]
    assert hollow[3]["mfc"] == "white"
    assert "mfc" not in filled[3]


def test_trained_classifiers_have_filled_dots_and_no_verdict(scores: pd.DataFrame):
    rows = best_heads(scores, "classifier")
    series = _series(rows, verdicts=False)
    assert series["selected head, 95 % interval"][2] == [row.accuracy for row in rows]
    assert all(math.isnan(value) for value in series["no grade"][2])


def test_specialised_heads_have_a_dot_in_the_static_map(scores: pd.DataFrame):
    maps = heat_map_data(scores, "dependency", best_heads(scores, "dependency"), controlled=True)["maps"]
    one = next(one for one in maps if (one["label"], one["variant"]) == ("det", "head->dependent"))
    axes = Figure().add_subplot()
    _heat_map(axes, one, 6, 12, numbers=True)
    (dot,) = axes.lines
    assert (int(dot.get_xdata()[0]), int(dot.get_ydata()[0])) == (1, 1)
    dark = (one["accuracy"][13] or 0) > 550
    assert to_rgba(dot.get_color()) == to_rgba("white" if dark else "#1a1d21")
