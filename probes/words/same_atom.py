"""The same atom: attention from an atom of a reaction to itself on the other side of the arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from probes.chemistry.reaction_text import ReactionSides
from probes.records import Document
from probes.registry import CONTROLS, register
from probes.targets import Targets, key_sets


@dataclass(frozen=True)
class MappedAtoms:
    """An atom that is on both sides of a reaction."""

    word: int
    gold: list[int]
    "The atoms of the other side that it may be."
    candidates: list[int]
    "All atoms of the other side."
    label: str


@register
@dataclass(frozen=True)
class SameAtom:
    """The most attended atom of the other side of a reaction is the same atom (RXNMapper's head; or the reverse).

    Words are tokens of SMILES (the corpus "reactions", `probes.chemistry.reactions`). Candidates are all atoms of the
    other side, those of solvents and reagents too; atoms that symmetry makes equal are all right. Labels are the kind
    of reaction, how many candidates have the token of the query (its own token stands once, among alike, or its token
    is changed), and whether the atom is bonded to the same elements as before.

    >>> from probes.records import Document, Mention, Sentence, frozen_ints
    >>> words, feats = ("O", "C", ">>", "C", "O"), ("Element=O", "Element=C", "", "Element=C", "Element=O")
    >>> mentions = tuple(Mention((i,), i, entity) for i, entity in ((0, "1"), (1, "2"), (3, "2"), (4, "1")))
    >>> text = Sentence("s", words, frozen_ints([-1] * 5), ("",) * 5, ("",) * 5, feats, mentions, "identity")
    >>> asked = SameAtom().targets(Document("d", (text,)))["product->reactant"]
    >>> int(asked.query[0]), int(asked.gold[0][0]), asked.label[0], asked.candidates[0].tolist()[:2]
    (3, 1, 'identity, token once, neighbours kept', [0, 1])
    """

    name: ClassVar[str] = "same-atom"
    variants: ClassVar[tuple[str, ...]] = ("product->reactant", "reactant->product")
    scope: ClassVar[str] = "sentence"
    baselines: ClassVar[tuple[str, ...]] = (
        *("offset", "likeliest distance", "nearest candidate", "first candidate"),
        *("same word, nearest", "same word, same rank", "uniform"),
    )
    rules: ClassVar[tuple[str, ...]] = ("same neighbours", "same neighbourhood", "same neighbourhood, then bonds")
    controls: ClassVar[tuple[str, ...]] = CONTROLS
    needs: ClassVar[str] = "atom maps"
    source: ClassVar[str] = "Schwaller et al. 2021, Science Advances 7, eabe4166"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item an atom of the product that comes from a reactant, and one an atom that goes there."""
        sides = ReactionSides.of(document)
        both = zip(self.variants, (sides.product, sides.reactants), strict=True)
        atoms = {name: [*mapped(document, sides, side)] for name, side in both}
        return {
            name: Targets.sets(
                [one.word for one in found],
                [one.gold for one in found],
                [one.label for one in found],
                key_sets([one.candidates for one in found]),
            )
            for name, found in atoms.items()
        }

    def pool(self, label: str) -> Sequence[str]:
        """An item counts among all, with each part of its label, and with both of its token and neighbours."""
        kind, *others = label.split(", ")
        return ("all", kind, *others, ", ".join(others))


def mapped(document: Document, sides: ReactionSides, atoms: Sequence[int]) -> Iterator[MappedAtoms]:
    """Yield those of the atoms of one side that are on the other side too."""
    for atom in atoms:
        _, others = sides.around(atom)
        entity = sides.entity.get(atom)
        gold = [other for other in others if entity is not None and sides.entity.get(other) == entity]
        if not gold:
            continue
        same = [other for other in others if document.words[other] == document.words[atom]]
        token = (
            "token changed" if not set(same) & set(gold) else "token once" if set(same) <= set(gold) else "among alike"
        )
        kept = any(sides.codes[other][1] == sides.codes[atom][1] for other in gold)
        kind = document.sentences[0].kind or "reaction"
        yield MappedAtoms(atom, gold, others, f"{kind}, {token}, neighbours {'kept' if kept else 'changed'}")
