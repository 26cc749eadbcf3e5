import pytest

from reports.head_names import head_hint

KNOWN = [f"{layer}-{head}" for layer in range(1, 4) for head in range(1, 13)]


@pytest.mark.parametrize("name", ["3.5", "3 5", "L3H5", "(3, 5)", "3-5 "])
def test_two_numbers_written_otherwise_mean_the_head_of_these_numbers(name: str) -> None:
    assert head_hint(name, KNOWN) == "did you mean '3-5'? heads are named layer-head from 1: 1-1 to 3-12"


@pytest.mark.parametrize("name", ["", "0-0", "x", "3-13", "4-1", "3", "3-5-1", None])
def test_a_name_with_other_numbers_gets_the_range_of_names(name: object) -> None:
    assert head_hint(name, KNOWN) == "heads are named layer-head from 1: 1-1 to 3-12"
