import math

import pandas as pd
import pytest

from experiments.statements.estimates import Estimate
from experiments.statements.numbers import average, by_depth, minus


def _layers(count: int) -> pd.DataFrame:
    values = [float(layer) for layer in range(count)]
    return pd.DataFrame(
        {"layer": range(count), "value": values, "ci_low": values, "ci_high": [one + 1 for one in values]}
    )


@pytest.mark.parametrize(("count", "found"), [(12, [5, 6, 7, 8, 9]), (6, [2, 3, 4]), (4, [1, 2])])
def test_layers_6_to_10_of_12_are_found_in_models_of_another_depth(count, found):
    assert list(by_depth(_layers(count), 5 / 12, 10 / 12).layer) == found


def test_parts_of_the_depth_divide_all_layers():
    thirds = [by_depth(_layers(12), place / 3, (place + 1) / 3).layer.tolist() for place in range(3)]
    assert thirds == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


def test_an_average_has_the_mean_of_both_ends():
    assert average(_layers(3)) == Estimate(1.0, 1.0, 2.0, 3)


def test_an_average_of_nothing_is_missing_and_so_is_a_difference_with_it():
    nothing = average(_layers(3).iloc[:0])
    assert math.isnan(nothing.value)
    assert nothing.n == 0
    assert math.isnan(minus(nothing, Estimate(1.0, 0.5, 1.5, 9)).value)
