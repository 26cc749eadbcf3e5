"""Chi, Hewitt and Manning 2020: a subspace of multilingual BERT holds the trees of different languages."""

from __future__ import annotations

from functools import partial

from experiments.statements.finding import Finding, Paper, Published
from experiments.statements.paper_sentence import sentence
from experiments.statements.rule import Rule

PAPER = Paper(
    "chi-2020",
    "Chi, Hewitt and Manning 2020",
    "Finding Universal Grammatical Relations in Multilingual BERT",
)

ABOVE = Published(text="above baselines in every language (table of transfer)", provenance="memory")

in_claim = partial(sentence, "language-trees")

FINDINGS = (
    Finding(
        id="chi-transfer",
        revised="a ratio of gains became a difference, and projections of all other languages came, after a first run",
        claim="A subspace of states in which distances are those of trees is shared by languages.",
        where="section on transfer between languages, structural probes",
        model="Multilingual BERT, layer 7",
        data="Universal Dependencies, 11 languages",
        metric="UUAS of structural probes trained on one language and evaluated on another.",
        stands_in="Seven PUD treebanks, the same 500 sentences in each: learned on half, evaluated on the other.",
        differs="multilingual-e5-small, layer 7 of 12; 250 sentences to learn from, where the paper has thousands.",
        statements=[
            in_claim(
                "row",
                "A structural probe trained on another language has a higher UUAS than the chain of adjacent words",
                "A structural probe trained on another language has a higher UUAS than the chain of adjacent words.",
                Rule(above=0.0),
                ABOVE,
            ),
            in_claim(
                "untrained",
                "It has a higher UUAS than a structural probe of untrained weights trained on another language",
                "It has a higher UUAS than a structural probe of untrained weights.",
                Rule(above=0.0),
                ABOVE,
            ),
            in_claim(
                "together",
                "Trained on all other languages together, it has a higher UUAS than the chain of adjacent words",
                "Trained on all other languages together, it has a higher UUAS than the chain of adjacent words.",
                Rule(above=0.0),
                ABOVE,
            ),
            in_claim(
                "kept",
                "Trained on all others together, it keeps more than two thirds of the gain of a probe of the language "
                "itself",
                "It keeps two thirds of what a probe trained on the language itself gains over adjacent words.",
                Rule(above=0.0),
                Published(text="approximately shared; the bar is ours", provenance="memory"),
            ),
        ],
        readings=("claim-language-trees",),
    ),
)
