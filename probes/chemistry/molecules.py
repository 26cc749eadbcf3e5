"""Molecules of our own choosing, by the group that reacts, and reagents that stand beside them."""

from __future__ import annotations

from typing import Final

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
