"""The order of studies follows from what they need."""

import random
from typing import Any

import pytest

from experiments.run.studies import STUDIES, in_order
from experiments.studies.study import Result, Study


@pytest.mark.parametrize("seed", range(5))
def test_whatever_the_order_of_the_tuple_all_studies_are_measured(seed: int) -> None:
    assert set(in_order(random.Random(seed).sample(STUDIES, len(STUDIES)))) == set(STUDIES)


def test_studies_that_need_each_other_are_refused_by_name() -> None:
    class One(Result):
        pass

    class Other(Result):
        pass

    class First(Study[None]):
        name, needs, gives = "first", (Other,), One

    class Second(Study[None]):
        name, needs, gives = "second", (One,), Other

    studies: list[type[Study[Any]]] = [First, Second]
    with pytest.raises(ValueError, match="need the results of each other: first, second"):
        list(in_order(studies))
