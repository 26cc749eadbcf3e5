"""Reactions with maps of their atoms, made by templates from molecules: nobody's mapper has been asked.

RDKit, of the extra chemistry, applies the templates, and says of every atom of a product whence it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, Final, NamedTuple
from zlib import crc32

import numpy as np

from mha.models.rxnmapper import TOKEN
from probes.chemistry.reaction_text import ARROW, BONDS, ELEMENT, SPHERES
from probes.corpora.line_reader import CorpusError
from probes.records import Document, Mention, Sentence

_WHOLE: Final[dict[str, str]] = {
    "acid": """
        CC(=O)O CCCC(=O)O CC(C)CC(=O)O OC(=O)C1CC1 OC(=O)C1CCCCC1 OC(=O)Cc1ccccc1 OC(=O)c1ccccc1 OC(=O)c1ccc(C)cc1
        OC(=O)c1ccc(OC)cc1 OC(=O)c1cccc(F)c1 OC(=O)c1ccc(Cl)nc1 OC(=O)c1ccco1 OC(=O)c1cccs1 OC(=O)c1cc2ccccc2[nH]1
        OC(=O)CCc1ccc(Br)cc1 OC(=O)COc1ccccc1 OC(=O)c1ccc(C#N)cc1 CC(C)(C)OC(=O)NCC(=O)O
        C[C@H](NC(=O)OC(C)(C)C)C(=O)O OC(=O)c1cnc2ccccc2c1 OC(=O)C=Cc1ccccc1 OC(=O)c1ccc(C(F)(F)F)cc1
        OC(=O)c1ccc([N+](=O)[O-])cc1 OC(=O)C1CCOCC1 OC(=O)CCCC(=O)OC""",
    "amine": """
        CCN CCCCN CC(C)N NC1CCCCC1 NCc1ccccc1 NCCc1ccccc1 Nc1ccccc1 Nc1ccc(C)cc1 Nc1ccc(OC)cc1 Nc1cccc(Cl)c1
        Nc1ccc(F)cc1 NCC1CCCO1 C1CCNC1 C1CCNCC1 C1COCCN1 CCNCC NCc1ccncc1 NCCN1CCOCC1 CN1CCNCC1 COC(=O)CN
        C[C@H](N)C(=O)OC NCc1ccc(F)cc1 COCCN CC(C)(C)OC(=O)N1CCNCC1 Nc1ccc(Br)cn1 C1CCc2ccccc2N1""",
    "alcohol": """
        CO CCO CCCCO CC(C)O OCc1ccccc1 OCCc1ccccc1 OC1CCCCC1 OCC1CC1 OCc1ccc(OC)cc1 OCc1ccc(Cl)cc1 OCc1ccncc1
        OCCN1CCOCC1 COCCO OCCCCCl CC(O)c1ccccc1 OC1CCN(C(C)=O)CC1""",
    "primary alcohol": """
        CCCCCO OCc1ccccc1 OCCc1ccccc1 OCC1CCCCC1 OCc1ccc(C)cc1 OCc1cccc(Br)c1 OCc1ccc2ccccc2c1 OCc1cccs1
        OCCCc1ccc(OC)cc1 COC(=O)c1ccc(CO)cc1""",
    "aryl bromide": """
        Brc1ccccc1 Cc1ccc(Br)cc1 COc1ccc(Br)cc1 Brc1ccc(F)cc1 Brc1cccnc1 Brc1ccc(C#N)cc1 CC(=O)c1ccc(Br)cc1
        Brc1ccc2ccccc2c1 Brc1cccs1 COC(=O)c1cccc(Br)c1 O=[N+]([O-])c1ccc(Br)cc1 Brc1cncnc1 Cc1cc(C)cc(Br)c1
        FC(F)(F)c1ccc(Br)cc1 CN(C)c1ccc(Br)cc1 Brc1ccc(OCc2ccccc2)cc1 Brc1cnc2ccccc2c1
        CC(C)(C)OC(=O)N1CCc2cc(Br)ccc21 Clc1ccc(Br)cc1C""",
    "boronic acid": """
        OB(O)c1ccccc1 Cc1ccc(B(O)O)cc1 COc1ccc(B(O)O)cc1 OB(O)c1ccc(F)cc1 OB(O)c1cccnc1 OB(O)c1cccs1
        OB(O)c1ccc2ccccc2c1 CC(=O)c1ccc(B(O)O)cc1 OB(O)c1ccco1 Cc1cccc(C)c1B(O)O OB(O)C1=CCCCC1
        CC1(C)OB(c2ccccc2)OC1(C)C CC1(C)OB(c2cnn(C)c2)OC1(C)C""",
    "aldehyde": """
        O=Cc1ccccc1 COc1ccc(C=O)cc1 O=Cc1ccc(Cl)cc1 O=Cc1ccncc1 CCCC=O CC(C)C=O O=CC1CCCCC1 O=Cc1ccc(F)cc1
        O=Cc1ccco1 O=Cc1cccc([N+](=O)[O-])c1 O=Cc1ccc(C(=O)OC)cc1 O=CCCc1ccccc1 Cn1cccc1C=O O=Cc1c[nH]c2ccccc12""",
    "ketone": """
        CC(=O)c1ccccc1 O=C1CCCCC1 CCC(=O)CC CC(=O)c1ccc(Br)cc1 O=C(c1ccccc1)c1ccccc1 O=C1CCc2ccccc21 CC(=O)Cc1ccccc1
        O=C1CCN(Cc2ccccc2)CC1 CC(=O)c1cccnc1 COc1ccc(C(=O)C2CC2)cc1""",
    "phenol": """
        Oc1ccccc1 Cc1ccc(O)cc1 COc1ccc(O)cc1 Oc1ccc(F)cc1 Oc1ccc(Cl)cc1C COC(=O)c1ccc(O)cc1 CC(=O)c1ccc(O)cc1
        N#Cc1ccc(O)cc1 O=[N+]([O-])c1ccc(O)cc1 Oc1cccnc1 Oc1ccc2ccccc2c1 O=Cc1ccc(O)cc1""",
    "alkyl bromide": """
        CCBr CCCCBr BrCc1ccccc1 COC(=O)CBr BrCC1CC1 BrCc1ccc(Cl)cc1 C=CCBr C#CCBr BrCCOC BrCCCc1ccccc1 N#CCBr
        CC(C)(C)OC(=O)CBr""",
    "sulfonyl chloride": """
        CS(=O)(=O)Cl O=S(=O)(Cl)c1ccccc1 Cc1ccc(S(=O)(=O)Cl)cc1 O=S(=O)(Cl)c1ccc(F)cc1 CCCS(=O)(=O)Cl
        COc1ccc(S(=O)(=O)Cl)cc1 O=S(=O)(Cl)c1cccs1 O=S(=O)(Cl)C1CC1 O=S(=O)(Cl)c1ccc2ccccc2c1""",
    "isocyanate": """
        O=C=Nc1ccccc1 Cc1ccc(N=C=O)cc1 O=C=Nc1ccc(Cl)cc1 CCN=C=O O=C=NC1CCCCC1 O=C=NCc1ccccc1 COc1cccc(N=C=O)c1
        O=C=Nc1ccc(C(F)(F)F)cc1""",
    "carbamate": """
        CC(C)(C)OC(=O)NCc1ccccc1 CC(C)(C)OC(=O)N1CCNCC1 CC(C)(C)OC(=O)N1CCC(c2ccccc2)CC1 CC(C)(C)OC(=O)NC1CCOCC1
        CC(C)(C)OC(=O)NCCc1ccc(O)cc1 COC(=O)[C@H](C)NC(=O)OC(C)(C)C CC(C)(C)OC(=O)N1CCN(c2ccccn2)CC1
        CC(C)(C)OC(=O)N1CC(Oc2ccc(F)cc2)C1 CC(C)(C)OC(=O)NCC(=O)NC1CC1""",
    "nitroarene": """
        O=[N+]([O-])c1ccccc1 Cc1ccc([N+](=O)[O-])cc1 COc1ccc([N+](=O)[O-])cc1 O=[N+]([O-])c1ccc(Cl)cc1
        COC(=O)c1cccc([N+](=O)[O-])c1 O=[N+]([O-])c1cccnc1 O=[N+]([O-])c1ccc(N2CCOCC2)cc1
        CC(=O)Nc1ccc([N+](=O)[O-])cc1 O=[N+]([O-])c1ccc2[nH]ccc2c1""",
    "azide": """
        [N-]=[N+]=NCc1ccccc1 [N-]=[N+]=Nc1ccccc1 CCCCN=[N+]=[N-] COC(=O)CN=[N+]=[N-] [N-]=[N+]=NCc1ccc(F)cc1
        Cc1ccc(N=[N+]=[N-])cc1""",
    "alkyne": "C#Cc1ccccc1 C#CCO C#CCCCC C#Cc1ccc(OC)cc1 C#CCOc1ccccc1 C#CC1CC1 C#Cc1cccnc1 C#CCN(C)C",
}
"Group -> molecules that have it, each a case of its own."

_SUBSTITUENTS = (
    "C OC F Cl C#N C(F)(F)F N(C)C C(C)(C)C OCC C(=O)OC S(C)(=O)=O NC(C)=O c2ccccc2 CC OC(F)(F)F [N+](=O)[O-]"
)
"What stands at a ring, at the place that a pattern leaves open."

_PATTERNS: Final[dict[str, str]] = {
    "acid": "OC(=O)c1ccc({})cc1 OC(=O)c1cccc({})c1 OC(=O)Cc1ccc({})cc1",
    "amine": "NCc1ccc({})cc1 Nc1cccc({})c1 C1CN(c3ccc({})cc3)CCN1",
    "primary alcohol": "OCc1ccc({})cc1 OCCc1cccc({})c1",
    "aryl bromide": "Brc1ccc({})cc1 Brc1cccc({})c1 Brc1ccc({})nc1",
    "boronic acid": "OB(O)c1ccc({})cc1 OB(O)c1cccc({})c1",
    "aldehyde": "O=Cc1ccc({})cc1 O=Cc1cccc({})c1",
    "ketone": "CCC(=O)c1ccc({})cc1 O=C(c1ccc({})cc1)C1CC1",
    "phenol": "Oc1ccc({})cc1 Oc1cccc({})c1",
    "sulfonyl chloride": "O=S(=O)(Cl)c1ccc({})cc1 O=S(=O)(Cl)c1cccc({})c1",
    "isocyanate": "O=C=Nc1ccc({})cc1 O=C=NCc1ccc({})cc1",
    "carbamate": "CC(C)(C)OC(=O)NCc1ccc({})cc1 CC(C)(C)OC(=O)N1CCC(c3ccc({})cc3)CC1",
    "nitroarene": "O=[N+]([O-])c1ccc({})cc1 O=[N+]([O-])c1cccc({})c1",
    "azide": "[N-]=[N+]=NCc1ccc({})cc1 [N-]=[N+]=Nc1cccc({})c1",
    "alkyne": "C#Cc1ccc({})cc1 C#CCOc1ccc({})cc1",
}
"Group -> molecules that have it, with a place for a substituent."

MOLECULES: Final[dict[str, tuple[str, ...]]] = {
    group: (
        *whole.split(),
        *(pattern.format(one) for pattern in _PATTERNS.get(group, "").split() for one in _SUBSTITUENTS.split()),
    )
    for group, whole in _WHOLE.items()
}
"Group -> molecules that have it; what the group is called says which reactions they may take part in."

_REAGENTS = """
    CN(C)C=O ClCCl CCN(CC)CC CCN(C(C)C)C(C)C C1CCOC1 CCO CO O C1COCCO1 Cc1ccccc1 CC#N CCOC(C)=O CS(C)=O c1ccncc1 Cl
    CCOCC O=C([O-])[O-].[K+].[K+] [Na+].[OH-] CC(=O)O [NaH]
"""
REAGENTS: Final = tuple(_REAGENTS.split())
"Solvents, bases and acids, whose atoms are not found in the product."


IDENTITY = "identity"
"The kind of reactions in which nothing happens: one molecule, written from different atoms on both sides."


class ReactionTemplate(NamedTuple):
    """A kind of reaction."""

    name: str
    smarts: str
    "What becomes of the atoms that react, in the language of RDKit; atoms of one number are the same."
    groups: tuple[str, ...]
    "The group of each reactant, in their order, of `MOLECULES`."


_AMINE = "[NX3;H1,H2;!$(N[C,S]=[O,S]);!$(N[#6]=N):3]"

TEMPLATES = (
    ReactionTemplate("amide", f"[C:1](=[O:2])[OX2H1].{_AMINE}>>[C:1](=[O:2])[N:3]", ("acid", "amine")),
    ReactionTemplate(
        "ester", "[C:1](=[O:2])[OX2H1].[C;!$(C=O):3][OX2H1:4]>>[C:1](=[O:2])[O:4][C:3]", ("acid", "alcohol")
    ),
    ReactionTemplate("Suzuki", "[c:1]Br.[#6:2]B([O])[O]>>[c:1]-[#6:2]", ("aryl bromide", "boronic acid")),
    ReactionTemplate("amination of an aryl", f"[c:1]Br.{_AMINE}>>[c:1][N:3]", ("aryl bromide", "amine")),
    ReactionTemplate("reductive amination", f"[CX3H1:1]=O.{_AMINE}>>[CH2:1][N:3]", ("aldehyde", "amine")),
    ReactionTemplate(
        "sulfonamide", f"[S:1](=[O:2])(=[O:4])Cl.{_AMINE}>>[S:1](=[O:2])(=[O:4])[N:3]", ("sulfonyl chloride", "amine")
    ),
    ReactionTemplate("ether", "[c:1][OX2H1:2].[CX4:3]Br>>[c:1][O:2][C:3]", ("phenol", "alkyl bromide")),
    ReactionTemplate("urea", f"[O:1]=[C:2]=[N:4].{_AMINE}>>[O:1]=[C:2]([N:4])[N:3]", ("isocyanate", "amine")),
    ReactionTemplate("deprotection", "[N:1]C(=O)OC([CH3])([CH3])[CH3]>>[N:1]", ("carbamate",)),
    ReactionTemplate("reduction of a ketone", "[#6:1][CX3:2](=[O:3])[#6:4]>>[#6:1][C:2]([O:3])[#6:4]", ("ketone",)),
    ReactionTemplate("oxidation", "[CX4H2:1][OX2H1:2]>>[CH1:1]=[O:2]", ("primary alcohol",)),
    ReactionTemplate("reduction of a nitro group", "[c:1][N+:2](=O)[O-]>>[c:1][NH2+0:2]", ("nitroarene",)),
    ReactionTemplate(
        "triazole",
        "[#6:1][N:2]=[N+:3]=[N-:4].[CX2H1:5]#[CX2:6]>>[#6:1]-[n+0:2]1:[n+0:3]:[n+0:4]:[c:6]:[c:5]:1",
        ("azide", "alkyne"),
    ),
)


@dataclass(frozen=True)
class SmilesSide:
    """What one molecule contributes to a text: its tokens, and of each token the atom, or -1."""

    tokens: list[str]
    atoms: list[int]
    "[token] Index of the atom in the molecule as RDKit has it."
    molecule: Any

    @property
    def smiles(self) -> str:
        """The molecule as it is written."""
        return "".join(self.tokens)


def reaction_items(documents: int, seed: int) -> Iterator[Document]:
    """Yield documents of one reaction; the i-th depends on the seed and on i only.

    A tenth are identity reactions; of the others template, reactants and up to two reagents are drawn, again where a
    template fits in no way or in several. Reactions of one first reactant are one document, so that it is on one split
    only. Mentions of one entity are the atoms that are the same: those that the template carries over, and those that
    symmetry makes equal to them on either side. The kind of a sentence is its template. Raises CorpusError without
    RDKit.
    """
    if documents < 0:
        raise ValueError(f"documents is {documents}, expected 0 or more")
    try:
        import rdkit  # noqa: F401
    except ImportError as error:
        raise CorpusError("the corpus 'reactions' is made by RDKit: pip install 'headscope[chemistry]'") from error
    for i in range(documents):
        yield _document(f"reactions-{seed}-{i}")


def _document(name: str) -> Document:
    """Return the document of a name, which is the seed of its random choices."""
    random = Random(name)
    beside = [_chosen(REAGENTS, random) for _ in range(int(random.random() * 3))]
    if random.random() < 0.1:
        reactant = _chosen(MOLECULES[_chosen(tuple(MOLECULES), random)], random)
        return _identity(name, reactant, beside, random)
    while True:
        template = _chosen(TEMPLATES, random)
        reactants = [_chosen(MOLECULES[group], random) for group in template.groups]
        made = applied(template, reactants)
        if made is not None:
            return _text(name, template.name, reactants, beside, *made)


def _chosen(some: Sequence[Any], random: Random) -> Any:
    return some[int(random.random() * len(some))]


def applied(
    template: ReactionTemplate, reactants: Sequence[str]
) -> tuple[SmilesSide, dict[int, tuple[int, int]]] | None:
    """Return the product of a template, and its atoms' origins, reactant and atom; None where it is not one product."""
    from rdkit import Chem

    molecules = tuple(map(_molecule, reactants))
    found: dict[str, tuple[SmilesSide, dict[int, tuple[int, int]]]] = {}
    for product, *_ in _reaction(template.smarts).RunReactants(molecules):
        if Chem.SanitizeMol(product, catchErrors=True) != Chem.SanitizeFlags.SANITIZE_NONE:
            continue
        origins = {
            atom.GetIdx(): (atom.GetIntProp("react_idx"), atom.GetIntProp("react_atom_idx"))
            for atom in product.GetAtoms()
            if atom.HasProp("react_atom_idx")
        }
        written = _written(product)
        found.setdefault(written.smiles, (written, origins))
    return next(iter(found.values())) if len(found) == 1 else None


def _identity(name: str, smiles: str, beside: Sequence[str], random: Random) -> Document:
    """Return a reaction in which a molecule, written from a drawn atom, stays as it is."""
    molecule = _molecule(smiles)
    product = _written(molecule)
    start = int(random.random() * molecule.GetNumAtoms())
    origins = {atom: (0, atom) for atom in range(molecule.GetNumAtoms())}
    return _text(name, IDENTITY, [smiles], beside, product, origins, [_written(molecule, start)])


def _text(
    name: str,
    kind: str,
    reactants: Sequence[str],
    beside: Sequence[str],
    product: SmilesSide,
    origins: dict[int, tuple[int, int]],
    written: Sequence[SmilesSide] | None = None,
) -> Document:
    """Return a reaction as a document: reactants and reagents in the order of their SMILES, arrow, product."""
    sides = [
        *(written or [_written(_molecule(one)) for one in reactants]),
        *(_written(_molecule(one)) for one in beside),
    ]
    place: dict[tuple[int, int], int] = {}
    words: list[str] = []
    feats: list[str] = []
    for number in [*sorted(range(len(sides)), key=lambda i: (sides[i].smiles, i)), -1]:
        if words:
            words.append(ARROW if number < 0 else ".")
            feats.append("")
        side = product if number < 0 else sides[number]
        spheres = _features(side.molecule)
        place |= {(number, atom): len(words) + i for i, atom in enumerate(side.atoms) if atom >= 0}
        words += side.tokens
        feats += [_with_bonds(spheres[atom], atom, side) if atom >= 0 else "" for atom in side.atoms]
    alike = [((-1, atom), origin) for atom, origin in origins.items()]
    alike += [pair for number in (-1, *range(len(reactants))) for pair in _equal(number, (product, *sides)[number + 1])]
    mentions = [Mention((place[one],), place[one], entity) for one, entity in _entities(alike).items()]
    n = len(words)
    sentence = Sentence(
        name,
        tuple(words),
        np.full(n, -1),
        ("",) * n,
        ("",) * n,
        tuple(feats),
        tuple(sorted(mentions, key=lambda one: one.head)),
        kind,
    )
    return Document(_written(_molecule(reactants[0])).smiles, (sentence,))


def _equal(number: int, side: SmilesSide) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield pairs of atoms of a molecule that symmetry makes equal."""
    from rdkit import Chem

    first: dict[int, int] = {}
    for atom, rank in enumerate(Chem.CanonicalRankAtoms(side.molecule, breakTies=False)):
        if (other := first.setdefault(rank, atom)) != atom:
            yield (number, other), (number, atom)


def _entities(pairs: Sequence[tuple[tuple[int, int], tuple[int, int]]]) -> dict[tuple[int, int], str]:
    """Return a name for all that is connected by pairs, the same for what is connected."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    nodes = sorted({node for pair in pairs for node in pair})
    number = {node: i for i, node in enumerate(nodes)}
    ends = np.array([[number[one], number[other]] for one, other in pairs])
    graph = coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(nodes), len(nodes)))
    _, component = connected_components(graph, directed=False)
    return {node: str(component[i]) for node, i in number.items()}


@cache
def _molecule(smiles: str) -> Any:
    from rdkit import Chem

    return Chem.MolFromSmiles(smiles)


@cache
def _reaction(smarts: str) -> Any:
    from rdkit.Chem import rdChemReactions

    return rdChemReactions.ReactionFromSmarts(smarts)


def _written(molecule: Any, start: int = -1) -> SmilesSide:
    """Return a molecule as canonical SMILES, or as that which starts at an atom; parts that belong together by "~"."""
    from rdkit import Chem

    smiles = Chem.MolToSmiles(molecule, rootedAtAtom=start)
    order = [*molecule.GetPropsAsDict(True, True)["_smilesAtomOutputOrder"]]
    if start < 0:  # of a product as RDKit makes it, SMILES are canonical at the second writing
        again = Chem.MolFromSmiles(smiles)
        smiles = Chem.MolToSmiles(again)
        order = [order[i] for i in again.GetPropsAsDict(True, True)["_smilesAtomOutputOrder"]]
    tokens = re.findall(TOKEN, smiles.replace(".", "~"))
    places = iter(order)
    return SmilesSide(
        tokens, [next(places) if token[0].isalpha() or token[0] == "[" else -1 for token in tokens], molecule
    )


def _features(molecule: Any) -> list[str]:
    """Return what the features of every atom are: its element and the codes of its neighbourhoods."""
    code = [atom.GetSymbol() for atom in molecule.GetAtoms()]
    spheres = [code]
    for _ in SPHERES:
        beside = [sorted(code[other.GetIdx()] for other in atom.GetNeighbors()) for atom in molecule.GetAtoms()]
        code = [f"{crc32(f'{own} {near}'.encode()):08x}" for own, near in zip(code, beside, strict=True)]
        spheres.append(code)
    return [
        "|".join(f"{name}={one}" for name, one in zip((ELEMENT, *SPHERES), atom, strict=True))
        for atom in zip(*spheres, strict=True)
    ]


def _with_bonds(spheres: str, atom: int, side: SmilesSide) -> str:
    """Return the features of an atom with how many words away the atoms stand that it is bonded to."""
    others = (other.GetIdx() for other in side.molecule.GetAtomWithIdx(atom).GetNeighbors())
    away = sorted(side.atoms.index(other) - side.atoms.index(atom) for other in others)
    return f"{spheres}|{BONDS}={','.join(map(str, away))}"
