from collections import Counter

import pytest

from probes.causal.head_sets import random_sets

CHOSEN = ((0, 1), (2, 0), (2, 3))


def test_random_heads_are_of_the_same_layers_and_not_chosen() -> None:
    found = random_sets(CHOSEN, (4, 6), 20, (7,))
    assert found is not None
    assert (len(found.sets), found.elsewhere) == (20, 0)
    for heads in found.sets:
        assert len(set(heads)) == 3
        assert not set(heads) & set(CHOSEN)
        assert Counter(layer for layer, _ in heads) == {0: 1, 2: 2}
    assert len(set(found.sets)) > 10
    assert found == random_sets(CHOSEN, (4, 6), 20, (7,))
    assert found != random_sets(CHOSEN, (4, 6), 20, (8,))
    assert {head for heads in found.sets for head in heads} == {
        *((0, head) for head in (0, 2, 3, 4, 5)),
        *((2, head) for head in (1, 2, 4, 5)),
    }


def test_where_a_layer_has_too_few_others_heads_of_other_layers_stand_in_and_are_counted() -> None:
    chosen = ((1, 0), (1, 1), (0, 2))
    found = random_sets(chosen, (3, 3), 30, (0,))
    assert found is not None
    assert found.elsewhere == 1
    for heads in found.sets:
        assert len(set(heads)) == 3
        assert not set(heads) & set(chosen)
        assert (1, 2) in heads
    assert {layer for heads in found.sets for layer, _ in heads} == {0, 1, 2}


@pytest.mark.parametrize("chosen", [(), ((0, 0), (0, 1), (1, 0))])
def test_nothing_is_held_against_nothing_or_against_fewer(chosen: tuple[tuple[int, int], ...]) -> None:
    assert random_sets(chosen, (2, 2), 20, (0,)) is None
