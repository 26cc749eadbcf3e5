from probes.words.same_atom import SameAtom
from tests.probes.reactions import reaction

PROBE = SameAtom()
ESTER = reaction(
    "C O . C C ( = O ) O >> C O C ( C ) = O",
    {0: "C", 1: "O", 3: "C", 4: "C", 7: "O", 9: "O", 11: "C", 12: "O", 13: "C", 15: "C", 18: "O"},
    [(0, 11), (1, 12), (3, 15), (4, 13), (7, 18)],
    {0: (1,), 1: (0,), 3: (4,), 4: (3, 7, 9), 7: (4,), 9: (4,), 11: (12,), 12: (11, 13), 13: (12, 15, 18), 15: (13,)},
    "ester",
)
REACTANTS = [0, 1, 3, 4, 7, 9]


def test_an_atom_of_the_product_is_asked_for_itself_among_all_atoms_of_the_reactants() -> None:
    asked = PROBE.targets(ESTER)["product->reactant"]
    assert asked.query.tolist() == [11, 12, 13, 15, 18]
    assert asked.gold[0].tolist() == [0, 1, 4, 3, 7]
    assert asked.candidates[0].tolist() == REACTANTS * 5
    assert set(asked.label[:1]) == {"ester, among alike, neighbours kept"}
    assert asked.label[1] == "ester, among alike, neighbours changed"  # the oxygen now has two carbons


def test_an_atom_that_leaves_is_not_asked_about() -> None:
    asked = PROBE.targets(ESTER)["reactant->product"]
    assert asked.query.tolist() == [0, 1, 3, 4, 7]
    assert asked.candidates[0].tolist() == [11, 12, 13, 15, 18] * 5
    assert 9 not in asked.gold[0]


def test_atoms_of_one_name_are_all_right_and_the_token_is_looked_at_with_its_case() -> None:
    benzyl = reaction(
        "c C c >> c [N] n",
        {0: "C", 1: "C", 2: "C", 4: "C", 5: "N", 6: "N"},
        [(0, 2, 4), (1, 5)],
        {},
    )
    asked = PROBE.targets(benzyl)["product->reactant"]
    assert asked.query.tolist() == [4, 5]
    assert asked.gold[0].tolist() == [0, 2, 1]
    assert [label.split(", ")[1] for label in asked.label] == ["token once", "token changed"]
