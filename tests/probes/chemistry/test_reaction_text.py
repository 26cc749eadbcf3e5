import pytest

from probes.chemistry.reaction_text import ReactionSides, carried_along_bonds, same_neighbourhood
from probes.scoring.baseline_texts import Shown
from probes.scoring.expert_rules import RULES
from probes.targets import gather
from probes.words.same_atom import SameAtom
from tests.probes.reactions import reaction
from tests.probes.words.test_same_atom import ESTER

TWO_ENDS = reaction(  # a chain that is turned round and grows at one end
    "C C O >> N C C O",
    {0: "C", 1: "C", 2: "O", 4: "N", 5: "C", 6: "C", 7: "O"},
    [(0, 5), (1, 6), (2, 7)],
    {0: (1,), 1: (0, 2), 2: (1,), 4: (5,), 5: (4, 6), 6: (5, 7), 7: (6,)},
)


def test_sides_are_the_atoms_before_and_after_the_arrow_with_their_bonds() -> None:
    sides = ReactionSides.of(TWO_ENDS)
    assert (sides.reactants, sides.product) == ([0, 1, 2], [4, 5, 6, 7])
    assert sides.bonds[5] == {4, 6}
    assert sides.around(1) == ([0, 1, 2], [4, 5, 6, 7])
    assert sides.around(7) == ([4, 5, 6, 7], [0, 1, 2])
    assert sides.entity[5] == sides.entity[0]


def test_the_farthest_neighbourhood_that_agrees_comes_first_and_rank_decides_among_equals() -> None:
    sides = ReactionSides.of(TWO_ENDS)
    assert [list(group) for group in same_neighbourhood(sides, 1, 1)] == [[6], [6]]  # C between C and O; second carbon
    assert [list(group) for group in same_neighbourhood(sides, 0, 1)] == [[], [5]]  # now beside N: the first carbon
    assert [list(group) for group in same_neighbourhood(sides, 4, 0)] == [[]]  # no nitrogen on the other side
    assert [list(group) for group in same_neighbourhood(sides, 3, 1)] == []


def test_atoms_whose_neighbours_changed_are_found_along_bonds() -> None:
    sides = ReactionSides.of(ESTER)
    image = carried_along_bonds(sides, sides.product, sides.reactants)
    assert image[13] == 4
    assert image[15] == 3
    assert len({*image.values()}) == len(image)  # no atom twice


@pytest.mark.parametrize("name", SameAtom.rules)
def test_rules_answer_both_ways_among_the_candidates(name: str) -> None:
    for variant, targets in SameAtom().targets(TWO_ENDS).items():
        items = gather("same-atom", variant, [targets])
        rows = RULES[name]().rows(items, Shown([TWO_ENDS]))
        assert rows.sum(1).tolist() == [1.0] * 3
        assert rows.argmax(1).tolist() == targets.gold[0].tolist()
