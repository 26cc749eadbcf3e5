import importlib.util
from typing import Any

import pytest

from probes.chemistry.reactions import MOLECULES, REAGENTS, TEMPLATES, applied, reaction_items
from probes.records import Document

MANY = 250


@pytest.fixture(scope="module")
def chem() -> Any:
    """Return RDKit's chemistry."""
    if importlib.util.find_spec("rdkit") is None:
        pytest.skip("the package rdkit is not installed")
    from rdkit import Chem

    return Chem


@pytest.fixture(scope="module")
def documents(chem: Any) -> list[Document]:
    return list(reaction_items(MANY, seed=4))


def halves(document: Document) -> tuple[str, str]:
    reactants, _, product = "".join(document.words).partition(">>")
    return reactants.replace("~", "."), product


def test_every_molecule_is_one_and_reacts_in_one_way_at_the_most(chem: Any) -> None:
    for smiles in (*REAGENTS, *(one for group in MOLECULES.values() for one in group)):
        assert chem.MolFromSmiles(smiles) is not None
    firsts = {template.groups[0] for template in TEMPLATES}
    assert firsts <= set(MOLECULES)
    for template in TEMPLATES:
        assert applied(template, [MOLECULES[group][0] for group in template.groups]) is not None


def test_an_amide_is_mapped_as_a_chemist_would(chem: Any) -> None:
    (amide,) = (template for template in TEMPLATES if template.name == "amide")
    product, origins = applied(amide, ["CC(=O)O", "NCc1ccccc1"])  # type: ignore[misc]
    assert product.smiles == "CC(=O)NCc1ccccc1"
    whence = [origins.get(atom) for atom in product.atoms if atom >= 0]
    assert whence[:5] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert {reactant for reactant, _ in whence[5:]} == {1}


def test_a_template_that_fits_in_two_ways_makes_no_reaction(chem: Any) -> None:
    (amide,) = (template for template in TEMPLATES if template.name == "amide")
    assert applied(amide, ["CC(=O)O", "NCCNC"]) is None
    assert applied(amide, ["CC(=O)O", "CCO"]) is None


def test_both_sides_are_smiles_of_molecules_and_words_are_their_tokens(chem: Any, documents: list[Document]) -> None:
    for document in documents:
        reactants, product = halves(document)
        left, right = chem.MolFromSmiles(reactants), chem.MolFromSmiles(product)
        marked = [i for i, feats in enumerate(document.feats) if feats]
        arrow = document.words.index(">>")
        assert left.GetNumAtoms() == sum(i < arrow for i in marked)
        assert right.GetNumAtoms() == sum(i > arrow for i in marked)
        elements = [atom.GetSymbol() for side in (left, right) for atom in side.GetAtoms()]
        assert [document.feats[i].split("|")[0].removeprefix("Element=") for i in marked] == elements
        bonded = [
            {marked[other.GetIdx() + start] - marked[atom.GetIdx() + start] for other in atom.GetNeighbors()}
            for side, start in ((left, 0), (right, left.GetNumAtoms()))
            for atom in side.GetAtoms()
        ]
        said = [{int(b) for b in document.feats[i].partition("Bonds=")[2].split(",") if b} for i in marked]
        assert said == bonded


def test_atoms_that_a_turn_or_mirror_exchanges_share_their_name(chem: Any, documents: list[Document]) -> None:
    """Symmetries are found as matches of a molecule with itself, not by the ranks that the corpus goes by."""
    exchanged = 0
    for document in documents[:80]:
        marked = iter([i for i, feats in enumerate(document.feats) if feats])
        name = {mention.head: mention.entity for mention in document.mentions}
        for smiles in ".".join(halves(document)).split("."):
            molecule = chem.MolFromSmiles(smiles)
            atoms = [next(marked) for _ in range(molecule.GetNumAtoms())]
            for match in molecule.GetSubstructMatches(molecule, uniquify=False, useChirality=True, maxMatches=50):
                for atom, other in zip(atoms, (atoms[i] for i in match), strict=True):
                    assert name.get(atom) == name.get(other)
                    exchanged += atom != other
    assert exchanged > 100


def test_an_item_depends_on_seed_and_number_and_a_document_is_a_first_reactant(documents: list[Document]) -> None:
    again = list(reaction_items(5, seed=4))
    assert [one.words for one in again] == [one.words for one in documents[:5]]
    assert [one.words for one in reaction_items(5, seed=5)] != [one.words for one in again]
    for document in documents:
        assert document.id in "".join(document.words) or document.sentences[0].kind == "identity"
    assert len({document.id for document in documents}) > MANY / 3
    with pytest.raises(ValueError, match="documents is -1, expected 0 or more"):
        next(reaction_items(-1, 0))
