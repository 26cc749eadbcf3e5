"""A reaction as a text: tokens of SMILES as words, and which of them are atoms of the reactants and of the product."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from probes.records import Document

ARROW = ">>"
"What stands between reactants and product."

ELEMENT, SPHERES, BONDS = "Element", ("Sphere1", "Sphere2", "Sphere3", "Sphere4"), "Bonds"
"""What the features of an atom say: its element, codes of the elements within 1 to 4 bonds of it, and how many words
away the atoms stand that it is bonded to ("-1,3").

Atoms have the same code where these neighbourhoods are the same, orders of bonds and charges aside."""


@dataclass(frozen=True)
class ReactionSides:
    """The atoms of both sides of a reaction, by their words."""

    reactants: list[int]
    "Ascending; those of solvents and reagents, which stand among the reactants, too."
    product: list[int]
    entity: dict[int, str]
    "Atom -> its name, which atoms of the other side share that it may be; none for what is not of the other side."
    codes: dict[int, tuple[str, ...]]
    "Atom -> its element, then the codes of its neighbourhoods from one bond to four."
    bonds: dict[int, frozenset[int]]
    "Atom -> the atoms that it is bonded to."

    @classmethod
    def of(cls, document: Document) -> ReactionSides:
        """Return the sides of a text; both are empty where it is no reaction."""
        if document.words.count(ARROW) != 1:
            return cls([], [], {}, {}, {})
        arrow = document.words.index(ARROW)
        shown = ((word, feats) for word, feats in enumerate(document.feats) if f"{ELEMENT}=" in feats)
        atoms = {word: dict(part.split("=", 1) for part in feats.split("|")) for word, feats in shown}
        codes = {atom: tuple(shown.get(name, "") for name in (ELEMENT, *SPHERES)) for atom, shown in atoms.items()}
        apart = {atom: filter(None, shown.get(BONDS, "").split(",")) for atom, shown in atoms.items()}
        bonds = {atom: frozenset(atom + int(away) for away in away_from) for atom, away_from in apart.items()}
        entity = {mention.head: mention.entity for mention in document.mentions}
        before, after = ([atom for atom in codes if (atom > arrow) == later] for later in (False, True))
        return cls(before, after, entity, codes, bonds)

    def around(self, atom: int) -> tuple[list[int], list[int]]:
        """Return the atoms of the side that an atom is on, and those of the other side."""
        here, there = self.product, self.reactants
        return (there, here) if atom in there else (here, there)


def same_neighbourhood(sides: ReactionSides, query: int, bonds: int) -> Sequence[Iterable[int]]:
    """Name atoms of the other side with the same elements around them, those first that agree farthest, up to `bonds`.

    Of several that agree equally far the one is named that stands in the same place among them as the query does among
    such atoms of its own side.
    """
    if query not in sides.codes:
        return []
    here, there = sides.around(query)
    groups = []
    for far in range(bonds, -1, -1):
        code = sides.codes[query][far]
        alike = [atom for atom in there if sides.codes[atom][far] == code]
        rank = sum(sides.codes[atom][far] == code for atom in here if atom < query)
        groups.append(alike[rank : rank + 1] or alike[-1:])
    return groups


def carried_along_bonds(sides: ReactionSides, here: Sequence[int], there: Sequence[int]) -> dict[int, int]:
    """Map the atoms of one side to those of the other, by neighbourhoods and then along bonds.

    Where the elements within two bonds or more are the same, atoms are mapped as `same_neighbourhood` does. From these
    it goes on, one atom after the other: to the free atom of the same element that is bonded to the most images of its
    neighbours, and of several to the one with the same neighbours. Atoms that no bond leads to are not mapped.
    """
    image: dict[int, int] = {}
    for atom in here:
        named = [one for group in same_neighbourhood(sides, atom, len(SPHERES))[: len(SPHERES) - 1] for one in group]
        if free := [one for one in named if one not in image.values()]:
            image[atom] = free[0]
    while pairs := [pair for atom in here if atom not in image for pair in _bonded(sides, atom, there, image)]:
        *_, atom, other = max(pairs)  # of equal ones the first of the text
        image[-atom] = -other
    return image


def _bonded(
    sides: ReactionSides, atom: int, there: Sequence[int], image: dict[int, int]
) -> Iterable[tuple[int, bool, int, int]]:
    """Yield the atoms that one may be mapped to, after how many bonds lead there and whether neighbours agree."""
    images, taken = {image[one] for one in sides.bonds[atom] if one in image}, set(image.values())
    for other in there:
        common = len(images & sides.bonds[other])
        if common and other not in taken and sides.codes[other][0] == sides.codes[atom][0]:
            yield common, sides.codes[other][1] == sides.codes[atom][1], -atom, -other
