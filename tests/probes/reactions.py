"""Reactions written by hand, whose maps need no chemistry to be made."""

from collections.abc import Iterator
from random import Random

import numpy as np

from probes.records import Document, Mention, Sentence


def reaction(
    words: str,
    atoms: dict[int, str],
    same: list[tuple[int, ...]],
    bonds: dict[int, tuple[int, ...]],
    kind: str = "made",
) -> Document:
    """Return a reaction: tokens apart by spaces, element of each atom, atoms that are the same, bonds of each atom."""
    tokens = words.split()
    near = {atom: "".join(sorted(atoms[other] for other in bonds.get(atom, ()))) for atom in atoms}
    far = {atom: ".".join(sorted(f"{atoms[o]}{near[o]}" for o in bonds.get(atom, ()))) for atom in atoms}
    feats = [""] * len(tokens)
    for atom, element in atoms.items():
        away = ",".join(str(other - atom) for other in bonds.get(atom, ()))
        codes = (f"{element}{near[atom]}", *(f"{element}{far[atom]}{n}" for n in "234"))
        spheres = "|".join(f"Sphere{n}={code}" for n, code in enumerate(codes, start=1))
        feats[atom] = f"Element={element}|{spheres}|Bonds={away}"
    mentions = tuple(Mention((atom,), atom, str(number)) for number, group in enumerate(same) for atom in group)
    n = len(tokens)
    sentence = Sentence(words, tuple(tokens), np.full(n, -1), ("",) * n, ("",) * n, tuple(feats), mentions, kind)
    return Document(words, (sentence,))


def chains(count: int, seed: int) -> Iterator[Document]:
    """Yield chains of letters whose two sides are the same atoms in another order, each letter once or twice."""
    random = Random(seed)
    for number in range(count):
        letters = [chr(97 + int(random.random() * 26)) for _ in range(6)]
        order = sorted(range(6), key=lambda i: random.random())
        words = [*letters, ">>", *(letters[i] for i in order)]
        atoms = {i: word for i, word in enumerate(words) if word != ">>"}
        same = [(i, 7 + order.index(i)) for i in range(6)]
        document = reaction(" ".join(words), atoms, same, {})
        yield Document(f"chain-{seed}-{number}", document.sentences)
